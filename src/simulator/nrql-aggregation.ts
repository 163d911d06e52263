import { predicateOf } from './nrql-conditions.ts';
import { type NrqlCell, nrqlCellOf } from './nrql-functions.ts';
import type { NrqlCondition, NrqlExpression } from './nrql-query.ts';
import type { NrqlRowSet } from './nrql-row-set.ts';
import { calculated } from './nrql-terms.ts';

export type NrqlAggregation = (rows: NrqlRowSet) => NrqlCell;

function chooserOf(condition: NrqlCondition): (rows: NrqlRowSet) => NrqlRowSet {
  if (
    condition.kind === 'compare' &&
    condition.attribute === 'metricTimesliceName' &&
    condition.operator === '='
  ) {
    return (rows) => rows.ofMetric(String(condition.value));
  }
  const isMeant = predicateOf(condition);
  return (rows) => rows.where(isMeant);
}

/** Turns what is selected into a function of rows. `windowMs` is the length of the time range. */
export function aggregationOf(expression: NrqlExpression, windowMs: number): NrqlAggregation {
  switch (expression.kind) {
    case 'number':
      return () => expression.value;
    case 'aggregate':
      return ({ rows }) => nrqlCellOf(expression, rows);
    case 'filter': {
      const choose = chooserOf(expression.condition);
      const inner = aggregationOf(expression.of, windowMs);
      return (rows) => inner(choose(rows));
    }
    case 'percentage': {
      const choose = chooserOf(expression.condition);
      const inner = aggregationOf(expression.of, windowMs);
      return (rows) => calculated('*', calculated('/', inner(choose(rows)), inner(rows)), 100);
    }
    case 'rate': {
      const inner = aggregationOf(expression.of, windowMs);
      return (rows) => calculated('*', inner(rows), expression.perMs / windowMs);
    }
    case 'arithmetic': {
      const left = aggregationOf(expression.left, windowMs);
      const right = aggregationOf(expression.right, windowMs);
      return (rows) => calculated(expression.operator, left(rows), right(rows));
    }
  }
}
