import type { AppEntry } from '../model/config.ts';
import { isReadOf, type PolledSeries, type Values } from '../model/polled-series.ts';
import type { PresetName } from '../model/presets.ts';
import { hostsToPoll, type SelectedApplication } from '../model/selected-application.ts';
import type { AppReading } from '../model/snapshot.ts';
import { countedBy, type Unit, type ValueName, vendorValues } from '../model/vendor-value.ts';

/** A metric whose values an entry waits for: a gauge of a preset, or a metric of its own. */
export interface WatchedMetric {
  /** Tells it from the others of the entry. */
  readonly key: string;
  readonly name: string;
  /** New Relic's names, one for each transaction type. */
  readonly metrics: readonly string[];
  readonly value: ValueName;
  /** Where its values are in a reading: one index for each transaction type. */
  readonly indexes: readonly number[];
  readonly ofApplication: boolean;
  readonly ofHosts: boolean;
  /** Whether New Relic has no value of it while nothing calls the application. */
  readonly needsCalls: boolean;
}

/**
 * Presets that are not watched. Their names are right by construction, and an application without requests
 * or without errors is no mistake.
 */
const unwatched: ReadonlySet<PresetName | undefined> = new Set(['throughput', 'errors']);

const unitsOfCalls: ReadonlySet<Unit> = new Set([
  'per_minute',
  'per_second',
  'count',
  'seconds',
  'seconds_per_minute',
]);

function isOfCalls(value: ValueName): boolean {
  return unitsOfCalls.has(vendorValues[value]) || countedBy[value] !== undefined;
}

/** What decides which metrics an entry waits for. */
type Asking = Pick<AppEntry, 'series' | 'application' | 'hosts'>;

/** Returns the metrics that an entry waits for, of those that it asks for at all. */
export type WatchedMetricsOf = (entry: Asking) => readonly WatchedMetric[];

/** Thousands of entries share their series: what they wait for is the same object, too. */
export function createWatchedMetrics(): WatchedMetricsOf {
  const known = new WeakMap<AppEntry['series'], Map<string, readonly WatchedMetric[]>>();
  return (entry) => {
    const bySeries = known.get(entry.series) ?? new Map<string, readonly WatchedMetric[]>();
    known.set(entry.series, bySeries);
    const key = `${entry.application} ${entry.hosts !== false}`;
    const metrics = bySeries.get(key) ?? watchedMetrics(entry);
    bySeries.set(key, metrics);
    return metrics;
  };
}

function watchedMetrics({ series, application, hosts }: Asking): readonly WatchedMetric[] {
  const metrics = new Map<string, WatchedMetric>();
  for (const [index, one] of series.entries()) {
    const ofApplication = application && isReadOf('applications', one);
    const ofHosts = hosts !== false && isReadOf('hosts', one);
    if (unwatched.has(one.preset) || !(ofApplication || ofHosts)) continue;
    const found = watchedMetric(one, index, { ofApplication, ofHosts });
    const known = metrics.get(found.key);
    metrics.set(found.key, known === undefined ? found : together(known, found));
  }
  return [...metrics.values()];
}

function watchedMetric(
  { gauge, metric, value, preset, scope }: PolledSeries,
  index: number,
  read: Pick<WatchedMetric, 'ofApplication' | 'ofHosts'>,
): WatchedMetric {
  const name = scope === 'hosts' ? gauge.hostName : gauge.name;
  // Of a preset, one transaction type with values is enough.
  const key = JSON.stringify(preset === undefined ? [name, metric, value, read] : [name, read]);
  return {
    key,
    name,
    metrics: [metric],
    value,
    indexes: [index],
    ...read,
    needsCalls: isOfCalls(value),
  };
}

function together(known: WatchedMetric, found: WatchedMetric): WatchedMetric {
  const metrics = [...new Set([...known.metrics, ...found.metrics])];
  return { ...known, metrics, indexes: [...known.indexes, ...found.indexes] };
}

/** Whether the reading has a value of the metric; 0 is one. */
export function hasValueOf(
  { indexes, ofApplication, ofHosts }: WatchedMetric,
  { application, hosts }: AppReading,
): boolean {
  const isIn = (values: Values): boolean => indexes.some((index) => values[index] !== undefined);
  if (ofApplication && isIn(application)) return true;
  if (!ofHosts) return false;
  for (const values of hosts.values()) if (isIn(values)) return true;
  return false;
}

/** What shows that an application, or its hosts, could have sent a value. */
interface Life {
  /** There is some value that is not 0. */
  readonly hasValues: boolean;
  /** Something called it. */
  readonly hasCalls: boolean;
}

const noLife: Life = { hasValues: false, hasCalls: false };
const fullLife: Life = { hasValues: true, hasCalls: true };

function lifeIn(series: readonly PolledSeries[], all: Iterable<Values>): Life {
  let life = noLife;
  for (const values of all) {
    for (const [index, { value }] of series.entries()) {
      if ((values[index] ?? 0) === 0) continue;
      if (isOfCalls(value)) return fullLife;
      life = { ...life, hasValues: true };
    }
  }
  return life;
}

/**
 * Whether the poll should have brought a value of the metric: the application does something, as other
 * values of the reading show; or the list of applications, if the entry does not ask for throughput.
 */
export function isChanceFor(
  { series, application, hosts }: AppReading,
  selected: SelectedApplication,
): (metric: WatchedMetric) => boolean {
  const { summary } = selected.application;
  const isListedBusy =
    (summary?.requestsPerMinute ?? 0) > 0 && !series.some(({ preset }) => preset === 'throughput');
  const hasHosts = hostsToPoll(selected).length > 0;
  const ofApplication = isListedBusy ? fullLife : lifeIn(series, [application]);
  const ofHosts = isListedBusy && hasHosts ? fullLife : lifeIn(series, hosts.values());
  return (metric) =>
    [metric.ofApplication ? ofApplication : noLife, metric.ofHosts ? ofHosts : noLife].some(
      ({ hasValues, hasCalls }) => (metric.needsCalls ? hasCalls : hasValues),
    );
}
