import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JournalFilter } from '../../src/simulator/journal.ts';
import { eventually, pause, run } from './commands.ts';
import { hostManifests, hostSelector } from './host-application.ts';
import { reportPods } from './hosts-of-pods.ts';
import {
  apply,
  isReady,
  type Lab,
  labelValues,
  podsOf,
  runTrial,
  scrape,
  secretWith,
  type TrialOptions,
  type Vendor,
} from './lab.ts';

const namespace = 'self';
const replicas = 3;
const applicationId = 101;
const measuredMinutes = 3;
const hostMetric = 'newrelic_application_host_requests_per_minute';
const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The configuration that the sidecars have: as the chart made it. */
async function configurationOf(): Promise<string> {
  const text = await run('kubectl', [
    'get',
    'configmaps',
    `--namespace=${namespace}`,
    '--output=json',
  ]);
  const { items } = JSON.parse(text) as {
    items: readonly { data?: Readonly<Record<string, string>> }[];
  };
  const found = items.flatMap(({ data }) => data?.['config.yaml'] ?? []);
  if (found[0] === undefined)
    throw new Error(`there is no ConfigMap with config.yaml in ${namespace}`);
  return found[0];
}

interface Plan {
  /** Of each sidecar. */
  readonly hostCallsPerMinute: number;
  /** Of all together. */
  readonly callsPerMinute: number;
  readonly startCalls: number;
}

/** What "plan" says about the configuration that the sidecars have. */
async function readPlan(lab: Lab): Promise<Plan> {
  const file = join(lab.folder, 'self.yaml');
  await writeFile(file, await configurationOf());
  const args = ['plan', file, `--replicas=${replicas}`, '--output=json'];
  const text = await run(process.execPath, [program, ...args]);
  const { accounts } = JSON.parse(text) as {
    accounts: readonly {
      sent_per_minute: { host_metrics: number };
      together: { calls_per_minute: number; start_calls: number };
    }[];
  };
  const [account] = accounts;
  if (account === undefined) throw new Error('plan shows no account');
  return {
    hostCallsPerMinute: account.sent_per_minute.host_metrics,
    callsPerMinute: account.together.calls_per_minute,
    startCalls: account.together.start_calls,
  };
}

async function hostsShown(lab: Lab): Promise<ReadonlyMap<string, readonly string[]>> {
  const pods = await podsOf(lab, namespace, hostSelector);
  const shown = pods.map(async (pod) => {
    const page = (await scrape(pod)) ?? '';
    const lines = [
      ...labelValues(page, hostMetric, 'host_name'),
      ...labelValues(page, 'newrelic_application_requests_per_minute', 'app_id'),
    ];
    return [pod.metadata.name, lines] as const;
  });
  return new Map(await Promise.all(shown));
}

const isOwnHostOnly = (shown: ReadonlyMap<string, readonly string[]>): boolean =>
  shown.size === replicas &&
  [...shown].every(([pod, names]) => names.length === 1 && names[0] === pod);

const isPoll: JournalFilter = ({ hostId, path }) =>
  hostId !== undefined && path.endsWith('/metrics/data.json');

/** Compares the calls since the sidecars started, and then those of some minutes, with the plan. */
async function addCallsRow(lab: Lab, vendor: Vendor, startCalls: number): Promise<void> {
  const { journal } = vendor.simulator;
  const plan = await readPlan(lab);
  journal.clear();
  await pause(measuredMinutes * 60);
  const perMinute = journal.count() / measuredMinutes;
  const polls = journal.count(isPoll);
  const plannedPolls = plan.hostCallsPerMinute * replicas * measuredMinutes;
  const violations = vendor.simulator.violations();
  const seen = [
    `${startCalls} calls at the start, plan --replicas ${replicas} says ${plan.startCalls}`,
    `then ${polls} calls for hosts in ${measuredMinutes} minutes, planned ${plannedPolls}`,
    `${perMinute.toFixed(2)} calls a minute in all, planned ${plan.callsPerMinute.toFixed(2)} with discovery`,
  ];
  lab.table.add({
    name: `hosts: self, calls of ${replicas} sidecars on one key`,
    form: 'native',
    seen: seen.join('; '),
    passed:
      startCalls === plan.startCalls &&
      polls === plannedPolls &&
      perMinute <= plan.callsPerMinute &&
      violations === 0,
  });
}

async function runAll(lab: Lab, vendor: Vendor): Promise<void> {
  await apply(namespace, [
    secretWith(vendor.apiKeys[0] ?? ''),
    ...(await hostManifests(lab, namespace, {
      form: 'native',
      replicas,
      config: {
        accounts: [{ name: 'default', base_url: vendor.baseUrl }],
        apps: [{ name: 'Shop' }],
        // The hosts are new: with the usual window they would have no values for minutes.
        poll: { delay: '0s', window: '1m' },
      },
      hostPorts: [8080],
    })),
  ]);
  const started = performance.now();
  const own = await eventually(240, async () =>
    isOwnHostOnly(await hostsShown(lab)) ? true : undefined,
  );
  // Lists, and the first poll of each; a second one may have come before the last showed its host.
  const lists = vendor.simulator.journal.count((entry) => !isPoll(entry));
  const startCalls = lists + Math.min(replicas, vendor.simulator.journal.count(isPoll));
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const pods = await podsOf(lab, namespace, hostSelector);
  const shown = [...(await hostsShown(lab)).values()];
  lab.table.add({
    name: `hosts: self, ${replicas} replicas of the application`,
    form: 'native',
    podReady: `${pods.filter(isReady).length} of ${pods.length}`,
    seen:
      own === true
        ? `each shows its own host and nothing else after ${seconds} s`
        : `series shown: ${shown.map((names) => names.length).join(', ')}`,
    passed: own === true,
  });
  await addCallsRow(lab, vendor, startCalls);
}

/** Sidecars of one application, each of which reads the host that its pod is. */
export async function runSelfCases(lab: Lab): Promise<void> {
  const trial: TrialOptions = {
    namespace,
    row: { name: 'hosts: self', form: 'native' },
    applications: [{ id: applicationId, name: 'Shop', kind: 'web', webRpm: 600, hosts: 5 }],
  };
  await runTrial(lab, trial, async (vendor) => {
    const stopReporting = reportPods(lab, namespace, hostSelector, (name) => {
      vendor.simulator.fleet.addHost(applicationId, { name });
    });
    try {
      await runAll(lab, vendor);
    } finally {
      stopReporting();
    }
  });
}
