import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import { queryLengthOf, valuesOf } from './requests.ts';

type Series = readonly PolledSeries[];

/** What one call asks for, of an application or of a host. */
export interface SeriesGroup {
  readonly series: Series;
  /** Where its values belong among those of the entry. */
  readonly places: readonly number[];
  /** The same places, for each kind of metric: those of which the same values are read. */
  readonly kinds: readonly (readonly number[])[];
}

/** The calls that a poll makes for the application and for each of its hosts: none where nothing is read. */
export interface CallGroups {
  readonly applications: readonly SeriesGroup[];
  readonly hosts: readonly SeriesGroup[];
}

/** @param areWhole whether metrics that have different values share a call; else only those with the same */
export type CallGroupsOf = (series: Series, areWhole: boolean) => CallGroups;

/** Series that are grouped once are known: thousands of applications have the same ones. */
export function createCallGroups(): CallGroupsOf {
  const known = new WeakMap<Series, { readonly whole: CallGroups; readonly apart: CallGroups }>();
  return (series, areWhole) => {
    const groups = known.get(series) ?? {
      whole: callGroupsOf(series, true),
      apart: callGroupsOf(series, false),
    };
    known.set(series, groups);
    return areWhole ? groups.whole : groups.apart;
  };
}

function callGroupsOf(series: Series, areWhole: boolean): CallGroups {
  const placeOf = new Map(series.map((one, place) => [one, place]));
  const placesOf = (some: Series): number[] => some.map((one) => placeOf.get(one) ?? 0);
  const groupsOf = (read: Series): readonly SeriesGroup[] => {
    const groups = (areWhole ? [read] : kindsOf(read)).flatMap(fittingOf);
    return groups.map((group) => ({
      series: group,
      places: placesOf(group),
      kinds: kindsOf(group).map(placesOf),
    }));
  };
  return {
    applications: groupsOf(series.filter((one) => isReadOf('applications', one))),
    hosts: groupsOf(series.filter((one) => isReadOf('hosts', one))),
  };
}

/** The series of metrics of which the same values are read, together. */
function kindsOf(series: Series): readonly Series[] {
  const valuesByMetric = new Map(
    Array.from(
      groupedBy(series, ({ metric }) => metric),
      ([metric, part]) => [metric, [...new Set(part.flatMap(valuesOf))].toSorted().join()],
    ),
  );
  return [...groupedBy(series, ({ metric }) => valuesByMetric.get(metric)).values()];
}

function groupedBy<Key>(
  series: Series,
  keyOf: (one: PolledSeries) => Key,
): ReadonlyMap<Key, Series> {
  const groups = new Map<Key, PolledSeries[]>();
  for (const one of series) {
    const group = groups.get(keyOf(one)) ?? [];
    group.push(one);
    groups.set(keyOf(one), group);
  }
  return groups;
}

/** A URL should stay under 4 kB, although the vendor does not say so. */
const mostCharacters = 3500;

function fits(series: Series): boolean {
  return queryLengthOf(series) <= mostCharacters;
}

/** Which series one call asks for: usually all of them. Else the groups are filled in the order of the series. */
function fittingOf(series: Series): readonly Series[] {
  const groups: PolledSeries[][] = [];
  for (const one of series) {
    const last = groups.at(-1);
    if (last !== undefined && fits([...last, one])) last.push(one);
    else groups.push([one]);
  }
  return groups;
}
