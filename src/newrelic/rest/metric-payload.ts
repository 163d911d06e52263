import type { PolledSeries, Values } from '../../model/polled-series.ts';
import { dayMs, minuteMs } from '../../model/time.ts';
import {
  countedBy,
  growsWithWindow,
  mayBeNegative,
  type ValueName,
} from '../../model/vendor-value.ts';
import { isAboutWindow, type TimeWindow } from '../../model/window.ts';
import {
  epochMsOf,
  excerptOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  loggedSampleOf,
  windowEndMsOf,
} from '../answer.ts';
import { notWhole, type RestPurpose } from '../failures.ts';

/** What to ask for in one call, of an application or of one of its hosts. */
export interface MetricQuery {
  /** `undefined`: the vendor's own window. */
  readonly window: TimeWindow | undefined;
  readonly series: readonly PolledSeries[];
  readonly raw: boolean;
}

/** The answer for one application, or for one of its hosts. */
export interface MetricAnswer {
  /** In base units, in the order of the series of the query. */
  readonly values: Values;
  /** End of the averaged range as the answer states it; `undefined` if the answer has no data. */
  readonly windowEndMs: number | undefined;
  /** Metrics that have no value in the answer, although it does not say that they were not found. */
  readonly unanswered: readonly string[];
}

/**
 * The values in a metric data document. Metrics are found by name: if one is absent or in `metrics_not_found`,
 * its series merely have no value. Throws an `ApiError` if the document does not have the shape of a
 * summarized answer, or is for another window. Written by hand: there is one such answer per application and
 * host in every cycle, and a schema costs many times as much.
 *
 * @param wallMs when the answer came: the vendor's own window ends close to it
 */
export function metricAnswerOf(
  document: JsonObject,
  query: MetricQuery,
  purpose: RestPurpose,
  wallMs: number,
  onInvalid: InvalidSampleListener,
): MetricAnswer {
  const data = document['metric_data'];
  if (!isJsonObject(data) || !Array.isArray(data['metrics'])) {
    throw notWhole(purpose, 'the answer has no metric_data.metrics');
  }
  checkWindow(data, query, wallMs, purpose);
  const byName = metricsByNameOf(data['metrics'], purpose);
  const unanswered: string[] = [];
  let windowEndMs: number | undefined;
  const values = query.series.map((series) => {
    const { metric } = series;
    const slice = timesliceOf(byName.get(metric), metric, purpose);
    const found = slice === undefined ? {} : sliceValues(slice, metric, purpose);
    if (Object.keys(found).length === 0) unanswered.push(metric);
    if (slice === undefined) return undefined;
    checkWindow(slice, query, wallMs, purpose);
    const value = seriesValueOf(found, series, onInvalid);
    if (value === undefined) return undefined;
    // If the ends ever differ, the earliest is the one that all values reach.
    windowEndMs = Math.min(windowEndMs ?? Infinity, endMsOf(slice, metric, query, purpose));
    return value;
  });
  const notFound = new Set<unknown>([data['metrics_not_found']].flat());
  return { values, windowEndMs, unanswered: unanswered.filter((one) => !notFound.has(one)) };
}

/**
 * In base units. `undefined` if there is no value, or if it says nothing: a time without calls, or memory of
 * 0 bytes, which nothing that runs takes.
 */
function seriesValueOf(
  values: JsonObject,
  { value: name, scale, gauge }: PolledSeries,
  onInvalid: InvalidSampleListener,
): number | undefined {
  const counter = countedBy[name];
  if (counter !== undefined && values[counter] === 0) return undefined;
  if (gauge.unit === 'bytes' && values[name] === 0) return undefined;
  const value = loggedSampleOf(values[name], onInvalid, {
    mayBeNegative: mayBeNegative(gauge.unit),
  });
  // The largest numbers are no longer finite in another unit.
  return value === undefined
    ? undefined
    : loggedSampleOf(inBaseUnit(name, value) * scale, onInvalid, { mayBeNegative: true });
}

const perSecond = 1000;
const percents = 100;
// A power of two: nothing is rounded.
const perMebibyte = 1 / (1024 * 1024);

/**
 * What a value of the REST API is to be divided by for the unit that `vendorValues` says. The quotient of
 * whole milliseconds has no odd last digits, unlike a product with 0.001.
 */
const divisors: Readonly<Partial<Record<ValueName, number>>> = {
  average_response_time: perSecond,
  average_call_time: perSecond,
  average_time: perSecond,
  min_response_time: perSecond,
  max_response_time: perSecond,
  standard_deviation: perSecond,
  average_exclusive_time: perSecond,
  total_time: perSecond,
  as_percentage: percents,
  percent: percents,
  time_percentage: percents,
  utilization: percents,
  used_mb_by_host: perMebibyte,
  total_used_mb: perMebibyte,
};

