import { timesliceValue } from './nrql-reader.ts';
import type { NrqlRow, NrqlValue } from './nrql-row.ts';
import {
  averageOf,
  deviationOf,
  emptyTimeslice,
  evenTimeslice,
  merged,
  type Timeslice,
} from './timeslice.ts';

export const aggregateNames = [
  'count',
  'average',
  'sum',
  'min',
  'max',
  'stddev',
  'uniques',
  'uniqueCount',
  'latest',
  'percentile',
  'apdex',
  'histogram',
] as const;

export type NrqlAggregate = (typeof aggregateNames)[number];

/** A number, what a function of an attribute gives, or null where there is nothing. */
export type NrqlCell = NrqlValue | readonly NrqlValue[] | Readonly<Record<string, NrqlValue>>;

/** A value that each row has, or that is worked out of it. */
export type NrqlTerm = (row: NrqlRow) => NrqlValue;

/** A function of an attribute, which may be `*`, or of a term. */
export interface NrqlAggregateCall {
  readonly name: NrqlAggregate;
  /** What it is of, as it is written. */
  readonly of: string;
  readonly valueOf: NrqlTerm;
  /** A field of the attribute `newrelic.timeslice.value`: only for `sum` and `average`. */
  readonly field: keyof Timeslice | undefined;
  /** Of `average`: the field that it is divided by. */
  readonly divisor: keyof Timeslice | undefined;
  /**
   * Of `percentile`: which; of `apdex`: the threshold in seconds; of `uniques`: how many at most; of `histogram`: its
   * end and the number of its bars.
   */
  readonly numbers: readonly number[];
}

type Rows = readonly NrqlRow[];
type Slices = readonly Timeslice[];

/** What a function finds in rows. */
export function nrqlCellOf(call: NrqlAggregateCall, rows: Rows): NrqlCell {
  if (call.field !== undefined) return ofField(rows, call, call.field);
  if (call.name === 'count') return counted(rows, call);
  if (call.name === 'uniques')
    return uniquesOf(rows, call).slice(0, call.numbers[0] ?? defaultUniques);
  if (call.name === 'uniqueCount') return uniquesOf(rows, call).length;
  if (call.name === 'latest') {
    const last = rows.at(-1);
    return last === undefined ? null : call.valueOf(last);
  }
  const slices = slicesOf(rows, call);
  return slices.length > 0 || hasSpread(call) ? calculated(call, slices) : null;
}

const defaultUniques = 1000;

function total(rows: Rows, of: (row: NrqlRow) => number): number {
  let sum = 0;
  for (const row of rows) sum += of(row);
  return sum;
}

function uniquesOf(rows: Rows, { valueOf }: NrqlAggregateCall): readonly (string | number)[] {
  return [...new Set(rows.map(valueOf).filter((value) => value !== null))];
}

/** `count` of a timeslice counts its calls; of `*` and of all other attributes it counts records. */
function counted(rows: Rows, { of, valueOf }: NrqlAggregateCall): number {
  if (of === timesliceValue) return total(rows, (row) => row.timeslice().count);
  const having = rows.filter((row) => of === '*' || valueOf(row) !== null);
  return total(having, (row) => row.records());
}

function hasSpread({ of }: NrqlAggregateCall): boolean {
  return of === timesliceValue || of === 'duration';
}

/** Those of the attributes that have a spread, or as many equal values as a row has records. */
function slicesOf(rows: Rows, call: NrqlAggregateCall): Slices {
  if (hasSpread(call)) return rows.map((row) => row.timeslice());
  return rows.flatMap((row) => {
    const value = call.valueOf(row);
    return typeof value === 'number' ? [evenTimeslice(row.records(), value)] : [];
  });
}

function together(slices: Slices): Timeslice {
  const [first] = slices;
  if (first !== undefined && slices.length === 1) return first;
  return slices.reduce(merged, emptyTimeslice);
}

/** Of numbers: of times, in seconds. */
function calculated({ name, numbers }: NrqlAggregateCall, slices: Slices): NrqlCell {
  const slice = together(slices);
  if (name === 'sum') return slice.total;
  if (name === 'min' || name === 'max') return Number.isFinite(slice[name]) ? slice[name] : null;
  if (name === 'apdex') return apdexOf(slices, numbers[0]);
  if (name === 'histogram') return histogramOf(callsOf(slices), numbers[0], numbers[1]);
  if (name === 'average' || name === 'stddev') {
    const of = name === 'average' ? averageOf : deviationOf;
    return slice.count === 0 ? null : of(slice);
  }
  return percentilesOf(slices, numbers.length > 0 ? numbers : [95]);
}

function percentilesOf(slices: Slices, percentages: readonly number[]): NrqlCell {
  return Object.fromEntries(percentages.map((one) => [String(one), percentileOf(slices, one)]));
}

/** The sum of one field of the timeslices; or its average by record, or by another field. */
function ofField(
  rows: Rows,
  { name, divisor }: NrqlAggregateCall,
  field: keyof Timeslice,
): NrqlCell {
  const slice = together(rows.map((row) => row.timeslice()));
  if (name === 'sum') return slice[field];
  const by = divisor === undefined ? total(rows, (row) => row.records()) : slice[divisor];
  return by === 0 ? null : slice[field] / by;
}

/** How many calls have such a mean duration, in seconds. */
interface Calls {
  readonly count: number;
  readonly mean: number;
}

function callsOf(slices: Slices): readonly Calls[] {
  return slices
    .map((slice) => ({ count: slice.count, mean: averageOf(slice) }))
    .filter(({ count, mean }) => count > 0 && mean > 0);
}

/** The calls that take longer than that: durations are spread exponentially around each mean. */
function longerThan(calls: readonly Calls[], seconds: number): number {
  return calls.reduce((sum, { count, mean }) => sum + count * Math.exp(-seconds / mean), 0);
}

/** How many calls each bar has, by where it begins. */
function histogramOf(calls: readonly Calls[], end = 10, bars = 10): NrqlCell {
  const counts = Array.from({ length: bars }, (_, index) => {
    const [from, to] = [(index * end) / bars, ((index + 1) * end) / bars];
    return [String(from), Math.round(longerThan(calls, from) - longerThan(calls, to))] as const;
  });
  return Object.fromEntries(counts);
}

/** The duration that this share of all calls does not exceed; `null` without calls. */
function percentileOf(slices: Slices, percentage: number): number | null {
  const calls = callsOf(slices);
  const all = calls.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return null;
  const wanted = Math.max(all * (1 - percentage / 100), all * 1e-6);
  let [low, high] = [0, 20 * Math.max(...calls.map(({ mean }) => mean))];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (longerThan(calls, middle) > wanted) low = middle;
    else high = middle;
  }
  return high;
}

/** The Apdex of these calls: `t` is its threshold in seconds. `null` without calls. */
function apdexOf(slices: Slices, t = 0.5): NrqlCell {
  const calls = callsOf(slices);
  const count = calls.reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return null;
  const frustrated = longerThan(calls, 4 * t);
  const tolerating = longerThan(calls, t) - frustrated;
  const satisfied = count - tolerating - frustrated;
  const score = (satisfied + tolerating / 2) / count;
  return { count, s: satisfied, t: tolerating, f: frustrated, score };
}
