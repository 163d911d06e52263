import { predicateOf } from './nrql-conditions.ts';
import type { NrqlAggregate, NrqlExpression } from './nrql-query.ts';
import type { NrqlRow, NrqlValue } from './nrql-rows.ts';

/** A number, what a function of an attribute gives, or null where there is nothing. */
export type NrqlCell = NrqlValue | readonly NrqlValue[];

export type NrqlAggregation = (rows: readonly NrqlRow[]) => NrqlCell;

const timesliceValue = 'newrelic.timeslice.value';

function total(rows: readonly NrqlRow[], of: (row: NrqlRow) => number): number {
  return rows.reduce((sum, row) => sum + of(row), 0);
}

function valuesOf(rows: readonly NrqlRow[], attribute: string): readonly (string | number)[] {
  const values = rows.map((row) => row.attribute(attribute)).filter((value) => value !== null);
  return [...new Set(values)];
}

function seconds(row: NrqlRow): number {
  return Number(row.attribute(timesliceValue) ?? 0);
}

/** `count` of a timeslice counts its calls; of `*` and of all other attributes it counts records. */
function counted(rows: readonly NrqlRow[], attribute: string): number {
  if (attribute === timesliceValue) return total(rows, (row) => row.calls());
  const having = rows.filter((row) => attribute === '*' || row.attribute(attribute) !== null);
  return total(having, (row) => row.records());
}

function average(rows: readonly NrqlRow[]): NrqlCell {
  const calls = total(rows, (row) => row.calls());
  return calls === 0 ? null : total(rows, (row) => row.calls() * seconds(row)) / calls;
}

function extreme(
  rows: readonly NrqlRow[],
  choose: (left: number, right: number) => number,
): NrqlCell {
  const [first] = rows;
  if (first === undefined) return null;
  return rows.reduce((best, row) => choose(best, seconds(row)), seconds(first));
}

type AggregateFunction = (rows: readonly NrqlRow[], attribute: string) => NrqlCell;

/** `average`, `sum`, `min` and `max` are those of the response times, in seconds. */
const aggregates: Readonly<Record<NrqlAggregate, AggregateFunction>> = {
  count: counted,
  sum: (rows) => total(rows, (row) => row.calls() * seconds(row)),
  average,
  min: (rows) => extreme(rows, Math.min),
  max: (rows) => extreme(rows, Math.max),
  uniques: valuesOf,
  uniqueCount: (rows, attribute) => valuesOf(rows, attribute).length,
  latest: (rows, attribute) => rows.at(-1)?.attribute(attribute) ?? null,
};

function arithmetic(operator: '+' | '-' | '*' | '/', left: NrqlCell, right: NrqlCell): NrqlCell {
  if (typeof left !== 'number' || typeof right !== 'number') return null;
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? null : left / right;
  }
}

/** Turns what is selected into a function of rows. `windowMs` is the length of the time range. */
export function aggregationOf(expression: NrqlExpression, windowMs: number): NrqlAggregation {
  switch (expression.kind) {
    case 'number':
      return () => expression.value;
    case 'aggregate': {
      const { name, attribute } = expression;
      return (rows) => aggregates[name](rows, attribute);
    }
    case 'filter': {
      const isMeant = predicateOf(expression.condition);
      const inner = aggregationOf(expression.of, windowMs);
      return (rows) => inner(rows.filter(isMeant));
    }
    case 'rate': {
      const inner = aggregationOf(expression.of, windowMs);
      return (rows) => arithmetic('*', inner(rows), expression.perMs / windowMs);
    }
    case 'arithmetic': {
      const left = aggregationOf(expression.left, windowMs);
      const right = aggregationOf(expression.right, windowMs);
      return (rows) => arithmetic(expression.operator, left(rows), right(rows));
    }
  }
}
