import type { NrqlComparison, NrqlCondition, NrqlLiteral } from './nrql-query.ts';
import type { NrqlRow, NrqlValue } from './nrql-rows.ts';

export type NrqlPredicate = (row: NrqlRow) => boolean;

const comparers: Readonly<
  Record<NrqlComparison, (left: string | number, right: string | number) => boolean>
> = {
  '=': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

/** The vendor's own examples write ids both as numbers and as texts: the constant decides. */
function likeLiteral(value: string | number, literal: NrqlLiteral): string | number {
  return typeof literal === 'number' ? Number(value) : String(value);
}

function compare(
  operator: NrqlComparison,
  literal: NrqlLiteral,
): (value: string | number) => boolean {
  const comparer = comparers[operator];
  const right = typeof literal === 'boolean' ? String(literal) : literal;
  return (value) => comparer(likeLiteral(value, literal), right);
}

function onValue(attribute: string, test: (value: string | number) => boolean): NrqlPredicate {
  return (row) => {
    const value: NrqlValue = row.attribute(attribute);
    return value !== null && test(value);
  };
}

/** Turns a condition into a function. A missing attribute meets no condition but `IS NULL`. */
export function predicateOf(condition: NrqlCondition): NrqlPredicate {
  switch (condition.kind) {
    case 'compare':
      return onValue(condition.attribute, compare(condition.operator, condition.value));
    case 'in': {
      // As texts, because ids may be written as numbers.
      const values = new Set(condition.values.map(String));
      return onValue(condition.attribute, (value) => values.has(String(value)));
    }
    case 'matches':
      return onValue(condition.attribute, (value) => condition.pattern.test(String(value)));
    case 'is_null':
      return (row) => row.attribute(condition.attribute) === null;
    case 'not': {
      const inner = predicateOf(condition.condition);
      return (row) => !inner(row);
    }
    case 'and': {
      const left = predicateOf(condition.left);
      const right = predicateOf(condition.right);
      return (row) => left(row) && right(row);
    }
    case 'or': {
      const left = predicateOf(condition.left);
      const right = predicateOf(condition.right);
      return (row) => left(row) || right(row);
    }
  }
}
