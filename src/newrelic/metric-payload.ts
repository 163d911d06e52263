import type { ApiError } from '../model/api-error.ts';
import type { TransactionType } from '../model/application.ts';
import type { Throughput } from '../model/snapshot.ts';
import type { TimeWindow } from '../model/window.ts';
import { type CallSubject, excerptOf, failureOf } from './answer.ts';
import {
  epochMsOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  sampleOf,
  windowEndMsOf,
} from './json.ts';

/** What goes with the reading of an answer. */
export interface ThroughputReading {
  readonly onInvalid: InvalidSampleListener;
  /** Wall time of the answer: the vendor's own window ends near it. */
  readonly wallMs: number;
}

/**
 * The throughput in a metric data document. Metrics are found by name: their order, their absence
 * and `metrics_not_found` mean nothing else than that a type has no value. Throws an `ApiError` when
 * the document has another shape than a summarized answer, or is for another window.
 *
 * Written by hand where the lists use schemas: there is one such answer per application and host in
 * every cycle, and a few member accesses cost a fraction of a schema's run.
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
    // Should the two ever differ, the earlier end is the one that both values reach.
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

/** The one slice of a summarized metric; none when the metric is absent or has no data. */
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

/** `"values":{}` is the vendor's way to say that a metric lacks the value. */
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

/** The vendor's names of the two throughput metrics. */
export const metricNames: Readonly<Record<TransactionType, string>> = {
  web: 'HttpDispatcher',
  other: 'OtherTransaction/all',
};

/** The value read of both metrics: calls in the window divided by its minutes. */
export const throughputValue = 'requests_per_minute';

// The end of a summarized range is written as `:00` or as the second before it, and the range of the
// document with the seconds of the question: a whole minute is more than any real answer is off.
const toleranceMs = 60_000;

// With its own window the vendor answers for the last half hour. Nothing else is known of how late
// it may be, so that only what cannot be true is refused.
const dayMs = 24 * 3_600_000;

/** What the window of an answer is compared with. */
export interface WindowQuestion {
  /** `undefined`: the vendor's own window. */
  readonly window: TimeWindow | undefined;
  readonly wallMs: number;
}

/**
 * Why the range that a document or a slice of it states with `from` and `to` is not the one that was
 * asked for; `undefined` when it is. A member that is absent or no timestamp says nothing.
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
  'Look for a cache or a proxy between here and the vendor that answers without regard to the query';

function isOff(statedMs: number | undefined, rightMs: number, toleratedMs: number): boolean {
  return statedMs !== undefined && Math.abs(statedMs - rightMs) > toleratedMs;
}

function textOf(epochMs: number | undefined): string {
  return epochMs === undefined ? 'unknown' : new Date(epochMs).toISOString();
}

/** One answer for one application or one host of it. */
export interface ThroughputAnswer {
  readonly throughput: Throughput;
  /** End of the averaged range as the answer states it; `undefined` if it holds no data. */
  readonly windowEndMs: number | undefined;
}

/** The question put for one application and for each of its hosts. */
export interface ThroughputQuery {
  /** `undefined`: the vendor's own window. */
  readonly window: TimeWindow | undefined;
  readonly transactions: readonly TransactionType[];
  readonly raw: boolean;
}
