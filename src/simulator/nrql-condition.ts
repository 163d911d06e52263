import type { NrqlReader } from './nrql-reader.ts';
import { type NrqlRow, NrqlRowSet, type NrqlValue } from './nrql-row.ts';

/** Something with attributes; `undefined` for one that is not known yet. */
export interface NrqlAttributes {
  attribute(name: string): NrqlValue | undefined;
}

/** What follows `WHERE`. A missing attribute meets no condition but `IS NULL`. */
export interface NrqlCondition {
  /** `undefined` where it depends on attributes that are not known yet. */
  readonly verdict: (row: NrqlAttributes) => boolean | undefined;
  /** The attributes that it names. */
  readonly attributes: readonly string[];
  /** The metric, if it says no more than that. */
  readonly metric?: string | undefined;
}

/** The rows that meet the condition. */
export function rowsThatMeet({ verdict, metric }: NrqlCondition, set: NrqlRowSet): NrqlRowSet {
  if (metric !== undefined) return set.ofMetric(metric);
  return new NrqlRowSet(set.rows.filter((row: NrqlRow) => verdict(row) === true));
}

type Test = (value: string | number) => boolean;

function onValue(attribute: string, test: Test): NrqlCondition {
  return {
    attributes: [attribute],
    verdict: (row) => {
      const value = row.attribute(attribute);
      return value === undefined ? undefined : value !== null && test(value);
    },
  };
}

function not({ attributes, verdict }: NrqlCondition): NrqlCondition {
  const negated = (row: NrqlAttributes): boolean | undefined => {
    const found = verdict(row);
    return found === undefined ? undefined : !found;
  };
  return { attributes, verdict: negated };
}

/** Two conditions, of which one may decide alone: a false for `AND`, a true for `OR`. */
function either(decisive: boolean, left: NrqlCondition, right: NrqlCondition): NrqlCondition {
  return {
    attributes: [...left.attributes, ...right.attributes],
    verdict: (row) => {
      const first = left.verdict(row);
      if (first === decisive) return decisive;
      const second = right.verdict(row);
      if (second === decisive) return decisive;
      return first === undefined || second === undefined ? undefined : !decisive;
    },
  };
}

type Literal = string | number;

const comparisons: readonly (readonly [
  symbol: string,
  compare: (left: Literal, right: Literal) => boolean,
])[] = [
  ['=', (left, right) => left === right],
  ['!=', (left, right) => left !== right],
  ['<', (left, right) => left < right],
  ['<=', (left, right) => left <= right],
  ['>', (left, right) => left > right],
  ['>=', (left, right) => left >= right],
];

/** A truth is the text of it. */
function literal(reader: NrqlReader): Literal {
  const sign = reader.takeSymbol('-') ? -1 : 1;
  const { kind } = reader.peek();
  if (kind === 'number') return sign * Number(reader.next().text);
  if (kind === 'text') return reader.next().text;
  if (reader.takeWords('TRUE')) return 'true';
  if (reader.takeWords('FALSE')) return 'false';
  const call = reader.callAhead();
  if (call !== undefined) throw reader.unknown(`the function ${call} in a condition`);
  if (reader.isName()) throw reader.unknown('a comparison of two attributes');
  throw reader.fail('expected a text, a number, true or false');
}

function literals(reader: NrqlReader): readonly Literal[] {
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
function likePattern(reader: NrqlReader): RegExp {
  const text = reader.expectOne(['text'], 'a text in quotes');
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const source = text.includes('%') ? `^${escaped.replaceAll('%', '.*')}$` : escaped;
  return new RegExp(source, 'is');
}

/** A regular expression for the whole value. The vendor has RE2; this understands what both have. */
function regexOf(reader: NrqlReader): RegExp {
  const { text } = reader.peek();
  try {
    const pattern = new RegExp(`^(?:${text})$`);
    reader.expectOne(['pattern', 'text'], "a pattern: r'...'");
    return pattern;
  } catch {
    throw reader.fail("expected a valid regular expression: r'...'");
  }
}

/** What an attribute is or is not, as a word says. */
function state(reader: NrqlReader, attribute: string): NrqlCondition {
  if (reader.takeWords('TRUE')) return onValue(attribute, (value) => String(value) === 'true');
  reader.expectWord('NULL');
  return not(onValue(attribute, () => true));
}

/** The tests that have a word; `undefined` if none follows. */
function wordedTest(reader: NrqlReader): Test | undefined {
  if (reader.takeWords('IN')) {
    // As texts, because ids may be written as numbers.
    const values = new Set(literals(reader).map(String));
    return (value) => values.has(String(value));
  }
  const isLike = reader.takeWords('LIKE');
  if (!isLike && (reader.isOfEntities || !reader.takeWords('RLIKE'))) return undefined;
  const pattern = isLike ? likePattern(reader) : regexOf(reader);
  return (value) => pattern.test(String(value));
}

function comparison(reader: NrqlReader): NrqlCondition {
  if (['number', 'text'].includes(reader.peek().kind)) {
    throw reader.unknown('a condition that begins with a constant');
  }
  const attribute = reader.attribute();
  if (reader.takeWords('IS')) {
    return reader.takeWords('NOT') ? not(state(reader, attribute)) : state(reader, attribute);
  }
  const isNegated = reader.takeWords('NOT');
  const worded = wordedTest(reader);
  if (worded !== undefined) {
    const condition = onValue(attribute, worded);
    return isNegated ? not(condition) : condition;
  }
  if (isNegated) throw reader.fail('expected IN, LIKE or RLIKE');
  return comparisonOf(reader, attribute);
}

function comparisonOf(reader: NrqlReader, attribute: string): NrqlCondition {
  const known = comparisons.slice(0, reader.isOfEntities ? 1 : comparisons.length);
  const found = known.find(([sign]) => reader.takeSymbol(sign));
  if (found === undefined) throw reader.fail('expected a comparison');
  const [symbol, compare] = found;
  const right = literal(reader);
  // The vendor's own examples write ids both as numbers and as texts: the constant decides.
  const like = typeof right === 'number' ? Number : String;
  const condition = onValue(attribute, (value) => compare(like(value), right));
  const isMetric = attribute === 'metricTimesliceName' && symbol === '=';
  return isMetric ? { ...condition, metric: String(right) } : condition;
}

function single(reader: NrqlReader): NrqlCondition {
  if (reader.takeWords('NOT')) return not(single(reader));
  if (!reader.takeSymbol('(')) return comparison(reader);
  const inner = parseNrqlCondition(reader);
  reader.expectSymbol(')');
  return inner;
}

function conjunction(reader: NrqlReader): NrqlCondition {
  let left = single(reader);
  while (reader.takeWords('AND')) left = either(false, left, single(reader));
  return left;
}

/** What follows `WHERE`. `NOT` binds closest, then `AND`, then `OR`. */
export function parseNrqlCondition(reader: NrqlReader): NrqlCondition {
  let left = conjunction(reader);
  while (reader.takeWords('OR')) left = either(true, left, conjunction(reader));
  return left;
}
