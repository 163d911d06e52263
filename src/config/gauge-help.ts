import type { FileCustomMetric, FileMetric } from './metric-schema.ts';

/** The help text of a gauge whose series come from several metrics, none of which has one. */
const helpOfSeveral =
  'Several metrics of New Relic over the polled window, told apart by their labels.';

function isOfSame(one: FileCustomMetric, other: FileCustomMetric): boolean {
  return one.metric === other.metric && one.value === other.value;
}

/**
 * The help texts of gauges by name, as far as they do not follow from one metric alone: a gauge has one
 * text, wherever in the file it is named.
 */
export function gaugeHelps(lists: readonly (readonly FileMetric[])[]): ReadonlyMap<string, string> {
  const first = new Map<string, FileCustomMetric>();
  const written = new Map<string, string>();
  const several = new Map<string, string>();
  for (const metric of lists.flat()) {
    if (typeof metric === 'string') continue;
    const { as: name, help } = metric;
    const known = first.get(name) ?? metric;
    first.set(name, known);
    if (help !== undefined) written.set(name, help);
    if (!isOfSame(known, metric)) several.set(name, helpOfSeveral);
  }
  return new Map([...several, ...written]);
}