/** A value of the REST API in the unit that `vendorValues` says. */
export function inBaseUnit(name: ValueName, value: number): number {
  return value / (divisors[name] ?? 1);
}

function metricsByNameOf(
  metrics: readonly unknown[],
  purpose: RestPurpose,
): Map<string, JsonObject> {
  const byName = new Map<string, JsonObject>();
  for (const metric of metrics) {
    const name = isJsonObject(metric) ? metric['name'] : undefined;
    if (!isJsonObject(metric) || typeof name !== 'string') {
      throw notWhole(purpose, 'the answer has a metric without a name');
    }
    if (byName.has(name)) {
      throw notWhole(purpose, `the answer has two metrics called "${excerptOf(name)}"`);
    }
    byName.set(name, metric);
  }
  return byName;
}

/** The only slice of a summarized metric; `undefined` if the metric is absent or has no data. */
function timesliceOf(
  metric: JsonObject | undefined,
  name: string,
  purpose: RestPurpose,
): JsonObject | undefined {
  if (metric === undefined) return undefined;
  const slices: unknown = metric['timeslices'];
  if (!Array.isArray(slices)) {
    throw notWhole(purpose, `the metric ${name} has no timeslices`);
  }
  if (slices.length > 1) {
    const detail = `the metric ${name} has ${slices.length} timeslices although one was asked for`;
    throw notWhole(purpose, detail);
  }
  if (slices.length === 0) return undefined;
  const slice: unknown = slices[0];
  if (isJsonObject(slice)) return slice;
  throw notWhole(purpose, `the timeslice of the metric ${name} is not an object`);
}

/** With `"values":{}` the vendor says that a metric does not have the values. */
function sliceValues(slice: JsonObject, name: string, purpose: RestPurpose): JsonObject {
  const values = slice['values'];
  if (isJsonObject(values)) return values;
  throw notWhole(purpose, `the timeslice of the metric ${name} has no values`);
}

function endMsOf(
  slice: JsonObject,
  name: string,
  query: MetricQuery,
  purpose: RestPurpose,
): number {
  const endMs = windowEndMsOf(slice['to']) ?? query.window?.toMs;
  if (endMs !== undefined) return endMs;
  throw notWhole(purpose, `the timeslice of the metric ${name} does not say its end`);
}

/** New Relic writes ranges with the seconds of the request. No real answer is off by a whole minute. */
const mostMovedMs = minuteMs;

/**
 * Throws an `ApiError` if a document, or a slice of it, states another range with `from` and `to` than
 * was asked for, or one that cannot be read. A member that is absent says nothing. With its own window the vendor answers
 * for the last half hour. How late that may be is not known, so only what cannot be true is rejected.
 */
function checkWindow(
  stated: JsonObject,
  { window, series }: MetricQuery,
  wallMs: number,
  purpose: RestPurpose,
): void {
  const unreadable = (['from', 'to'] as const).find(
    (name) => stated[name] != null && epochMsOf(stated[name]) === undefined,
  );
  if (unreadable !== undefined) {
    const detail = `the answer does not say which window it is for: "${unreadable}" is no timestamp with a time zone`;
    throw notWhole(purpose, detail, staleCache);
  }
  const fromMs = epochMsOf(stated['from']);
  const toMs = windowEndMsOf(stated['to']);
  if (window === undefined) {
    if (toMs === undefined || Math.abs(toMs - wallMs) <= dayMs) return;
    const detail = `the answer is for a window that ends ${payloadText(toMs)}, more than a day from now`;
    throw notWhole(purpose, detail, `${staleCache}, and the clock`);
  }
  const needsLength = series.some(({ value }) => growsWithWindow(value));
  if (isAboutWindow({ fromMs, toMs }, window, { mostMovedMs, needsLength })) return;
  const asked = `${payloadText(window.fromMs)} to ${payloadText(window.toMs)}`;
  const answered = `${payloadText(fromMs)} to ${payloadText(toMs)}`;
  const detail = `the answer is for another window: asked for ${asked}, answered for ${answered}`;
  throw notWhole(purpose, detail, staleCache);
}

const staleCache =
  'Look for a cache or a proxy between here and New Relic that answers without regard to the query';

function payloadText(epochMs: number | undefined): string {
  return epochMs === undefined ? 'unknown' : new Date(epochMs).toISOString();
}
