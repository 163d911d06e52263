import { own } from '../model/own.ts';
import type { MetricKind } from './metric-catalogue.ts';
import { averageOf, deviationOf, type Timeslice } from './timeslice.ts';

/** What a value is in a window of so many minutes. Without data it is 0, as with the vendor. */
type Formula = (slice: Timeslice, minutes: number) => number;

const perMinute: Formula = ({ count }, minutes) => count / minutes;
const count: Formula = (slice) => slice.count;
const milliseconds: Formula = (slice) => averageOf(slice) * 1000;
const least: Formula = ({ min }) => (Number.isFinite(min) ? min : 0);
const most: Formula = ({ max }) => (Number.isFinite(max) ? max : 0);

/** The eleven values of a metric that counts and times calls. */
const calls: Readonly<Record<string, Formula>> = {
  average_response_time: milliseconds,
  calls_per_minute: perMinute,
  call_count: count,
  min_response_time: (slice, minutes) => 1000 * least(slice, minutes),
  max_response_time: (slice, minutes) => 1000 * most(slice, minutes),
  average_exclusive_time: (slice) =>
    slice.count === 0 ? 0 : (1000 * slice.totalExclusive) / slice.count,
  average_value: averageOf,
  total_call_time_per_minute: ({ total }, minutes) => total / minutes,
  requests_per_minute: perMinute,
  standard_deviation: (slice) => 1000 * deviationOf(slice),
  average_call_time: milliseconds,
};

const levels: Readonly<Record<string, Formula>> = {
  average_value: averageOf,
  min_value: least,
  max_value: most,
  total_value: ({ total }) => total,
};

/** The requests that an Apdex counts are in three members: see `timeslices.ts`. */
const rated: Formula = (slice) => slice.count + slice.total + slice.totalExclusive;
const score: Formula = (slice, minutes) =>
  (slice.count + slice.total / 2) / (rated(slice, minutes) || 1);

const formulas: Readonly<Record<MetricKind, Readonly<Record<string, Formula>>>> = {
  calls,
  errors: { errors_per_minute: perMinute, error_count: count },
  apdex: {
    score,
    s: count,
    t: ({ total }) => total,
    f: ({ totalExclusive }) => totalExclusive,
    count: rated,
    value: score,
    threshold: most,
    threshold_min: least,
  },
  memory: {
    used_bytes_by_host: (slice) => averageOf(slice) * 1_048_576,
    used_mb_by_host: averageOf,
    total_used_mb: ({ total }) => total,
    ...levels,
  },
  cpu_time: { percent: ({ total }, minutes) => (100 * total) / (60 * minutes), ...levels },
  utilization: { percent: (slice) => 100 * averageOf(slice), ...levels },
  recorded: {
    ...levels,
    count,
    call_count: count,
    requests_per_minute: perMinute,
    rate: ({ total }, minutes) => total / (60 * minutes),
  },
};

/** The vendor's names of all values of a metric. */
export function valueNamesOf(kind: MetricKind): readonly string[] {
  return Object.keys(formulas[kind]);
}

/** All values of a metric by the vendor's names, unrounded. */
export function valuesOfMetric(
  kind: MetricKind,
  slice: Timeslice,
  minutes: number,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(formulas[kind]).map(([name, formula]) => [name, formula(slice, minutes)]),
  );
}

const counts: ReadonlySet<string> = new Set(['call_count', 'error_count', 'count', 's', 't', 'f']);

/** Whether a value counts something: it is exact, although the rates made from it are rounded. */
export function isCount(name: string): boolean {
  return counts.has(name);
}

/** Whether a value of calls needs no more than their number. */
export function needsOnlyCount(name: string): boolean {
  const formula = own(formulas.calls, name);
  return formula === perMinute || formula === count;
}
