import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import type { ValueName } from '../../model/vendor-value.ts';
import { seriesParametersOf, valuesOf } from './requests.ts';

/** What one call asks for, of an application or of a host. */
export interface SeriesGroup {
  readonly series: readonly PolledSeries[];
  /**
   * Where its values belong among those of all series of the entry; `undefined` if these are all of them,
   * in the same order.
   */
  readonly places: readonly number[] | undefined;
  /** How many such calls there are for the application, or for each host. */
  readonly calls: number;
  /** The same places, for each kind of metric: those of which the same values are read. */
  readonly kinds: readonly (readonly number[])[];
}

/** The calls that a poll makes for the application and for each of its hosts: none where nothing is read. */
export interface CallGroups {
  readonly applications: readonly SeriesGroup[];
  readonly hosts: readonly SeriesGroup[];
}

/**
 * @param answersAreWhole whether New Relic answers for metrics that have different values in one call; else
 * only those with the same values share one
 */
export type CallGroupsOf = (
  series: readonly PolledSeries[],
  answersAreWhole: boolean,
) => CallGroups;

/** Series that are grouped once are known: thousands of applications have the same ones. */
export function createCallGroups(): CallGroupsOf {
  const whole = new WeakMap<readonly PolledSeries[], CallGroups>();
  const apart = new WeakMap<readonly PolledSeries[], CallGroups>();
  return (series, answersAreWhole) => {
    const known = answersAreWhole ? whole : apart;
    const groups = known.get(series) ?? callGroupsOf(series, answersAreWhole);
    known.set(series, groups);
    return groups;
  };
}

function callGroupsOf(series: readonly PolledSeries[], answersAreWhole: boolean): CallGroups {
  const placeOf = new Map(series.map((one, place) => [one, place]));
  const groupsOf = (read: readonly PolledSeries[]): readonly SeriesGroup[] => {
    const parts = answersAreWhole ? [read] : kindsOf(read);
    const calls = parts.flatMap((part) => {
      const groups = metricGroupsOf(part);
      // In the order of the entry nothing has to be put in its place.
      return groups.length === 1 ? [part] : groups;
    });
    return calls.map((group) => {
      const places = group.map((one) => placeOf.get(one) ?? 0);
      const isAll = places.length === series.length && places.every((at, index) => at === index);
      const kinds = kindsOf(group).map((kind) => kind.map((one) => placeOf.get(one) ?? 0));
      return { series: group, places: isAll ? undefined : places, calls: calls.length, kinds };
    });
  };
  return {
    applications: groupsOf(series.filter((one) => isReadOf('applications', one))),
    hosts: groupsOf(series.filter((one) => isReadOf('hosts', one))),
  };
}

/**
 * The series of metrics of which the same values are read, together. Only where there are several such kinds,
 * New Relic may leave out values.
 */
function kindsOf(series: readonly PolledSeries[]): readonly (readonly PolledSeries[])[] {
  const values = valuesByMetric(series);
  return [...new Set(values.values())].map((same) =>
    series.filter(({ metric }) => values.get(metric) === same),
  );
}

function valuesByMetric(series: readonly PolledSeries[]): ReadonlyMap<string, string> {
  const byMetric = new Map<string, Set<ValueName>>();
  for (const one of series) {
    const values = byMetric.get(one.metric) ?? new Set();
    for (const value of valuesOf(one)) values.add(value);
    byMetric.set(one.metric, values);
  }
  return new Map(
    Array.from(byMetric, ([metric, values]) => [metric, [...values].toSorted().join()]),
  );
}

/**
 * A URL should stay under 4 kB, although the vendor does not say so: this is the share of the names and values.
 */
const mostCharacters = 3500;

function fits(series: readonly PolledSeries[]): boolean {
  return seriesParametersOf(series).join('&').length < mostCharacters;
}

/**
 * Which series one call asks for: usually all of them. The groups are filled in the order of the series,
 * except that those of one metric stay together where they fit.
 */
function metricGroupsOf(series: readonly PolledSeries[]): readonly (readonly PolledSeries[])[] {
  const groups: PolledSeries[][] = [];
  for (const part of partsOf(series)) {
    const last = groups.at(-1);
    if (last !== undefined && fits([...last, ...part])) last.push(...part);
    else groups.push([...part]);
  }
  return groups;
}

/** Series of the same metric together; each by itself if even those of one metric do not fit. */
function partsOf(series: readonly PolledSeries[]): readonly (readonly PolledSeries[])[] {
  const metrics = new Set(series.map(({ metric }) => metric));
  return [...metrics].flatMap((name) => {
    const part = series.filter(({ metric }) => metric === name);
    return fits(part) ? [part] : part.map((one) => [one]);
  });
}
