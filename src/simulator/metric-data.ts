import { minuteMs } from '../model/time.ts';
import type { SimulatedMetric } from './metric-catalogue.ts';
import { isCount, valuesOfMetric } from './metric-values.ts';
import { formatTimestamp, type Slice, slicesOf, type TimeRange } from './time-range.ts';
import type { Timeslice } from './timeslice.ts';

/** The values of one slice, by the vendor's names. */
export type MetricValues = Readonly<Record<string, number>>;

export interface ShownTimeslice {
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
      readonly timeslices: readonly ShownTimeslice[];
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
  /** `undefined` for a metric that is not found for the range. */
  found(name: string, range: Slice): SimulatedMetric | undefined;
  /** The data of a slice; `values` are those that are wanted of it. */
  timeslice(metric: SimulatedMetric, slice: Slice, values: readonly string[]): Timeslice;
}

const significantDigits = 3;

/** The vendor rounds nearly all numbers to three significant digits. */
export function rounded(value: number): number {
  return Number(value.toPrecision(significantDigits));
}

function chosenValues(values: MetricValues, request: MetricDataRequest): MetricValues {
  const wanted = Object.entries(values).filter(
    ([name]) => request.values.length === 0 || request.values.includes(name),
  );
  return Object.fromEntries(
    wanted.map(([name, value]) => [name, request.raw || isCount(name) ? value : rounded(value)]),
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
  const metrics = names.flatMap((name) => subject.found(name, range) ?? []);
  const found = metrics.map(({ name }) => name);

  const timeslice = (metric: SimulatedMetric, slice: Slice): ShownTimeslice => {
    const data = subject.timeslice(metric, slice, request.values);
    const values = valuesOfMetric(metric.kind, data, (slice.toMs - slice.fromMs) / minuteMs);
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
      metrics: metrics.map((metric) => ({
        name: metric.name,
        timeslices: slices.map((slice) => timeslice(metric, slice)),
      })),
    },
  };
}
