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
async function tryOdd(trial: Trial, { name, values }: OddValues): Promise<void> {
  const { lab, helm, namespace } = trial;
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
  const outcomes = [
    rendered,
    checked,
    await helmIn(helm, namespace, 'install', release, ...args),
    await helmIn(helm, namespace, 'upgrade', release, ...args, '--set=podAnnotations.trial=second'),
    await helmIn(helm, namespace, 'uninstall', release),
  ];
  const complaints = [
    ...outcomes.filter(({ code }) => code !== 0).map(({ output }) => shortened(output)),
    ...checked.output.split('\n').filter((line) => line.startsWith('Warning')),
  ];
  lab.table.add({
    name: `values: ${name}`,
    form: helm.form,
    seen:
      complaints.length === 0
        ? `${checked.stdout.trim().split('\n').length} objects accepted, installed, upgraded, removed`
        : complaints.join('; '),
    passed: complaints.length === 0,
  });
}

/** Refused with a message, before anything is made. */
async function tryWrong(trial: Trial, { name, values, says }: WrongValues): Promise<void> {
  const { lab, helm, namespace } = trial;
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
  lab.table.add({
    name: `wrong values: ${name}`,
    form: helm.form,
    seen: [
      install.code === 0 ? 'installed' : shortened(install.output, 200),
      left === '' ? 'nothing was made' : `left: ${left}`,
    ].join('; '),
    passed: install.code !== 0 && install.output.includes(says) && left === '',
  });
}

/** Values that the chart must accept or refuse, with both versions of Helm. */
export async function runValuesCases(lab: Lab, pattern: RegExp): Promise<void> {
  const trialsOf = <T extends OddValues>(
    kind: string,
    all: readonly T[],
    tryOne: (trial: Trial, given: T) => Promise<void>,
  ): readonly (() => Promise<void>)[] =>
    all.flatMap((given, index) =>
      pattern.test(given.name)
        ? helms.map((helm) => async () => {
            const namespace = `${kind}-values-${index}-${helm.program}`;
            await createNamespace(namespace);
            await apply(namespace, [secretWith('NRAK-CLUSTERTESTFIRST'), noPods]);
            await tryOne({ lab, helm, namespace }, given);
            await deleteNamespace(namespace);
          })
        : [],
    );
  await inParallel(4, [
    ...trialsOf('odd', oddValues, tryOdd),
    ...trialsOf('wrong', wrongValues, tryWrong),
  ]);
}
