import { nrqlAttribute } from './nrql-attributes.ts';
import type { NrqlComparison, NrqlCondition, NrqlLiteral } from './nrql-query.ts';
import type { NrqlReader } from './nrql-reader.ts';

const comparisons: readonly NrqlComparison[] = ['=', '!=', '<', '<=', '>', '>='];

function literal(reader: NrqlReader): NrqlLiteral {
  const sign = reader.takeSymbol('-') ? -1 : 1;
  const { kind, text } = reader.peek();
  if (kind === 'number') {
    reader.next();
    return sign * Number(text);
  }
  if (kind === 'text') return reader.next().text;
  if (reader.takeWords('TRUE')) return true;
  if (reader.takeWords('FALSE')) return false;
  const call = reader.callAhead();
  if (call !== undefined) throw reader.unknown(`the function ${call} in a condition`);
  if (reader.isName()) throw reader.unknown('a comparison of two attributes');
  throw reader.fail('expected a text, a number, true or false');
}

function literals(reader: NrqlReader): readonly NrqlLiteral[] {
  reader.expectSymbol('(');
  if (['SELECT', 'FROM'].includes(reader.peek().text.toUpperCase())) {
    throw reader.unknown('a query in a query');
  }
  const values = [literal(reader)];
  while (reader.takeSymbol(',')) values.push(literal(reader));
  reader.expectSymbol(')');
  return values;
}

/** `%` stands for anything; a pattern without it may be anywhere in the value. No case. */
export function likePattern(text: string): RegExp {
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const source = text.includes('%') ? `^${escaped.replaceAll('%', '.*')}$` : escaped;
  return new RegExp(source, 'is');
}

/** A regular expression for the whole value. The vendor has RE2; this understands what both have. */
function regexOf(reader: NrqlReader): RegExp {
  const { kind, text } = reader.peek();
  if (kind !== 'pattern' && kind !== 'text') throw reader.fail("expected a pattern: r'...'");
  try {
    const pattern = new RegExp(`^(?:${text})$`);
    reader.next();
    return pattern;
  } catch {
    throw reader.fail('expected a valid regular expression');
  }
}

function likeText(reader: NrqlReader): string {
  if (reader.peek().kind !== 'text') throw reader.fail('expected a text in quotes');
  return reader.next().text;
}

function negatedIf(negated: boolean, condition: NrqlCondition): NrqlCondition {
  return negated ? { kind: 'not', condition } : condition;
}

function comparison(reader: NrqlReader): NrqlCondition {
  if (['number', 'text'].includes(reader.peek().kind)) {
    throw reader.unknown('a condition that begins with a constant');
  }
  const attribute = nrqlAttribute(reader);
  if (reader.takeWords('IS')) {
    const negated = reader.takeWords('NOT');
    const truth = ['TRUE', 'FALSE'].find((word) => reader.takeWords(word));
    if (truth !== undefined) {
      const value = truth === 'TRUE';
      return negatedIf(negated, { kind: 'compare', attribute, operator: '=', value });
    }
    reader.expectWord('NULL');
    return negatedIf(negated, { kind: 'is_null', attribute });
  }
  const negated = reader.takeWords('NOT');
  if (reader.takeWords('IN')) {
    return negatedIf(negated, { kind: 'in', attribute, values: literals(reader) });
  }
  if (reader.takeWords('LIKE')) {
    return negatedIf(negated, {
      kind: 'matches',
      attribute,
      pattern: likePattern(likeText(reader)),
    });
  }
  if (reader.takeWords('RLIKE')) {
    return negatedIf(negated, { kind: 'matches', attribute, pattern: regexOf(reader) });
  }
  const operator = comparisons.find((symbol) => !negated && reader.takeSymbol(symbol));
  if (operator === undefined) throw reader.fail('expected a comparison');
  return { kind: 'compare', attribute, operator, value: literal(reader) };
}

function single(reader: NrqlReader): NrqlCondition {
  if (reader.takeWords('NOT')) return { kind: 'not', condition: single(reader) };
  if (!reader.takeSymbol('(')) return comparison(reader);
  const inner = parseNrqlCondition(reader);
  reader.expectSymbol(')');
  return inner;
}

function conjunction(reader: NrqlReader): NrqlCondition {
  let left = single(reader);
  while (reader.takeWords('AND')) left = { kind: 'and', left, right: single(reader) };
  return left;
}

/** What follows `WHERE`. `NOT` binds closest, then `AND`, then `OR`. */
export function parseNrqlCondition(reader: NrqlReader): NrqlCondition {
  let left = conjunction(reader);
  while (reader.takeWords('OR')) left = { kind: 'or', left, right: conjunction(reader) };
  return left;
}
