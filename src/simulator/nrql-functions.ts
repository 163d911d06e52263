import { timesliceValue } from './nrql-attributes.ts';
import { apdexOfRows, percentileOf } from './nrql-distribution.ts';
import type { NrqlAggregate, NrqlAggregateCall, NrqlValue } from './nrql-query.ts';
import type { NrqlRow } from './nrql-rows.ts';
import { termOf } from './nrql-terms.ts';
import {
  averageOf,
  deviationOf,
  emptyTimeslice,
  evenTimeslice,
  merged,
  type Timeslice,
} from './timeslice.ts';

/** A number, what a function of an attribute gives, or null where there is nothing. */
export type NrqlCell = NrqlValue | readonly NrqlValue[] | Readonly<Record<string, NrqlValue>>;

type Rows = readonly NrqlRow[];
type Slices = readonly Timeslice[];

const defaultUniques = 1000;

function total(rows: Rows, of: (row: NrqlRow) => number): number {
  let sum = 0;
  for (const row of rows) sum += of(row);
  return sum;
}

/** What the function is of. */
function valueOf({ attribute, term }: NrqlAggregateCall): (row: NrqlRow) => NrqlValue {
  return term === undefined ? (row) => row.attribute(attribute) : termOf(term);
}

function uniquesOf(rows: Rows, call: NrqlAggregateCall): readonly (string | number)[] {
  const values = rows.map(valueOf(call)).filter((value) => value !== null);
  return [...new Set(values)];
}

/** `count` of a timeslice counts its calls; of `*` and of all other attributes it counts records. */
function counted(rows: Rows, call: NrqlAggregateCall): number {
  if (call.attribute === timesliceValue) return total(rows, (row) => row.timeslice().count);
  const of = valueOf(call);
  const having = rows.filter((row) => call.attribute === '*' || of(row) !== null);
  return total(having, (row) => row.records());
}

/** Those of the attributes that have a spread, or as many equal values as a row has records. */
function slicesOf(rows: Rows, call: NrqlAggregateCall): Slices {
  if (hasSpread(call)) return rows.map((row) => row.timeslice());
  const of = valueOf(call);
  return rows.flatMap((row) => {
    const value = of(row);
    return typeof value === 'number' ? [evenTimeslice(row.records(), value)] : [];
  });
}

function hasSpread({ attribute, term }: NrqlAggregateCall): boolean {
  return term === undefined && (attribute === timesliceValue || attribute === 'duration');
}

function together(slices: Slices): Timeslice {
  const [first] = slices;
  if (first !== undefined && slices.length === 1) return first;
  return slices.reduce(merged, emptyTimeslice);
}

function ofCalls(slices: Slices, of: (slice: Timeslice) => number): NrqlCell {
  const slice = together(slices);
  return slice.count === 0 ? null : of(slice);
}

function finite(value: number): NrqlCell {
  return Number.isFinite(value) ? value : null;
}

function percentilesOf(slices: Slices, percentages: readonly number[]): NrqlCell {
  return Object.fromEntries(percentages.map((one) => [String(one), percentileOf(slices, one)]));
}

type Calculation = (slices: Slices, call: NrqlAggregateCall) => NrqlCell;

/** Of numbers: of times, in seconds. */
const calculations: ReadonlyMap<NrqlAggregate, Calculation> = new Map<NrqlAggregate, Calculation>([
  ['sum', (slices) => slices.reduce((sum, slice) => sum + slice.total, 0)],
  ['average', (slices) => ofCalls(slices, averageOf)],
  ['min', (slices) => finite(together(slices).min)],
  ['max', (slices) => finite(together(slices).max)],
  ['stddev', (slices) => ofCalls(slices, deviationOf)],
  ['percentile', (slices, { numbers = [95] }) => percentilesOf(slices, numbers)],
  ['median', (slices) => percentilesOf(slices, [50])],
  ['apdex', (slices, { numbers: [threshold = 0.5] = [] }) => apdexOfRows(slices, threshold)],
]);

function latest(rows: Rows, call: NrqlAggregateCall): NrqlCell {
  const last = rows.at(-1);
  return last === undefined ? null : valueOf(call)(last);
}

type Reading = (rows: Rows, call: NrqlAggregateCall) => NrqlCell;

/** Of any values. */
const readings: ReadonlyMap<NrqlAggregate, Reading> = new Map<NrqlAggregate, Reading>([
  ['count', counted],
  ['uniques', (rows, call) => uniquesOf(rows, call).slice(0, call.limit ?? defaultUniques)],
  ['uniqueCount', (rows, call) => uniquesOf(rows, call).length],
  ['latest', latest],
]);

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

/** What a function finds in rows. */
export function nrqlCellOf(call: NrqlAggregateCall, rows: Rows): NrqlCell {
  if (call.field !== undefined) return ofField(rows, call, call.field);
  const read = readings.get(call.name);
  if (read !== undefined) return read(rows, call);
  const slices = slicesOf(rows, call);
  const isOfNumbers = slices.length > 0 || hasSpread(call);
  return isOfNumbers ? (calculations.get(call.name)?.(slices, call) ?? null) : null;
}
