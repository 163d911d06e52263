import { eventually, pause } from './commands.ts';
import { installExporter, shownBy } from './exporter.ts';
import { apply, type Lab, runTrial, secretWith, someApplications, type Vendor } from './lab.ts';

const applications = 12;
const namespace = 'shards';

async function installShards(lab: Lab, vendor: Vendor, replicas: number): Promise<void> {
  await installExporter(lab, {
    namespace,
    values: {
      mode: 'statefulset',
      replicas,
      sharding: { mode: 'static' },
      apiKey: { existingSecret: 'newrelic' },
      config: { accounts: [{ name: 'default', base_url: vendor.baseUrl }], apps: [{ match: '.' }] },
    },
  });
}

interface Look {
  readonly secondsAfterStart: number;
  readonly missing: number;
  readonly twice: number;
}

async function lookNow(lab: Lab, started: number): Promise<Look> {
  const counts = await shownBy(lab, namespace);
  return {
    secondsAfterStart: (performance.now() - started) / 1000,
    missing: applications - counts.size,
    twice: [...counts.values()].filter((count) => count > 1).length,
  };
}

const isExact = ({ missing, twice }: Look): boolean => missing === 0 && twice === 0;

/**
 * Looks until the upgrade is over and everything was shown exactly once for 75 s, which is longer than
 * any poll waits.
 */
async function lookUntilSettled(
  lab: Lab,
  started: number,
  isOver: () => boolean,
): Promise<readonly Look[]> {
  const looks: Look[] = [];
  const settledSeconds = 75;
  let exactSince: number | undefined;
  while (performance.now() - started < 420_000) {
    const look = await lookNow(lab, started);
    looks.push(look);
    exactSince = isExact(look) ? (exactSince ?? look.secondsAfterStart) : undefined;
    if (
      isOver() &&
      exactSince !== undefined &&
      look.secondsAfterStart - exactSince > settledSeconds
    )
      break;
    await pause(0.5);
  }
  return looks;
}

function summary(looks: readonly Look[], secondsOfUpgrade: number): string {
  const lastInexact = looks.findLast((look) => !isExact(look));
  const most = (pick: (look: Look) => number): number => Math.max(...looks.map(pick));
  const secondsWith = (pick: (look: Look) => number): string => {
    let seconds = 0;
    for (const [index, look] of looks.entries()) {
      const next = looks[index + 1];
      if (next !== undefined && pick(look) > 0)
        seconds += next.secondsAfterStart - look.secondsAfterStart;
    }
    return seconds.toFixed(0);
  };
  const missing = ({ missing: count }: Look): number => count;
  const twice = ({ twice: count }: Look): number => count;
  return [
    `helm upgrade took ${secondsOfUpgrade.toFixed(0)} s`,
    `exact again after ${(lastInexact?.secondsAfterStart ?? 0).toFixed(0)} s`,
    `meanwhile up to ${most(missing)} of ${applications} applications shown by none (${secondsWith(missing)} s)`,
    `up to ${most(twice)} by two (${secondsWith(twice)} s)`,
  ].join('; ');
}

async function change(lab: Lab, vendor: Vendor, from: number, to: number): Promise<void> {
  const started = performance.now();
  let secondsOfUpgrade = 0;
  const upgradeShards = async (): Promise<void> => {
    await installShards(lab, vendor, to);
    secondsOfUpgrade = (performance.now() - started) / 1000;
  };
  const upgrade = upgradeShards();
  const looks = await lookUntilSettled(lab, started, () => secondsOfUpgrade > 0);
  await upgrade;
  const last = looks.at(-1);
  lab.table.add({
    name: `static shards, ${from} changed to ${to}`,
    form: 'Helm 4',
    seen: summary(looks, secondsOfUpgrade),
    passed: last !== undefined && isExact(last),
  });
}

async function runAll(lab: Lab, vendor: Vendor): Promise<void> {
  const started = performance.now();
  await installShards(lab, vendor, 3);
  const exact = await eventually(120, async () =>
    (await lookNow(lab, started)).missing === 0 ? true : undefined,
  );
  const look = await lookNow(lab, started);
  lab.table.add({
    name: 'static shards, 3 pods of a StatefulSet',
    form: 'Helm 4',
    seen: `${applications} applications: ${applications - look.missing - look.twice} shown by exactly one pod, ${look.twice} by two, ${look.missing} by none`,
    passed: exact === true && isExact(look),
  });
  await change(lab, vendor, 3, 4);
  await change(lab, vendor, 4, 3);
}

/** The applications of one account over the pods of a StatefulSet, and a change of their number. */
export async function runShardCases(lab: Lab): Promise<void> {
  const row = { name: 'static shards', form: 'Helm 4' };
  const trial = { namespace, row, applications: someApplications(applications) };
  await runTrial(lab, trial, async (vendor) => {
    await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
    await runAll(lab, vendor);
  });
}
