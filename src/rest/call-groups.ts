import { metricGroupsOf } from '../model/metric-groups.ts';
import { isReadOf, type PolledSeries } from '../model/polled-series.ts';
import { countedBy, type ValueName } from '../model/vendor-value.ts';

/** What one call asks for, of an application or of a host. */
export interface SeriesGroup {
  readonly series: readonly PolledSeries[];
  /**
   * Where its values belong among those of all series of the entry; `undefined` if these are all of them,
   * in the same order.
   */
  readonly places: readonly number[] | undefined;
}

/** The calls that a poll makes for the application and for each of its hosts: none where nothing is read. */
export interface CallGroups {
  readonly applications: readonly SeriesGroup[];
  readonly hosts: readonly SeriesGroup[];
}

/**
 * @param isAlone whether a metric does not get its values if it is asked for together with others that
 * have other values
 */
export function callGroupsOf(
  series: readonly PolledSeries[],
  isAlone: (metric: string) => boolean,
): CallGroups {
  const placeOf = new Map(series.map((one, place) => [one, place]));
  const groupsOf = (read: readonly PolledSeries[]): readonly SeriesGroup[] =>
    partsOf(read, isAlone)
      .flatMap((part) => {
        const groups = metricGroupsOf(part);
        // In the order of the entry nothing has to be put in its place.
        return groups.length === 1 ? [part] : groups;
      })
      .map((group) => {
        const places = group.map((one) => placeOf.get(one) ?? 0);
        const isAll = places.length === series.length && places.every((at, index) => at === index);
        return { series: group, places: isAll ? undefined : places };
      });
  return {
    applications: groupsOf(series.filter((one) => isReadOf('applications', one))),
    hosts: groupsOf(series.filter((one) => isReadOf('hosts', one))),
  };
}

/** The series of each metric that must be asked for alone, behind those of all others. */
function partsOf(
  series: readonly PolledSeries[],
  isAlone: (metric: string) => boolean,
): readonly (readonly PolledSeries[])[] {
  if (!hasDifferentValues(series)) return [series];
  const alone = new Set(series.map(({ metric }) => metric).filter(isAlone));
  const together = series.filter(({ metric }) => !alone.has(metric));
  const parts = [...alone].map((metric) => series.filter((one) => one.metric === metric));
  return [together, ...parts];
}

/**
 * Whether there are several metrics, of which not all have the same values. Only then may New Relic
 * leave out values.
 */
export function hasDifferentValues(series: readonly PolledSeries[]): boolean {
  const byMetric = new Map<string, Set<ValueName>>();
  for (const one of series) {
    const values = byMetric.get(one.metric) ?? new Set();
    for (const value of valuesOf(one)) values.add(value);
    byMetric.set(one.metric, values);
  }
  const [first, ...others] = byMetric.values();
  return first !== undefined && others.some((values) => !hasSameMembers(first, values));
}

function hasSameMembers(left: ReadonlySet<unknown>, right: ReadonlySet<unknown>): boolean {
  return left.size === right.size && [...left].every((member) => right.has(member));
}

/** The values to ask for: that of the series, and the one that says whether there were calls. */
export function valuesOf({ value }: Pick<PolledSeries, 'value'>): readonly ValueName[] {
  const counter = countedBy[value];
  return counter === undefined ? [value] : [value, counter];
}
