import type { ApiError } from '../model/api-error.ts';
import type { TransactionType } from '../model/application.ts';
import type { Throughput } from '../model/snapshot.ts';
import type { TimeWindow } from '../model/window.ts';
import { type CallSubject, excerptOf, failureOf } from '../newrelic/answer.ts';
import {
  epochMsOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  sampleOf,
  windowEndMsOf,
} from '../newrelic/json.ts';
import { metricNames } from '../newrelic/metric-names.ts';

/** What is needed to read an answer. */
export interface ThroughputReading {
  readonly onInvalid: InvalidSampleListener;
  /** Wall time of the answer: the vendor's own window ends close to it. */
  readonly wallMs: number;
}

/**
 * The throughput in a metric data document. Metrics are found by name: their order does not matter,
 * and if one is absent or in `metrics_not_found`, its type merely has no value. Throws an
 * `ApiError` if the document does not have the shape of a summarized answer, or is for another
 * window.
 *
 * Written by hand, although the lists use schemas: there is one such answer per application and
 * host in every cycle, and a few member accesses cost a fraction of what a schema costs.
 */
export function throughputAnswerOf(
  document: JsonObject,
  query: ThroughputQuery,
  subject: CallSubject,
  { onInvalid, wallMs }: ThroughputReading,
): ThroughputAnswer {
  const { data, metrics } = metricDataOf(document, subject);
  const question = { window: query.window, wallMs };
  failIf(wrongWindow(data, question, subject));
  const byName = metricsByNameOf(metrics, subject);
  const throughput = new Map<TransactionType, number>();
  let windowEndMs: number | undefined;
  for (const type of query.transactions) {
    const name = metricNames[type];
    const slice = timesliceOf(byName.get(name), name, subject);
    if (slice === undefined) continue;
    failIf(wrongWindow(slice, question, subject));
    const value = valueOf(slice, name, subject, onInvalid);
    if (value === undefined) continue;
    throughput.set(type, value);
    // If the two ever differ, the earlier end is the one that both values reach.
    windowEndMs = Math.min(windowEndMs ?? Infinity, endMsOf(slice, name, query, subject));
  }
  return { throughput, windowEndMs };
}

function failIf(error: ApiError | undefined): void {
  if (error !== undefined) throw error;
}

interface MetricData {
  readonly data: JsonObject;
  readonly metrics: readonly unknown[];
}

function metricDataOf(document: JsonObject, subject: CallSubject): MetricData {
  const data = document['metric_data'];
  if (isJsonObject(data) && Array.isArray(data['metrics'])) {
    return { data, metrics: data['metrics'] };
  }
  throw failureOf(subject, 'schema', 'the answer has no metric_data.metrics');
}

function metricsByNameOf(
  metrics: readonly unknown[],
  subject: CallSubject,
): Map<string, JsonObject> {
  const byName = new Map<string, JsonObject>();
  for (const metric of metrics) {
    const name = isJsonObject(metric) ? metric['name'] : undefined;
    if (!isJsonObject(metric) || typeof name !== 'string') {
      throw failureOf(subject, 'schema', 'the answer has a metric without a name');
    }
    if (byName.has(name)) {
      throw failureOf(subject, 'schema', `the answer has two metrics called "${excerptOf(name)}"`);
    }
    byName.set(name, metric);
  }
  return byName;
}

/** The only slice of a summarized metric; `undefined` if the metric is absent or has no data. */
function timesliceOf(
  metric: JsonObject | undefined,
  name: string,
  subject: CallSubject,
): JsonObject | undefined {
  if (metric === undefined) return undefined;
  const slices: unknown = metric['timeslices'];
  if (!Array.isArray(slices)) {
    throw failureOf(subject, 'schema', `the metric ${name} has no timeslices`);
  }
  if (slices.length > 1) {
    const detail = `the metric ${name} has ${slices.length} timeslices although one was asked for`;
    throw failureOf(subject, 'schema', detail);
  }
  if (slices.length === 0) return undefined;
  const slice: unknown = slices[0];
  if (isJsonObject(slice)) return slice;
  throw failureOf(subject, 'schema', `the timeslice of the metric ${name} is not an object`);
}

