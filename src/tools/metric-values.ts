import type { ToolPlatform } from '../daemon/platform.ts';
import type { AppEntry } from '../model/config.ts';
import { nothingToAskOutcome } from '../model/poll-outcome.ts';
import { type PolledSeries, seriesOf, type Values } from '../model/polled-series.ts';
import type { Question } from '../model/source.ts';
import type { ValueName } from '../model/vendor-value.ts';
import { kindOf } from './metric-kinds.ts';
import type { ListedMetric } from './metric-list.ts';
import type { Target } from './metrics-target.ts';
import { pollOnce } from './poll-once.ts';

/** The value of a metric at the moment; `undefined` if there is none. */
export type ValueNow = (metric: string, value: ValueName) => number | undefined;

export interface ValuesNow {
  readonly valueOf: ValueNow;
  /** Why some could not be read; it may hold a secret. */
  readonly error: string | undefined;
}

/** Values are read of so many metrics at most, by some ten calls. */
const mostMetrics = 600;

function keyOf(metric: string, value: ValueName): string {
  return JSON.stringify([metric, value]);
}

/** Reads the values that say most about each metric, those of one kind together. */
export async function valuesNow(
  metrics: readonly ListedMetric[],
  target: Target,
  usual: AppEntry,
  platform: ToolPlatform,
): Promise<ValuesNow> {
  const values = new Map<string, number | undefined>();
  let error =
    metrics.length > mostMetrics
      ? `those of the first ${mostMetrics} metrics only: list fewer with --like=TEXT`
      : undefined;
  try {
    for (const series of seriesByKind(metrics.slice(0, mostMetrics))) {
      const { read = [], failure } = await polled(series, target, usual, platform);
      for (const [index, { metric, value }] of series.entries()) {
        values.set(keyOf(metric, value), read[index]);
      }
      error ??= failure;
    }
  } catch (thrown) {
    if (!platform.stopSignal.aborted) throw thrown;
  }
  return { valueOf: (metric, value) => values.get(keyOf(metric, value)), error };
}

async function polled(
  series: readonly PolledSeries[],
  target: Target,
  usual: AppEntry,
  { clock, stopSignal }: ToolPlatform,
): Promise<{ readonly read: Values | undefined; readonly failure: string | undefined }> {
  const { runtime, application, host } = target;
  const options = { wallMs: clock.wallMs(), concurrency: 4, signal: stopSignal };
  const outcomes = await pollOnce(runtime.source, [questionFor(series, target, usual)], options);
  const { reading, error } = outcomes.get(application.id) ?? nothingToAskOutcome;
  const read = host === undefined ? reading?.application : reading?.hosts.get(host.id);
  return { read, failure: error?.message };
}

/** New Relic may answer only for metrics that all have the same values. */
function seriesByKind(metrics: readonly ListedMetric[]): Iterable<readonly PolledSeries[]> {
  const byKind = new Map<string, PolledSeries[]>();
  for (const metric of metrics) {
    const found = kindOf(metric);
    const key = found?.shown.join(' ') ?? '';
    for (const value of found?.shown ?? []) {
      const choice = { metric: metric.name, value, as: 'now', scale: 1, help: undefined };
      const series = seriesOf([{ ...choice, labels: {}, scope: 'both' }], []);
      byKind.set(key, [...(byKind.get(key) ?? []), ...series]);
    }
  }
  return byKind.values();
}

function questionFor(
  series: readonly PolledSeries[],
  { application, host }: Target,
  usual: AppEntry,
): Question {
  const isHost = host !== undefined;
  const hostIds = isHost && application.hostIds !== undefined ? [host.id] : application.hostIds;
  const entry = { ...usual, exclude: false, application: !isHost, hosts: isHost, series };
  return {
    kind: 'application',
    selected: { application: { ...application, hostIds }, entry },
    askHostNames: false,
    hostNames: new Map(),
    isListed: () => true,
  };
}
