import { readFile } from 'node:fs/promises';
import {
  type Certificate,
  chartFolder,
  clusterSurroundings,
  readSetups,
  type Setup,
  surroundings,
} from './chart-setups.ts';
import { type CommandOutcome, eventually, inParallel, run } from './commands.ts';
import {
  type Helm,
  helmIn,
  helms,
  release,
  releasePods,
  releaseSelector,
  shortened,
} from './helm.ts';
import {
  apply,
  createNamespace,
  deleteNamespace,
  isReady,
  type Lab,
  scrape,
  startVendor,
  type Vendor,
  valuesFile,
} from './lab.ts';

/** One set-up, installed with one Helm. */
interface Trial {
  readonly lab: Lab;
  readonly helm: Helm;
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
        text: `${name}: ${shortened(output)}`,
        passed: false,
      };
}

/** Every pod that the set-up wants is ready and shows values. */
async function exporting(trial: Trial): Promise<Step> {
  const { setup } = trial;
  const started = performance.now();
  const all = await eventually(90, async () => {
    const pods = await releasePods(trial.lab, trial.namespace);
    const pages = await Promise.all(pods.map(async (pod) => scrape(pod, setup.scraping)));
    const showing = pages.filter(
      (page) =>
        page !== undefined &&
        /^newrelic_(?:application_requests_per_minute|transactions)\{/mu.test(page),
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

/** Every kind of object that a namespace can hold, but for what Kubernetes itself writes there. */
async function kindsOfObjects(): Promise<string> {
  const args = ['api-resources', '--namespaced', '--verbs=list', '--output=name'];
  const kinds = (await run('kubectl', args)).trim().split('\n');
  return kinds.filter((kind) => !/^(?:events|leases|.*metrics)\b/u.test(kind)).join(',');
}

async function nothingLeft({ namespace }: Trial): Promise<Step> {
  const kinds = await kindsOfObjects();
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
    helmIn(helm, namespace, ...args);
  const values = ['--values', setup.file, '--values', overlay, '--wait', '--timeout=180s'];
  const steps = [
    await timed('install', async () => helmRun('install', release, chartFolder, ...values)),
    await exporting(trial),
  ];
  if (setup.hasTests)
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
  helm: Helm,
  setup: Setup,
  index: number,
  certificate: Certificate,
): Promise<void> {
  const namespace = `chart-${index}-${helm.program}`;
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
    form: helm.form,
    seen: steps.map(({ text }) => text).join('; '),
    passed: steps.every(({ passed }) => passed),
  });
  await deleteNamespace(namespace);
  await vendor.simulator.stop();
}

/** Installs, tests, upgrades and removes the chart's own set-ups, with both versions of Helm. */
export async function runChartCases(lab: Lab, pattern: RegExp): Promise<void> {
  await apply('default', clusterSurroundings);
  const certificate = {
    certificate: await readFile(lab.certificateFile, 'utf8'),
    key: await readFile(lab.certificateKeyFile, 'utf8'),
  };
  const jobs = readSetups().flatMap((setup, index) =>
    pattern.test(setup.name)
      ? helms.map((helm) => async () => tryOne(lab, helm, setup, index, certificate))
      : [],
  );
  await inParallel(2, jobs);
}
