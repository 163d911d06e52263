import { aligned, countOf } from '../cli/plain-text.ts';
import { printable } from '../model/line-text.ts';
import type { ListedMetric, MetricListEnd } from '../model/metric-list.ts';
import { type PresetName, presetNames, presets } from '../model/presets.ts';
import { kindOf, valueWithUnit } from './metric-kinds.ts';
import type { ValueNow } from './metric-values.ts';
import type { Target } from './metrics-target.ts';

const presetByValue: ReadonlyMap<string, PresetName> = new Map(
  presetNames.flatMap((preset) =>
    presets[preset]
      .flatMap(({ sources }) => Object.values(sources))
      .map(({ metric, value }) => [JSON.stringify([metric, value]), preset] as const),
  ),
);

/** The preset that reads a value of a metric; `undefined` if none does. */
export function presetOf(metric: string, value: string): PresetName | undefined {
  return presetByValue.get(JSON.stringify([metric, value]));
}

/** The presets that read any of the values of a metric, in their order. */
export function presetsOf({ name, values = [] }: ListedMetric): readonly PresetName[] {
  const used = new Set(values.map((value) => presetOf(name, value)));
  return presetNames.filter((preset) => used.has(preset));
}

const none = '-';
const mark = '*';

/** So that a line fits into a terminal. */
const widestName = 48;

/** One row for each metric: its kind, and what it is now. A name that is too long has a line of its own. */
export function metricsTable(metrics: readonly ListedMetric[], valueOf: ValueNow): string {
  const rows = metrics.map((metric) => {
    const { kind, shown = [] } = kindOf(metric) ?? {};
    const values = shown.flatMap((value) => {
      const now = valueOf(metric.name, value);
      return now === undefined ? [] : [valueWithUnit(value, now)];
    });
    const isRead = presetsOf(metric).length > 0;
    return {
      name: `${printable(metric.name)}${isRead ? mark : ''}`,
      kind: kind ?? none,
      now: values.join(', ') || none,
    };
  });
  const table = aligned([
    ['metric', 'kind', 'now'],
    ...rows.map(({ name, kind, now }) => [name.length > widestName ? '' : name, kind, now]),
  ]);
  const lines = table.flatMap((line, index) => {
    const name = rows[index - 1]?.name ?? '';
    return name.length > widestName ? [name, line] : [line];
  });
  return `${[...lines, '', `${mark} read by a preset; --all names it, and all values of each metric`].join('\n')}\n`;
}

/** The list as a table of all values. Those that a preset reads are marked. */
export function metricsLongTable(metrics: readonly ListedMetric[]): string {
  const rows = metrics.map((metric) => {
    const { name, values = [] } = metric;
    const marked = values.map(
      (value) => `${printable(value)}${presetOf(name, value) === undefined ? '' : mark}`,
    );
    return [printable(name), presetsOf(metric).join(', ') || none, marked.join(', ') || none];
  });
  const isMarked = metrics.some((metric) => presetsOf(metric).length > 0);
  const legend = isMarked ? ['', `${mark} read by the preset beside it`] : [];
  return `${[...aligned([['metric', 'presets', 'values'], ...rows]), ...legend].join('\n')}\n`;
}

/** The list for machines. */
export function metricsJson(
  metrics: readonly ListedMetric[],
  { runtime, application: { id, name }, host }: Target,
  isComplete: boolean,
): string {
  const { account } = runtime.prepared;
  const document = {
    account: account.name,
    source: account.source.kind,
    application: { id, name },
    host: host === undefined ? null : { id: host.id, name: host.name ?? null },
    complete: isComplete,
    metrics: metrics.map((metric) => ({
      name: metric.name,
      values: metric.values ?? null,
      presets: presetsOf(metric),
    })),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** How a list was read; without an end it was given up. */
interface Reading {
  readonly end: MetricListEnd | undefined;
  /** What the names had to contain; empty for all. */
  readonly like: string;
}

/** What the list itself does not say: why it is not complete, or empty. */
export function notesOf(
  all: readonly ListedMetric[],
  target: Target,
  { end, like }: Reading,
): readonly string[] {
  const { name } = target.runtime.prepared.account;
  const account = `account ${printable(name)}`;
  const notes: string[] = [];
  if (end === undefined || end.error !== undefined) {
    const reason = end?.error === undefined ? '' : `: ${end.error.message}`;
    notes.push(`${account}: the list is not complete, ${countOf(all.length, 'metric')}${reason}`);
  } else if (end.cut !== undefined) {
    notes.push(
      `${account}: the list is longer than what is read of it, ${end.cut}: list fewer with --like=TEXT`,
    );
  } else if (all.length === 0) {
    notes.push(emptyNote(target, like));
  }
  if (all.some(({ values }) => values === undefined)) {
    notes.push(
      'note: NerdGraph does not tell which values a metric has: they are shown where its name says so',
    );
  }
  return notes;
}

function emptyNote({ runtime, application, host }: Target, like: string): string {
  const filter = like === '' ? '' : ` whose name contains "${printable(like)}"`;
  const where = host === undefined ? '' : ` on host ${printable(host.name ?? host.id)}`;
  // The documents of the REST API do not say how it compares; those of NRQL do.
  const isCaseInDoubt = like !== '' && runtime.prepared.account.source.kind === 'rest';
  const hint = isCaseInDoubt ? ': New Relic may want it written exactly as the agent does' : '';
  return `application ${application.id} has no metric${filter}${where}${hint}`;
}