/** With `"values":{}` the vendor says that a metric does not have the value. */
function valueOf(
  slice: JsonObject,
  name: string,
  subject: CallSubject,
  onInvalid: InvalidSampleListener,
): number | undefined {
  const values = slice['values'];
  if (isJsonObject(values)) return sampleOf(values[throughputValue], onInvalid);
  throw failureOf(subject, 'schema', `the timeslice of the metric ${name} has no values`);
}

function endMsOf(
  slice: JsonObject,
  name: string,
  query: ThroughputQuery,
  subject: CallSubject,
): number {
  const endMs = windowEndMsOf(slice['to']) ?? query.window?.toMs;
  if (endMs !== undefined) return endMs;
  throw failureOf(subject, 'schema', `the timeslice of the metric ${name} does not say its end`);
}

/** The value to read of both metrics: the calls in the window divided by its minutes. */
export const throughputValue = 'requests_per_minute';

// The vendor writes the end of a summarized range as `:00` or as the second before, and the range
// of the document with the seconds of the request. No real answer is off by a whole minute.
const toleranceMs = 60_000;

// With its own window the vendor answers for the last half hour. How late that may be is not known,
// so only what cannot be true is rejected.
const dayMs = 24 * 3_600_000;

/** What to compare the window of an answer with. */
export interface WindowQuestion {
  /** `undefined`: the vendor's own window. */
  readonly window: TimeWindow | undefined;
  readonly wallMs: number;
}

/**
 * The error if a document, or a slice of it, states another range with `from` and `to` than was
 * asked for; else `undefined`. A member that is absent or not a timestamp says nothing.
 */
function wrongWindow(
  stated: JsonObject,
  { window, wallMs }: WindowQuestion,
  subject: CallSubject,
): ApiError | undefined {
  const fromMs = epochMsOf(stated['from']);
  const toMs = epochMsOf(stated['to']);
  if (window === undefined) {
    if (!isOff(toMs, wallMs, dayMs)) return undefined;
    const detail = `the answer is for a window that ends ${textOf(toMs)}, more than a day from now`;
    return failureOf(subject, 'schema', detail, { remedy: `${staleCache}, and the clock` });
  }
  if (!isOff(fromMs, window.fromMs, toleranceMs) && !isOff(toMs, window.toMs, toleranceMs)) {
    return undefined;
  }
  const asked = `${textOf(window.fromMs)} to ${textOf(window.toMs)}`;
  const answered = `${textOf(fromMs)} to ${textOf(toMs)}`;
  const detail = `the answer is for another window: asked for ${asked}, answered for ${answered}`;
  return failureOf(subject, 'schema', detail, { remedy: staleCache });
}

const staleCache =
  'Look for a cache or a proxy between here and New Relic that answers without regard to the query';

function isOff(statedMs: number | undefined, rightMs: number, toleratedMs: number): boolean {
  return statedMs !== undefined && Math.abs(statedMs - rightMs) > toleratedMs;
}

function textOf(epochMs: number | undefined): string {
  return epochMs === undefined ? 'unknown' : new Date(epochMs).toISOString();
}

/** The answer for one application, or for one of its hosts. */
export interface ThroughputAnswer {
  readonly throughput: Throughput;
  /** End of the averaged range as the answer states it; `undefined` if the answer has no data. */
  readonly windowEndMs: number | undefined;
}

/** What to ask for, of an application and of each of its hosts alike. */
export interface ThroughputQuery {
  /** `undefined`: the vendor's own window. */
  readonly window: TimeWindow | undefined;
  readonly transactions: readonly TransactionType[];
  readonly raw: boolean;
}
