import { rm } from 'node:fs/promises';
import { chartFolder } from './chart-setups.ts';
import { eventually, inParallel, pause } from './commands.ts';
import { type Helm, helmIn, helmMust, helms, laterChart, release, releasePods } from './helm.ts';
import {
  apply,
  isReady,
  type Lab,
  runTrial,
  scrape,
  secretWith,
  someApplications,
  type Vendor,
  valuesFile,
} from './lab.ts';

/** One change of a release, and what it must do to the pods. */
interface Change {
  readonly name: string;
  /** Values of the release, from its start. */
  readonly values?: object;
  /** Further values, from the change on. */
  readonly changed?: object;
  /** The chart that is upgraded to: `later` only has another version. */
  readonly chart: 'same' | 'later';
  /** Whether the pod must be replaced by the change. */
  readonly replaces: boolean;
  /** Whether the change must leave no moment without values. */
  readonly withoutGap?: boolean;
  /** Made with the other version of Helm than the release. */
  readonly byOtherHelm?: boolean;
}

const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };

const changes: readonly Change[] = [
  { name: 'to another version of the chart', chart: 'later', replaces: false, withoutGap: true },
  {
    name: 'with the other version of Helm',
    chart: 'same',
    replaces: false,
    withoutGap: true,
    byOtherHelm: true,
  },
  {
    name: 'of the pod, strategy Recreate',
    chart: 'same',
    changed: { podAnnotations: { trial: 'second' } },
    replaces: true,
  },
  {
    name: 'of the pod, strategy RollingUpdate',
    chart: 'same',
    values: { strategy: rolling },
    changed: { podAnnotations: { trial: 'second' } },
    replaces: true,
    withoutGap: true,
  },
  {
    name: 'of the labels, rules and monitors only',
    chart: 'same',
    changed: { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
    replaces: false,
    withoutGap: true,
  },
];

const shownSeries = '\nnewrelic_application_requests_per_minute{';

interface Trial {
  readonly lab: Lab;
  readonly namespace: string;
  readonly helm: Helm;
  readonly change: Change;
}

async function showsValues({ lab, namespace }: Trial): Promise<boolean> {
  const pods = await releasePods(lab, namespace);
  const pages = await Promise.all(pods.map(async (pod) => scrape(pod)));
  return pages.some((page) => page?.includes(shownSeries) === true);
}

/** Seconds in which no pod showed values, until it is over and they have been shown for a while. */
async function gapUntil(trial: Trial, isOver: () => boolean): Promise<number> {
  let seconds = 0;
  let lastMs = performance.now();
  const endMs = lastMs + 240_000;
  for (let shown = 0; (shown < 10 || !isOver()) && lastMs < endMs; ) {
    const shows = await showsValues(trial);
    const nowMs = performance.now();
    if (!shows) seconds += (nowMs - lastMs) / 1000;
    shown = shows ? shown + 1 : 0;
    lastMs = nowMs;
    await pause(0.2);
  }
  return seconds;
}

async function podNames({ lab, namespace }: Trial): Promise<string> {
  const pods = await releasePods(lab, namespace);
  return pods.map(({ metadata }) => metadata.uid).join(' ');
}

async function addRow(trial: Trial, values: object): Promise<void> {
  const { lab, namespace, helm, change } = trial;
  const before = await podNames(trial);
  const later = await laterChart(lab, `later-${namespace}`);
  const chart = change.chart === 'later' ? later : chartFolder;
  const by = change.byOtherHelm === true ? helms.find((other) => other !== helm) : helm;
  const file = await valuesFile(lab, `${namespace}-changed`, { ...values, ...change.changed });
  const upgrade = { isOver: false };
  const args = ['upgrade', release, chart, `--values=${file}`, '--wait', '--timeout=180s'];
  const [outcome, gap] = await Promise.all([
    helmIn(by ?? helm, namespace, ...args).finally(() => {
      upgrade.isOver = true;
    }),
    gapUntil(trial, () => upgrade.isOver),
  ]);
  await rm(later, { recursive: true });
  const replaced = (await podNames(trial)) !== before;
  const seen = [
    ...(outcome.code === 0 ? [] : [outcome.output.trim()]),
    replaced ? 'new pod' : 'same pod',
    gap === 0 ? 'no moment without values' : `${gap.toFixed(1)} s without values`,
  ];
  lab.table.add({
    name: `upgrade ${change.name}`,
    form: helm.form,
    seen: seen.join('; ').replaceAll('\n', ' '),
    passed:
      outcome.code === 0 &&
      replaced === change.replaces &&
      (change.withoutGap !== true || gap === 0),
  });
}

async function runAll(trial: Trial, vendor: Vendor): Promise<void> {
  const { lab, namespace, helm, change } = trial;
  const values = {
    apiKey: { existingSecret: 'newrelic' },
    config: { accounts: [{ name: 'default', base_url: vendor.baseUrl }], apps: [{ match: '.' }] },
    ...change.values,
  };
  await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
  const file = await valuesFile(lab, namespace, values);
  const args = ['install', release, chartFolder, `--values=${file}`, '--wait', '--timeout=180s'];
  await helmMust(helm, namespace, ...args);
  const isSettled = await eventually(60, async () => {
    const [pod] = await releasePods(lab, namespace);
    return pod !== undefined && isReady(pod) && (await showsValues(trial)) ? true : undefined;
  });
  if (isSettled !== true) throw new Error('no values 60 s after the installation');
  await addRow(trial, values);
}

/** What an upgrade does to the pods and to the values, with both versions of Helm. */
export async function runUpgradeCases(lab: Lab, pattern: RegExp): Promise<void> {
  const jobs = changes.flatMap((change, index) =>
    pattern.test(change.name)
      ? helms.map((helm) => async () => {
          const namespace = `upgrade-${index}-${helm.program}`;
          const row = { name: `upgrade ${change.name}`, form: helm.form };
          await runTrial(
            lab,
            { namespace, row, applications: someApplications(1) },
            async (vendor) => runAll({ lab, namespace, helm, change }, vendor),
          );
        })
      : [],
  );
  await inParallel(3, jobs);
}
