import { timesliceValue } from './nrql-attributes.ts';
import { apdexOfRows, percentileOf } from './nrql-distribution.ts';
import type { NrqlAggregate, NrqlAggregateCall, NrqlValue } from './nrql-query.ts';
import type { NrqlRow } from './nrql-rows.ts';
import { averageOf, deviationOf, emptyTimeslice, merged, type Timeslice } from './timeslice.ts';

/** A number, what a function of an attribute gives, or null where there is nothing. */
export type NrqlCell = NrqlValue | readonly NrqlValue[] | Readonly<Record<string, NrqlValue>>;

type Rows = readonly NrqlRow[];

const defaultUniques = 1000;

function total(rows: Rows, of: (row: NrqlRow) => number): number {
  let sum = 0;
  for (const row of rows) sum += of(row);
  return sum;
}

function uniquesOf(rows: Rows, attribute: string): readonly (string | number)[] {
  const values = rows.map((row) => row.attribute(attribute)).filter((value) => value !== null);
  return [...new Set(values)];
}

/** `count` of a timeslice counts its calls; of `*` and of all other attributes it counts records. */
function counted(rows: Rows, attribute: string): number {
  if (attribute === timesliceValue) return total(rows, (row) => row.timeslice().count);
  const having = rows.filter((row) => attribute === '*' || row.attribute(attribute) !== null);
  return total(having, (row) => row.records());
}

function together(rows: Rows): Timeslice {
  const [first] = rows;
  if (first !== undefined && rows.length === 1) return first.timeslice();
  return rows.reduce((all, row) => merged(all, row.timeslice()), emptyTimeslice);
}

function ofCalls(rows: Rows, of: (slice: Timeslice) => number): NrqlCell {
  const slice = together(rows);
  return slice.count === 0 ? null : of(slice);
}

function finite(value: number): NrqlCell {
  return Number.isFinite(value) ? value : null;
}

/** `average`, `sum`, `min`, `max` and `stddev` are those of the timeslices: of times, in seconds. */
const functions: Readonly<
  Record<NrqlAggregate, (rows: Rows, call: NrqlAggregateCall) => NrqlCell>
> = {
  count: (rows, { attribute }) => counted(rows, attribute),
  sum: (rows) => total(rows, (row) => row.timeslice().total),
  average: (rows) => ofCalls(rows, averageOf),
  min: (rows) => finite(together(rows).min),
  max: (rows) => finite(together(rows).max),
  stddev: (rows) => ofCalls(rows, deviationOf),
  uniques: (rows, { attribute, limit = defaultUniques }) =>
    uniquesOf(rows, attribute).slice(0, limit),
  uniqueCount: (rows, { attribute }) => uniquesOf(rows, attribute).length,
  percentile: (rows, { numbers = [] }) =>
    Object.fromEntries(numbers.map((one) => [String(one), percentileOf(rows, one)])),
  apdex: (rows, { numbers: [threshold = 0.5] = [] }) => apdexOfRows(rows, threshold),
  latest: (rows, { attribute }) => rows.at(-1)?.attribute(attribute) ?? null,
};

/** The sum of one field of the timeslices; or its average by record, or by another field. */
function ofField(
  rows: Rows,
  { name, divisor }: NrqlAggregateCall,
  field: keyof Timeslice,
): NrqlCell {
  const slice = together(rows);
  if (name === 'sum') return slice[field];
  const by = divisor === undefined ? total(rows, (row) => row.records()) : slice[divisor];
  return by === 0 ? null : slice[field] / by;
}

const needsNumbers: ReadonlySet<NrqlAggregate> = new Set([
  'sum',
  'average',
  'min',
  'max',
  'stddev',
  'percentile',
  'apdex',
]);

/** What a function finds in rows. */
export function nrqlCellOf(call: NrqlAggregateCall, rows: Rows): NrqlCell {
  const { name, field, attribute } = call;
  // Of events only the duration is simulated as a number.
  if (needsNumbers.has(name) && attribute !== timesliceValue && attribute !== 'duration')
    return null;
  return field === undefined ? functions[name](rows, call) : ofField(rows, call, field);
}
