import { chartFolder } from './chart-setups.ts';
import { attempt, inParallel, run } from './commands.ts';
import { type Helm, helmIn, helms, release, shortened } from './helm.ts';
import {
  apply,
  createNamespace,
  deleteNamespace,
  type Lab,
  secretWith,
  valuesFile,
} from './lab.ts';
import { type OddValues, oddValues, type WrongValues, wrongValues } from './odd-values.ts';

const base = { apiKey: { existingSecret: 'newrelic' }, config: { apps: [{ id: 1 }] } };

// What is tried here is what the server takes; nothing has to run.
const noPods = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'no-pods' },
  spec: { hard: { pods: '0' } },
};

interface Trial {
  readonly lab: Lab;
  readonly helm: Helm;
  readonly namespace: string;
}

/** On top of what every release needs; `config` is not replaced. */
async function fileOf({ lab, namespace }: Trial, values: object): Promise<string> {
  const config = { ...base.config, ...('config' in values ? (values.config as object) : {}) };
  return valuesFile(lab, namespace, { ...base, ...values, config });
}

/** Every object strictly checked by the server, then really made, changed and removed. */
async function tryOdd(trial: Trial, { values }: OddValues): Promise<readonly string[]> {
  const { helm, namespace } = trial;
  const file = await fileOf(trial, values);
  const args = [chartFolder, `--values=${file}`];
  const rendered = await helmIn(
    helm,
    namespace,
    'template',
    release,
    '--kube-version=1.36.3',
    ...args,
  );
  const options = ['--dry-run=server', '--validate=strict', `--namespace=${namespace}`];
  const checked = await attempt('kubectl', ['apply', ...options, '--filename=-'], rendered.output);
  await apply(namespace, [noPods]);
  const outcomes = [
    rendered,
    checked,
    await helmIn(helm, namespace, 'install', release, ...args),
    await helmIn(helm, namespace, 'upgrade', release, ...args, '--set=podAnnotations.trial=second'),
    await helmIn(helm, namespace, 'uninstall', release),
  ];
  return [
    ...outcomes.filter(({ code }) => code !== 0).map(({ output }) => shortened(output)),
    ...checked.output.split('\n').filter((line) => line.startsWith('Warning')),
  ];
}

/** Refused with a message, before anything is made. */
async function tryWrong(trial: Trial, { values, says }: WrongValues): Promise<readonly string[]> {
  const { helm, namespace } = trial;
  const file = await fileOf(trial, values);
  const install = await helmIn(
    helm,
    namespace,
    'install',
    release,
    chartFolder,
    `--values=${file}`,
  );
  const list = await helmIn(
    helm,
    namespace,
    'list',
    '--short',
    ...(helm.form === 'Helm 3' ? ['--all'] : []),
  );
  const services = await run('kubectl', [
    'get',
    'services',
    `--namespace=${namespace}`,
    '--output=name',
  ]);
  const left = `${list.stdout}${services}`.trim();
  await helmIn(helm, namespace, 'uninstall', release);
  return [
    ...(install.code === 0 ? ['installed'] : []),
    ...(install.output.includes(says)
      ? []
      : [`says nothing of ${says}: ${shortened(install.output)}`]),
    ...(left === '' ? [] : [`left: ${shortened(left)}`]),
  ];
}

/** One of both kinds of values. */
interface Kind<T extends OddValues> {
  readonly name: string;
  /** How its namespaces begin. */
  readonly prefix: string;
  readonly all: readonly T[];
  readonly tryOne: (trial: Trial, given: T) => Promise<readonly string[]>;
  /** What is written of those without complaints. */
  readonly seen: string;
}

const odd: Kind<OddValues> = {
  name: 'values that are unusual but right',
  prefix: 'odd-values',
  all: oddValues,
  tryOne: tryOdd,
  seen: 'every object checked strictly by the server, then installed, upgraded and removed',
};

const wrong: Kind<WrongValues> = {
  name: 'values that are wrong',
  prefix: 'wrong-values',
  all: wrongValues,
  tryOne: tryWrong,
  seen: 'refused with a message that names the value, before anything is made',
};

/** Tries all of a kind with one version of Helm; each that is not as it must be gets a row of its own. */
async function tryAll<T extends OddValues>(
  lab: Lab,
  helm: Helm,
  { name, prefix, all, tryOne, seen }: Kind<T>,
  pattern: RegExp,
): Promise<void> {
  const chosen = all.filter((given) => pattern.test(given.name));
  let good = 0;
  const jobs = chosen.map((given, index) => async () => {
    const namespace = `${prefix}-${index}-${helm.program}`;
    await createNamespace(namespace);
    await apply(namespace, [secretWith('NRAK-CLUSTERTESTFIRST')]);
    const complaints = await tryOne({ lab, helm, namespace }, given);
    await deleteNamespace(namespace);
    if (complaints.length === 0) good += 1;
    else {
      const row = { name: `${name}: ${given.name}`, form: helm.form, passed: false };
      lab.table.add({ ...row, seen: complaints.join('; ') });
    }
  });
  await inParallel(2, jobs);
  if (chosen.length === 0) return;
  const passed = good === chosen.length;
  lab.table.add({ name, form: helm.form, seen: `${good} of ${chosen.length}: ${seen}`, passed });
}

/** Values that the chart must accept or refuse, with both versions of Helm. */
export async function runValuesCases(lab: Lab, pattern: RegExp): Promise<void> {
  const jobs = helms.map((helm) => async () => {
    await tryAll(lab, helm, odd, pattern);
    await tryAll(lab, helm, wrong, pattern);
  });
  await inParallel(2, jobs);
}
