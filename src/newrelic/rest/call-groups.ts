import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import { queryLengthOf, valuesOf } from './requests.ts';

type Series = readonly PolledSeries[];

/** What one call asks for, of an application or of a host. */
export interface SeriesGroup {
  readonly series: Series;
  /** Its series for each kind of metric: those of which the same values are read. */
  readonly kinds: readonly Series[];
}

/** The calls that a poll makes for the application and for each of its hosts: none where nothing is read. */
export interface CallGroups {
  readonly applications: readonly SeriesGroup[];
  readonly hosts: readonly SeriesGroup[];
}

export type CallGroupsOf = (series: Series) => CallGroups;

/** Series that are grouped once are known: thousands of applications have the same ones. */
export function createCallGroups(): CallGroupsOf {
  const known = new WeakMap<Series, CallGroups>();
  return (series) => {
    const groups = known.get(series) ?? callGroupsOf(series);
    known.set(series, groups);
    return groups;
  };
}

function callGroupsOf(series: Series): CallGroups {
  const groupsOf = (read: Series): readonly SeriesGroup[] =>
    fittingOf(read).map((group) => ({ series: group, kinds: kindsOf(group) }));
  return {
    applications: groupsOf(series.filter((one) => isReadOf('applications', one))),
    hosts: groupsOf(series.filter((one) => isReadOf('hosts', one))),
  };
}

/** The series of metrics of which the same values are read, together. */
function kindsOf(series: Series): readonly Series[] {
  const valuesRead = series.map(({ metric }) => {
    const ofMetric = series.filter((one) => one.metric === metric);
    return [...new Set(ofMetric.flatMap(valuesOf))].toSorted().join();
  });
  return [...new Set(valuesRead)].map((read) => series.filter((_, at) => valuesRead[at] === read));
}

/** A URL should stay under 4 kB, although the vendor does not say so. */
const mostCharacters = 3500;

/** Which series one call asks for: usually all of them. Else the groups are filled in the order of the series. */
function fittingOf(series: Series): readonly Series[] {
  const groups: PolledSeries[][] = [];
  for (const one of series) {
    const last = groups.at(-1);
    const fits = last !== undefined && queryLengthOf([...last, one]) <= mostCharacters;
    if (fits) last.push(one);
    else groups.push([one]);
  }
  return groups;
}
