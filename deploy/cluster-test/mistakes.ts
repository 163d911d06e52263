import { chartFolder } from './chart-setups.ts';
import { eventually, inParallel, run } from './commands.ts';
import { type Helm, helmIn, helmMust, helms, release, releasePods, shortened } from './helm.ts';
import {
  apply,
  isReady,
  type Lab,
  runTrial,
  secretWith,
  someApplications,
  type Vendor,
  valuesFile,
} from './lab.ts';

interface Trial {
  readonly lab: Lab;
  readonly namespace: string;
  readonly helm: Helm;
  readonly vendor: Vendor;
}

/** What the exporter says of the broken configuration. */
const diagnosis = 'is not a valid regular expression';

/** A mistake that is made, and whether the operator is told. */
interface Mistake {
  readonly name: string;
  readonly run: (trial: Trial, name: string) => Promise<void>;
}

async function write({ lab, namespace, vendor }: Trial, values: object): Promise<string> {
  return valuesFile(lab, namespace, {
    apiKey: { existingSecret: 'newrelic' },
    config: { accounts: [{ name: 'default', base_url: vendor.baseUrl }], apps: [{ match: '.' }] },
    ...values,
  });
}

async function secondsUntilReady({ lab, namespace }: Trial): Promise<string | undefined> {
  const started = performance.now();
  return eventually(180, async () => {
    const pods = await releasePods(lab, namespace);
    if (pods.length === 0 || !pods.every(isReady)) return undefined;
    return ((performance.now() - started) / 1000).toFixed(0);
  });
}

/** What Helm says of a Secret that is not there, what the pod does, and how it gets well. */
async function secretMissing(trial: Trial, name: string): Promise<void> {
  const { lab, namespace, helm, vendor } = trial;
  const file = await write(trial, { apiKey: { existingSecret: 'newrelic-typo' } });
  const output = await helmMust(
    helm,
    namespace,
    'install',
    release,
    chartFolder,
    `--values=${file}`,
  );
  const warning = /WARNING:.*newrelic-typo.*/u.exec(output)?.[0];
  const event = await eventually(60, async () => {
    const events = await run('kubectl', ['get', 'events', `--namespace=${namespace}`]);
    return /secret "newrelic-typo" not found/u.exec(events)?.[0];
  });
  await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '', 'newrelic-typo')]);
  const seconds = await secondsUntilReady(trial);
  const upgraded = await helmMust(
    helm,
    namespace,
    'upgrade',
    release,
    chartFolder,
    `--values=${file}`,
  );
  const warnsStill = upgraded.includes('newrelic-typo');
  lab.table.add({
    name,
    form: helm.form,
    seen: [
      warning === undefined ? 'the notes do not say so' : `notes: ${warning}`,
      `event: ${event ?? 'none'}`,
      seconds === undefined ? 'never ready' : `ready ${seconds} s after the Secret was made`,
      warnsStill ? 'the notes of an upgrade still warn' : 'then no warning',
    ].join('; '),
    passed: warning !== undefined && event !== undefined && seconds !== undefined && !warnsStill,
  });
}

/** An image that is not there: the pod says which, and an upgrade with the right name is enough. */
async function imageMissing(trial: Trial, name: string): Promise<void> {
  const { lab, namespace, helm, vendor } = trial;
  await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
  const wrongName = 'registry.example.com/monitoring/newrelic-exporter:0.1.0';
  const image = { registry: 'registry.example.com', repository: 'monitoring/newrelic-exporter' };
  const wrong = await write(trial, { image });
  await helmMust(helm, namespace, 'install', release, chartFolder, `--values=${wrong}`);
  const event = await eventually(90, async () => {
    const events = await run('kubectl', ['get', 'events', `--namespace=${namespace}`]);
    return events
      .split('\n')
      .find((line) => line.includes('Failed to pull') && line.includes(wrongName));
  });
  const right = await write(trial, {});
  await helmMust(helm, namespace, 'upgrade', release, chartFolder, `--values=${right}`);
  const seconds = await secondsUntilReady(trial);
  lab.table.add({
    name,
    form: helm.form,
    seen: [
      event === undefined ? 'no event names it' : `event: Failed to pull image "${wrongName}"`,
      seconds === undefined
        ? 'never ready'
        : `ready ${seconds} s after an upgrade with the right one`,
    ].join('; '),
    passed: event !== undefined && seconds !== undefined,
  });
}

