import { predicateOf } from './nrql-conditions.ts';
import type { NrqlOperator, NrqlTerm, NrqlValue } from './nrql-query.ts';
import type { NrqlRow } from './nrql-rows.ts';

/** Null where one of the two is no number, and for what is divided by 0. */
export function calculated(operator: NrqlOperator, left: unknown, right: unknown): number | null {
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

/** Turns a term into a function of rows. */
export function termOf(term: NrqlTerm): (row: NrqlRow) => NrqlValue {
  switch (term.kind) {
    case 'attribute':
      return (row) => row.attribute(term.name);
    case 'constant':
      return () => term.value;
    case 'if': {
      const isMeant = predicateOf(term.condition);
      const [chosen, otherwise] = [termOf(term.chosen), termOf(term.otherwise)];
      return (row) => (isMeant(row) ? chosen(row) : otherwise(row));
    }
    case 'bucket': {
      const of = termOf(term.of);
      return (row) => bucketOf(of(row), term);
    }
    case 'arithmetic': {
      const [left, right] = [termOf(term.left), termOf(term.right)];
      return (row) => calculated(term.operator, left(row), right(row));
    }
  }
}

/** What is above the range is in the last part. How New Relic writes a part is not documented. */
function bucketOf(
  value: NrqlValue,
  { most, parts }: { readonly most: number; readonly parts: number },
): string | null {
  if (typeof value !== 'number') return null;
  const width = most / parts;
  const part = Math.min(parts - 1, Math.max(0, Math.floor(value / width)));
  return `${part * width} - ${(part + 1) * width}`;
}
