import { formatTimestamp, type Slice, slicesOf, type TimeRange } from './time-range.ts';

/** The values of one slice, by the vendor's names. */
export type MetricValues = Readonly<Record<string, number>>;

export interface Timeslice {
  readonly from: string;
  readonly to: string;
  readonly values: MetricValues;
}

/** The answer of both endpoints for metric data. */
export interface MetricDataDocument {
  readonly metric_data: {
    readonly from: string;
    readonly to: string;
    readonly metrics_not_found: readonly string[];
    readonly metrics_found: readonly string[];
    readonly metrics: readonly {
      readonly name: string;
      readonly timeslices: readonly Timeslice[];
    }[];
  };
}

export interface MetricDataRequest {
  readonly range: TimeRange;
  readonly nowMs: number;
  readonly names: readonly string[];
  /** The names of the requested values; empty means all of them. */
  readonly values: readonly string[];
  readonly summarize: boolean;
  /** Whether to leave the numbers unrounded. */
  readonly raw: boolean;
}

/** The application or the host of a request. */
export interface MetricSubject {
  readonly responseTimeMs: number;
  /** Whether the name is found for the range. */
  found(name: string, fromMs: number, toMs: number): boolean;
  count(name: string, fromMs: number, toMs: number): number;
}

const minuteMs = 60_000;
const significantDigits = 3;

/** The vendor rounds nearly all numbers to three significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(significantDigits));
}

/** The eleven values of a metric that counts and times calls. */
function allValues(callCount: number, lengthMs: number, responseTimeMs: number): MetricValues {
  const perMinute = callCount / (lengthMs / minuteMs);
  const timeMs = callCount === 0 ? 0 : responseTimeMs;
  return {
    average_response_time: timeMs,
    calls_per_minute: perMinute,
    call_count: callCount,
    min_response_time: timeMs / 97,
    max_response_time: timeMs * 23.7,
    average_exclusive_time: 0,
    average_value: timeMs / 1000,
    total_call_time_per_minute: (perMinute * timeMs) / 1000,
    requests_per_minute: perMinute,
    standard_deviation: timeMs * 1.9,
    average_call_time: timeMs,
  };
}

function chosenValues(values: MetricValues, request: MetricDataRequest): MetricValues {
  const wanted = Object.entries(values).filter(
    ([name]) => request.values.length === 0 || request.values.includes(name),
  );
  // The count is exact, although the rates made from it are rounded.
  return Object.fromEntries(
    wanted.map(([name, value]) => [
      name,
      request.raw || name === 'call_count' ? value : rounded(value),
    ]),
  );
}

/** A summary of the default range ends one second early, as observed. */
function shownEndMs(slice: Slice, request: MetricDataRequest): number {
  return request.summarize && !request.range.explicit ? slice.toMs - 1000 : slice.toMs;
}

export function metricDataDocument(
  request: MetricDataRequest,
  subject: MetricSubject,
): MetricDataDocument {
  const { range } = request;
  const slices: readonly Slice[] = request.summarize ? [range] : slicesOf(range, request.nowMs);
  const names = [...new Set(request.names)];
  const isFound = (name: string): boolean => subject.found(name, range.fromMs, range.toMs);
  const found = names.filter((name) => isFound(name));

  const timeslice = (name: string, slice: Slice): Timeslice => {
    const count = subject.count(name, slice.fromMs, slice.toMs);
    const values = allValues(count, slice.toMs - slice.fromMs, subject.responseTimeMs);
    return {
      from: formatTimestamp(slice.fromMs),
      to: formatTimestamp(shownEndMs(slice, request)),
      values: chosenValues(values, request),
    };
  };

  return {
    metric_data: {
      from: formatTimestamp(range.requestedFromMs),
      to: formatTimestamp(range.requestedToMs),
      metrics_not_found: names.filter((name) => !found.includes(name)),
      metrics_found: found,
      metrics: found.map((name) => ({
        name,
        timeslices: slices.map((slice) => timeslice(name, slice)),
      })),
    },
  };
}