/** A configuration that only the exporter can see to be wrong: "helm test" must say so. */
async function configurationBroken(trial: Trial, name: string): Promise<void> {
  const { lab, namespace, helm, vendor } = trial;
  await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
  const accounts = [{ name: 'default', base_url: vendor.baseUrl }];
  const file = await write(trial, { config: { accounts, apps: [{ match: '^shop-(' }] } });
  await helmMust(helm, namespace, 'install', release, chartFolder, `--values=${file}`);
  const { code, output } = await helmIn(
    helm,
    namespace,
    'test',
    release,
    '--logs',
    '--timeout=60s',
  );
  const told = output.includes(diagnosis);
  lab.table.add({
    name,
    form: helm.form,
    seen: `helm test ends with ${code}; ${told ? `its log: ${diagnosis}` : shortened(output)}`,
    passed: code !== 0 && told,
  });
}

/** The same with the hook: nothing may be installed, and a release that works must stay as it is. */
async function configurationRefused(trial: Trial, name: string): Promise<void> {
  const { lab, namespace, helm, vendor } = trial;
  await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
  const accounts = [{ name: 'default', base_url: vendor.baseUrl }];
  const configCheck = { hook: true };
  const good = await write(trial, { configCheck });
  const before = [release, chartFolder, '--timeout=60s'];
  await helmMust(helm, namespace, 'install', ...before, `--values=${good}`);
  const seconds = await secondsUntilReady(trial);
  const config = { accounts, apps: [{ match: '^shop-(' }] };
  const bad = await write(trial, { configCheck, config });
  const { code, output } = await helmIn(helm, namespace, 'upgrade', ...before, `--values=${bad}`);
  const inForce = await run('kubectl', [
    'get',
    'configmaps',
    `--namespace=${namespace}`,
    '--selector=app.kubernetes.io/instance=exporter',
    '--output=jsonpath={.items[?(@.metadata.name=="exporter-newrelic-exporter")].data}',
  ]);
  const told = output.includes(diagnosis);
  const kept = inForce.includes('match') && !inForce.includes('shop-(');
  lab.table.add({
    name,
    form: helm.form,
    seen: [
      seconds === undefined ? 'the good one is never ready' : 'the good one is installed',
      `helm upgrade with the broken one ends with ${code}`,
      told ? `its output: ${diagnosis}` : shortened(output),
      kept ? 'the good one stays' : 'the broken one is in the ConfigMap',
    ].join('; '),
    passed: seconds !== undefined && code !== 0 && told && kept,
  });
}

const mistakes: readonly Mistake[] = [
  { name: 'the image has another name', run: imageMissing },
  { name: 'the Secret has another name', run: secretMissing },
  { name: 'the configuration has an error that Helm cannot see', run: configurationBroken },
  { name: 'the same, with configCheck.hook', run: configurationRefused },
];

/** Mistakes of the one who installs, with both versions of Helm. */
export async function runMistakeCases(lab: Lab, pattern: RegExp): Promise<void> {
  const jobs = mistakes.flatMap(({ name, run: runOne }, index) =>
    pattern.test(name)
      ? helms.map((helm) => async () => {
          const namespace = `mistake-${index}-${helm.program}`;
          const row = { name, form: helm.form };
          const trial = { namespace, row, applications: someApplications(1) };
          await runTrial(lab, trial, async (vendor) =>
            runOne({ lab, namespace, helm, vendor }, name),
          );
        })
      : [],
  );
  await inParallel(4, jobs);
}
