import { join } from 'node:path';
import { eventually, inParallel } from './commands.ts';
import { type Helm, helmIn, helms, shortened } from './helm.ts';
import { hostSelector } from './host-application.ts';
import { reportPods } from './hosts-of-pods.ts';
import {
  apply,
  isReady,
  type Lab,
  podsOf,
  runTrial,
  scrape,
  secretWith,
  type Vendor,
  valuesFile,
} from './lab.ts';

const applicationId = 101;
const name = 'the example of an application with the sidecar';

interface Trial {
  readonly lab: Lab;
  readonly helm: Helm;
  readonly namespace: string;
}

/** How many pods show their own host, and nothing of any other. */
async function podsWithOwnHost({ lab, namespace }: Trial): Promise<number> {
  const pods = await podsOf(lab, namespace, hostSelector);
  const shown = pods.filter(isReady).map(async (pod) => {
    const page = (await scrape(pod)) ?? '';
    return page.includes(`host_name="${pod.metadata.name}"`);
  });
  return (await Promise.all(shown)).filter(Boolean).length;
}

async function runAll(trial: Trial, vendor: Vendor): Promise<void> {
  const { lab, helm, namespace } = trial;
  await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
  const exporter = {
    config: {
      accounts: [{ name: 'default', base_url: vendor.baseUrl }],
      apps: [{ name: 'Shop' }],
      // The hosts are new: with the usual window they would have no values for minutes.
      poll: { delay: '0s', window: '1m' },
    },
  };
  const file = await valuesFile(lab, namespace, { replicas: 2, 'newrelic-exporter': exporter });
  const args = ['shop', join(lab.folder, 'shop'), `--values=${file}`, '--timeout=180s', '--wait'];
  const installed = await helmIn(helm, namespace, 'install', ...args, '--render-subchart-notes');
  const own = await eventually(240, async () =>
    (await podsWithOwnHost(trial)) === 2 ? true : undefined,
  );
  const tested = await helmIn(helm, namespace, 'test', 'shop', '--logs', '--timeout=90s');
  const upgraded = await helmIn(helm, namespace, 'upgrade', ...args, '--set=replicas=1');
  const removed = await helmIn(helm, namespace, 'uninstall', 'shop', '--wait');
  const failed = [installed, tested, upgraded, removed].filter(({ code }) => code !== 0);
  const notes = installed.output.includes('The exporter runs as a sidecar');
  lab.table.add({
    name,
    form: helm.form,
    seen: [
      ...failed.map(({ output }) => shortened(output)),
      notes ? 'notes of the exporter shown' : 'no notes of the exporter',
      own === true
        ? '2 pods, each shows its own host'
        : `${await podsWithOwnHost(trial)} hosts shown`,
      ...(failed.length === 0 ? ['tested, upgraded to 1 pod, removed'] : []),
    ].join('; '),
    passed: failed.length === 0 && notes && own === true,
  });
}

/** The example's chart with ours as a dependency, installed by both versions of Helm. */
export async function runExampleChartCases(lab: Lab): Promise<void> {
  const jobs = helms.map((helm) => async () => {
    const namespace = `example-${helm.program}`;
    const applications = [
      { id: applicationId, name: 'Shop', kind: 'web', webRpm: 600, hosts: 0 },
    ] as const;
    await runTrial(
      lab,
      { namespace, row: { name, form: helm.form }, applications },
      async (vendor) => {
        const stopReporting = reportPods(lab, namespace, hostSelector, (pod) => {
          vendor.simulator.fleet.addHost(applicationId, { name: pod });
        });
        try {
          await runAll({ lab, helm, namespace }, vendor);
        } finally {
          stopReporting();
        }
      },
    );
  });
  await inParallel(2, jobs);
}
