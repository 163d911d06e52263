import { eventually } from './commands.ts';
import { exporterPods, installExporter, shownBy } from './exporter.ts';
import type { Pod } from './kubernetes.ts';
import {
  apply,
  type Lab,
  runTrial,
  scrape,
  secretWith,
  someApplications,
  type Vendor,
} from './lab.ts';

interface Trial {
  readonly lab: Lab;
  readonly namespace: string;
  readonly vendor: Vendor;
}

const appsUpTo = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, index) => ({ id: 101 + index }));

async function install({ lab, namespace, vendor }: Trial, apps: readonly object[]): Promise<void> {
  await installExporter(lab, {
    namespace,
    values: {
      apiKey: { existingSecret: 'newrelic' },
      config: { accounts: [{ name: 'default', base_url: vendor.baseUrl }], apps },
    },
  });
}

async function onlyPod({ lab, namespace }: Trial): Promise<Pod | undefined> {
  return (await exporterPods(lab, namespace))[0];
}

/** Does it, waits until it has shown, and adds a row with the time that took. */
async function measure(
  trial: Trial,
  name: string,
  act: () => Promise<void>,
  shown: () => Promise<boolean>,
): Promise<void> {
  const before = await onlyPod(trial);
  await act();
  const started = performance.now();
  const came = await eventually(240, async () => ((await shown()) ? true : undefined));
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const after = await onlyPod(trial);
  const same =
    before?.metadata.uid === after?.metadata.uid &&
    after?.status.containerStatuses?.[0]?.restartCount === 0;
  trial.lab.table.add({
    name,
    form: 'Helm 4',
    seen: `${came === true ? `after ${seconds} s` : 'not after 240 s'}, ${same ? 'same pod, no restart' : 'the pod was restarted'}`,
    passed: came === true && same,
  });
}

async function pageOf(trial: Trial): Promise<string> {
  const pod = await onlyPod(trial);
  return (pod === undefined ? undefined : await scrape(pod)) ?? '';
}

async function runAll(trial: Trial): Promise<void> {
  const { lab, namespace, vendor } = trial;
  const shows = async (count: number): Promise<boolean> =>
    (await shownBy(lab, namespace)).size === count;
  await install(trial, appsUpTo(1));
  await eventually(60, async () => ((await shows(1)) ? true : undefined));
  await measure(
    trial,
    'a new key in the Secret is used',
    async () => apply(namespace, [secretWith(vendor.apiKeys[1] ?? '')]),
    async () =>
      Promise.resolve(vendor.simulator.journal.count(({ keyIndex }) => keyIndex === 1) > 0),
  );
  await measure(
    trial,
    'a change of the configuration by helm upgrade is in force',
    async () => install(trial, appsUpTo(3)),
    async () => shows(3),
  );
  await measure(
    trial,
    'a broken configuration by helm upgrade is reported, and the one before stays active',
    async () => install(trial, [{ match: '^shop-(' }]),
    async () => {
      const page = await pageOf(trial);
      return /^newrelic_exporter_config_last_reload_successful 0$/mu.test(page) && (await shows(3));
    },
  );
}

/** What changes under a running exporter: key and configuration. */
export async function runRunningCases(lab: Lab): Promise<void> {
  const namespace = 'running';
  const row = { name: 'the running exporter', form: 'Helm 4' };
  const applications = someApplications(3);
  await runTrial(lab, { namespace, row, applications }, async (vendor) => {
    await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
    await runAll({ lab, namespace, vendor });
  });
}
