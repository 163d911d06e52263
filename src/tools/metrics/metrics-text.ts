import { type PresetName, presetNames, presets } from '../../model/presets.ts';
import { printable } from '../../model/shown-text.ts';
import { valueKeyOf } from '../../newrelic/nerdgraph/column-sets.ts';
import { shownValue } from '../../web/status/texts.ts';
import type { ListedMetric } from '../survey/metric-lists.ts';
import { aligned } from '../survey/plain-text.ts';
import { kindOf, type ValuesNow } from './metric-values.ts';

const presetByValue: ReadonlyMap<string, PresetName> = new Map(
  presetNames.flatMap((preset) =>
    presets[preset]
      .flatMap(({ sources }) => Object.values(sources))
      .map((source) => [valueKeyOf(source), preset] as const),
  ),
);

/** The preset that reads a value of a metric; `undefined` if none does. */
export function presetOf(metric: string, value: string): PresetName | undefined {
  return presetByValue.get(valueKeyOf({ metric, value }));
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

/**
 * One row for each metric: its kind, and what it is now. A name that is too long has a line of its own.
 *
 * @param isLong whether to add the presets and all values of each metric, those that a preset reads marked
 */
export function metricsTable(
  metrics: readonly ListedMetric[],
  values: ValuesNow,
  isLong: boolean,
): string {
  const names = metrics.map(
    (metric) => `${printable(metric.name)}${presetsOf(metric).length > 0 ? mark : ''}`,
  );
  const cells = metrics.map((metric, index) => {
    const { kind, shown = [] } = kindOf(metric) ?? {};
    const texts = shown.flatMap((value) => {
      const now = values.get(valueKeyOf({ metric: metric.name, value }));
      return now === undefined ? [] : [shownValue(value, now)];
    });
    const name = names[index] ?? '';
    return [name.length > widestName ? '' : name, kind ?? none, texts.join(', ') || none];
  });
  const [header = '', ...rows] = aligned([['metric', 'kind', 'now'], ...cells]);
  const lines = metrics.flatMap((metric, index) => [
    ...(cells[index]?.[0] === '' ? [names[index]] : []),
    rows[index],
    ...(isLong ? [`  ${allValuesOf(metric)}`] : []),
  ]);
  const legend = `${mark} read by a preset${isLong ? '' : '; --all names it, and all values of each metric'}`;
  return `${[header, ...lines, '', legend].join('\n')}\n`;
}

function allValuesOf(metric: ListedMetric): string {
  const marked = (metric.values ?? []).map(
    (value) => `${printable(value)}${presetOf(metric.name, value) === undefined ? '' : mark}`,
  );
  const read = presetsOf(metric).map((preset) => `preset ${preset}`);
  return [...read, ...marked].join(', ') || none;
}
