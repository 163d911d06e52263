import type { VendorMetric } from '../../model/presets.ts';
import { isRated, type ValueName } from '../../model/vendor-value.ts';

/** What NRQL can calculate of the timeslices of a metric. Times are in seconds. */
export const functionTexts = {
  count: 'count(newrelic.timeslice.value)',
  sum: 'sum(newrelic.timeslice.value)',
  average: 'average(newrelic.timeslice.value)',
  min: 'min(newrelic.timeslice.value)',
  max: 'max(newrelic.timeslice.value)',
  stddev: 'stddev(newrelic.timeslice.value)',
  exclusive_sum: "sum(newrelic.timeslice.value['totalExclusive'])",
  exclusive_average:
    "average(newrelic.timeslice.value['totalExclusive'] / newrelic.timeslice.value['count'])",
} as const;

export type TimesliceFunction = keyof typeof functionTexts;

/** What a function gave: `null` where nothing was recorded, `undefined` where it cannot be read. */
export type Cell = number | null | undefined;

/** How one value of the REST API is calculated from functions of NRQL. */
export interface NrqlExpression {
  readonly functions: readonly TimesliceFunction[];
  /**
   * Whether it is an amount: 0 then means that nothing was recorded, which is as true of a metric that
   * does not exist.
   */
  readonly isAmount: boolean;
  /**
   * In the unit of `vendorValues`; `undefined` if there is none.
   *
   * @param cells one for each of `functions`
   * @param seconds length of the window
   */
  readonly valueOf: (cells: readonly Cell[], seconds: number) => number | undefined;
}

/** All in the window together, or so much in each `perSeconds` of it. */
function amount(of: TimesliceFunction, perSeconds?: number, factor = 1): NrqlExpression {
  return {
    functions: [of],
    isAmount: true,
    valueOf: ([cell], seconds) => {
      if (cell === undefined) return undefined;
      const all = (cell ?? 0) * factor;
      return perSeconds === undefined ? all : all / (seconds / perSeconds);
    },
  };
}

/** A property of what was recorded. */
function level(of: TimesliceFunction, factor = 1): NrqlExpression {
  return {
    functions: [of],
    isAmount: false,
    valueOf: ([cell]) => (typeof cell === 'number' ? cell * factor : undefined),
  };
}

/**
 * A property of the calls. Without any it would be an invented time: New Relic documents null for that,
 * but the count is nearly always asked for anyway.
 */
function ofCalls(of: TimesliceFunction): NrqlExpression {
  return {
    functions: [of, 'count'],
    isAmount: false,
    valueOf: ([cell, count]) => ((count ?? 0) > 0 ? (cell ?? undefined) : undefined),
  };
}

/**
 * The timeslice of an Apdex has the satisfied requests as its count, the tolerating ones as its sum and
 * the frustrated ones as its exclusive sum.
 */
const apdexParts = ['count', 'sum', 'exclusive_sum'] as const;

const apdexValue: NrqlExpression = {
  functions: apdexParts,
  isAmount: false,
  valueOf: (cells) => {
    const rated = ratedRequests(cells);
    const [satisfied, tolerating] = cells;
    return rated > 0 ? ((satisfied ?? 0) + (tolerating ?? 0) / 2) / rated : undefined;
  },
};

const apdexCount: NrqlExpression = {
  functions: apdexParts,
  isAmount: true,
  valueOf: (cells) => (cells.includes(undefined) ? undefined : ratedRequests(cells)),
};

/** `NaN` if a part cannot be read. */
function ratedRequests(cells: readonly Cell[]): number {
  return cells.reduce((sum: number, cell) => sum + (cell === null ? 0 : (cell ?? Number.NaN)), 0);
}

const second = 1;
const minute = 60;
const mebibyte = 1024 * 1024;

const rateOfCalls = amount('count', minute);
const calls = amount('count');
const busySeconds = amount('sum', second);

const nrqlValues: Readonly<Record<ValueName, NrqlExpression>> = {
  requests_per_minute: rateOfCalls,
  calls_per_minute: rateOfCalls,
  errors_per_minute: rateOfCalls,
  throughput: amount('count', second),
  call_count: calls,
  count: calls,
  error_count: calls,
  launch_count: calls,
  average_response_time: ofCalls('average'),
  average_call_time: ofCalls('average'),
  average_time: ofCalls('average'),
  min_response_time: ofCalls('min'),
  max_response_time: ofCalls('max'),
  standard_deviation: ofCalls('stddev'),
  average_exclusive_time: ofCalls('exclusive_average'),
  total_time: amount('sum'),
  total_call_time_per_minute: amount('sum', minute),
  average_value: level('average'),
  min_value: level('min'),
  max_value: level('max'),
  total_value: amount('sum'),
  rate: amount('sum', second),
  as_percentage: level('average'),
  percent: level('average'),
  time_percentage: busySeconds,
  utilization: busySeconds,
  used_bytes_by_host: level('average', mebibyte),
  used_mb_by_host: level('average', mebibyte),
  total_used_mb: amount('sum', undefined, mebibyte),
  sessions_active: level('average'),
  score: apdexValue,
  s: amount('count'),
  t: amount('sum'),
  f: amount('exclusive_sum'),
  threshold: level('max'),
  threshold_min: level('min'),
};

/** How a value of a metric is read with NRQL, as New Relic's guide for leaving the REST API says. */
export function nrqlValueOf({ metric, value }: VendorMetric): NrqlExpression {
  if (value === 'percent' && metric === 'CPU/User Time') return busySeconds;
  if (value === 'count' && isRated(metric)) return apdexCount;
  return nrqlValues[value];
}
