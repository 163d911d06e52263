import type { PolledSeries } from './polled-series.ts';
import { countedBy } from './vendor-value.ts';

/**
 * New Relic's REST API is asked with a URL, which should stay under 4 kB: this is the share of the names
 * and values, with their separators.
 */
const mostBytes = 3500;

/** What is asked for together, and what must be written for it. */
interface Group {
  readonly series: PolledSeries[];
  /** Every parameter once: the query asks for each value of each metric. */
  readonly parameters: Set<string>;
  bytes: number;
}

function parametersOf(series: readonly PolledSeries[]): ReadonlySet<string> {
  const parameters = new Set<string>();
  for (const { metric, value } of series) {
    parameters.add(`${encodeURIComponent('names[]')}=${encodeURIComponent(metric)}`);
    for (const asked of [value, countedBy[value]]) {
      if (asked !== undefined) parameters.add(`${encodeURIComponent('values[]')}=${asked}`);
    }
  }
  return parameters;
}

function bytesOf(parameters: readonly string[]): number {
  return parameters.reduce((sum, parameter) => sum + parameter.length + '&'.length, 0);
}

/** Series of the same metric together; each by itself if even those of one metric do not fit. */
function partsOf(series: readonly PolledSeries[]): readonly (readonly PolledSeries[])[] {
  const byMetric = new Map<string, PolledSeries[]>();
  for (const one of series) {
    const sameMetric = byMetric.get(one.metric);
    if (sameMetric === undefined) byMetric.set(one.metric, [one]);
    else sameMetric.push(one);
  }
  return [...byMetric.values()].flatMap((part) =>
    bytesOf([...parametersOf(part)]) <= mostBytes ? [part] : part.map((one) => [one]),
  );
}

/**
 * Which series one call of the REST API asks for: usually all of them. Every series is in one group. The
 * groups are filled in the order of the series, except that those of one metric stay together where they
 * fit.
 */
export function metricGroupsOf(
  series: readonly PolledSeries[],
): readonly (readonly PolledSeries[])[] {
  const groups: Group[] = [];
  for (const part of partsOf(series)) {
    const parameters = [...parametersOf(part)];
    const last = groups.at(-1);
    const added = parameters.filter((parameter) => last?.parameters.has(parameter) !== true);
    const bytes = (last?.bytes ?? 0) + bytesOf(added);
    if (last === undefined || bytes > mostBytes) {
      const whole = bytesOf(parameters);
      groups.push({ series: [...part], parameters: new Set(parameters), bytes: whole });
      continue;
    }
    last.series.push(...part);
    for (const parameter of added) last.parameters.add(parameter);
    last.bytes = bytes;
  }
  return groups.map((group) => group.series);
}
