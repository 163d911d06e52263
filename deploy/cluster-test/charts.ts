import { readFile } from 'node:fs/promises';
import {
  chartFolder,
  clusterSurroundings,
  readSetups,
  type Setup,
  surroundings,
} from './chart-setups.ts';
import { attempt, type CommandOutcome, eventually, inParallel, run } from './commands.ts';
import type { Pod } from './kubernetes.ts';
import {
  apply,
  createNamespace,
  deleteNamespace,
  isReady,
  type Lab,
  podsOf,
  scrape,
  startVendor,
  type Vendor,
  valuesFile,
} from './lab.ts';

const release = 'exporter';
const releaseSelector = `app.kubernetes.io/instance=${release}`;
const helms = ['helm3', 'helm4'] as const;

/** One set-up, installed with one Helm. */
interface Trial {
  readonly lab: Lab;
  readonly helm: string;
  readonly setup: Setup;
  readonly namespace: string;
  readonly vendor: Vendor;
}

interface Step {
  readonly text: string;
  readonly passed: boolean;
}

async function timed(name: string, what: () => Promise<CommandOutcome>): Promise<Step> {
  const started = performance.now();
  const { code, output } = await what();
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  return code === 0
    ? { text: `${name} ${seconds} s`, passed: true }
    : {
        text: `${name}: ${output.trim().replaceAll('\n', ' ').replaceAll('|', '/').slice(-300)}`,
        passed: false,
      };
}

async function exporterPods({ lab, namespace }: Trial): Promise<readonly Pod[]> {
  const pods = await podsOf(lab, namespace, releaseSelector);
  return pods.filter(({ metadata }) => !metadata.name.endsWith('-test'));
}

/** Every pod that the set-up wants is ready and shows values. */
async function exporting(trial: Trial): Promise<Step> {
  const { setup } = trial;
  const started = performance.now();
  const all = await eventually(90, async () => {
    const pods = await exporterPods(trial);
    const pages = await Promise.all(
      pods.map(async (pod) => scrape(pod, setup.port, setup.telemetryPath)),
    );
    const showing = pages.filter(
      (page) => page !== undefined && /^newrelic_application_requests_per_minute\{/mu.test(page),
    );
    return pods.length === setup.pods && pods.every(isReady) && showing.length === setup.pods
      ? true
      : undefined;
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  return all === true
    ? {
        text: setup.pods === 0 ? 'no pods, as meant' : `values after ${seconds} s more`,
        passed: true,
      }
    : { text: 'no values after 90 s', passed: false };
}

async function nothingLeft({ namespace }: Trial): Promise<Step> {
  const kinds =
    'deployments,statefulsets,pods,services,configmaps,secrets,serviceaccounts,poddisruptionbudgets,networkpolicies,ingresses,servicemonitors,podmonitors,prometheusrules';
  let left = '';
  const none = await eventually(60, async () => {
    // Helm leaves the pods of tests until they are run again.
    const selector = `${releaseSelector},app.kubernetes.io/name!=newrelic-exporter-test`;
    const selected = ['--namespace', namespace, '--selector', selector];
    left = (await run('kubectl', ['get', kinds, ...selected, '--output=name'])).trim();
    return left === '' ? true : undefined;
  });
  return none === true
    ? { text: 'nothing left', passed: true }
    : { text: `left: ${left.replaceAll('\n', ' ')}`, passed: false };
}

async function stepsOf(trial: Trial): Promise<readonly Step[]> {
  const { lab, helm, setup, namespace, vendor } = trial;
  const overlay = await valuesFile(lab, namespace, setup.overlay(vendor, namespace));
  const helmRun = async (...args: readonly string[]): Promise<CommandOutcome> =>
    attempt(helm, [...args, `--namespace=${namespace}`]);
  const values = ['--values', setup.file, '--values', overlay, '--wait', '--timeout=180s'];
  const steps = [
    await timed('install', async () => helmRun('install', release, chartFolder, ...values)),
    await exporting(trial),
  ];
  if (setup.pods > 0)
    steps.push(
      await timed('test', async () => helmRun('test', release, '--logs', '--timeout=90s')),
    );
  steps.push(
    await timed('upgrade', async () =>
      helmRun('upgrade', release, chartFolder, ...values, '--set', 'podAnnotations.trial=second'),
    ),
    await exporting(trial),
    await timed('uninstall', async () => helmRun('uninstall', release, '--wait')),
    await nothingLeft(trial),
  );
  return steps;
}

async function tryOne(
  lab: Lab,
  helm: string,
  setup: Setup,
  index: number,
  certificate: string,
): Promise<void> {
  const namespace = `chart-${index}-${helm}`;
  await createNamespace(namespace);
  const vendor = await startVendor(lab, {
    applications: [31_584_797, 42, 1, 2, 3, 4, 5, 6].map((id, place) => ({
      id,
      name: place === 0 ? 'Checkout (production)' : `shop-${id}`,
      kind: 'web',
      webRpm: 60,
      hosts: 2,
    })),
  });
  await apply(namespace, surroundings(vendor, certificate));
  const steps = await stepsOf({ lab, helm, setup, namespace, vendor }).catch((error: unknown) => [
    { text: String(error).replaceAll('\n', ' '), passed: false },
  ]);
  lab.table.add({
    name: `chart: ${setup.name}`,
    form: helm === 'helm3' ? 'Helm 3' : 'Helm 4',
    seen: steps.map(({ text }) => text).join('; '),
    passed: steps.every(({ passed }) => passed),
  });
  await deleteNamespace(namespace);
  await vendor.simulator.stop();
}

/** Installs, tests, upgrades and removes the chart's own set-ups, with both versions of Helm. */
export async function runChartCases(lab: Lab, pattern: RegExp): Promise<void> {
  await run('kubectl', ['apply', '--server-side', `--filename=${lab.operatorDefinitions}`]);
  await apply('default', clusterSurroundings);
  const certificate = await readFile(lab.certificateFile, 'utf8');
  const jobs = readSetups().flatMap((setup, index) =>
    pattern.test(setup.name)
      ? helms.map((helm) => async () => tryOne(lab, helm, setup, index, certificate))
      : [],
  );
  await inParallel(2, jobs);
}
