import type { NrqlComparison, NrqlCondition, NrqlLiteral, NrqlValue } from './nrql-query.ts';

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

/** Something with attributes; `undefined` for one that is not known yet. */
export interface NrqlAttributes {
  attribute(name: string): NrqlValue | undefined;
}

/** `undefined` where it depends on attributes that are not known yet. */
export type NrqlVerdict = boolean | undefined;

type Judge = (row: NrqlAttributes) => NrqlVerdict;

function onValue(attribute: string, test: (value: string | number) => boolean): Judge {
  return (row) => {
    const value = row.attribute(attribute);
    return value === undefined ? undefined : value !== null && test(value);
  };
}

/** Whether one of two judges decides alone: a false for `AND`, a true for `OR`. */
function either(decisive: boolean, left: Judge, right: Judge): Judge {
  return (row) => {
    const first = left(row);
    if (first === decisive) return decisive;
    const second = right(row);
    if (second === decisive) return decisive;
    return first === undefined || second === undefined ? undefined : !decisive;
  };
}

/** Turns a condition into a function. A missing attribute meets no condition but `IS NULL`. */
export function verdictOf(condition: NrqlCondition): Judge {
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
      return (row) => {
        const value = row.attribute(condition.attribute);
        return value === undefined ? undefined : value === null;
      };
    case 'not': {
      const inner = verdictOf(condition.condition);
      return (row) => {
        const verdict = inner(row);
        return verdict === undefined ? undefined : !verdict;
      };
    }
    case 'and':
    case 'or':
      return either(condition.kind === 'or', verdictOf(condition.left), verdictOf(condition.right));
  }
}

/** Whether something meets the condition for sure: a row does or does not. */
export function predicateOf(condition: NrqlCondition): (row: NrqlAttributes) => boolean {
  const verdict = verdictOf(condition);
  return (row) => verdict(row) === true;
}
