import { own } from '../model/own.ts';
import { dayMs, hourMs, minuteMs } from '../model/time.ts';
import { isJson } from './graphql.ts';
import { type NrqlCondition, parseNrqlCondition, rowsThatMeet } from './nrql-condition.ts';
import {
  aggregateNames,
  type NrqlAggregate,
  type NrqlCell,
  type NrqlTerm,
  nrqlCellOf,
} from './nrql-functions.ts';
import { type NrqlReader, timesliceValue } from './nrql-reader.ts';
import type { NrqlRowSet, NrqlValue } from './nrql-row.ts';
import { emptyTimeslice, type Timeslice } from './timeslice.ts';

/** What is selected, and what it is called in the answer. */
export interface NrqlColumn {
  readonly name: string;
  /** Whether the vendor ranks facets by it. */
  readonly ranks: boolean;
  readonly cellOf: (rows: NrqlRowSet, windowMs: number) => NrqlCell;
}

/** What rows are grouped by. */
export interface NrqlFacet {
  readonly name: string;
  /** As it is written, without `AS`. */
  readonly text: string;
  readonly valueOf: NrqlTerm;
}

const unitMs: Readonly<Record<string, number>> = {
  MILLISECOND: 1,
  SECOND: 1000,
  MINUTE: minuteMs,
  HOUR: hourMs,
  DAY: dayMs,
  WEEK: 7 * dayMs,
};

/** A length of time such as `5 minutes`. */
export function durationMs(reader: NrqlReader): number {
  const amount = reader.positiveNumber();
  const unit = reader.peek().text.toUpperCase().replace(/S$/, '');
  const ms = own(unitMs, unit);
  if (ms === undefined) throw reader.unknown(`the unit of time '${unit}'`);
  reader.next();
  return amount * ms;
}

type Operator = '+' | '-' | '*' | '/';

/** A number as it is, and that of one percentile. */
function numberIn(value: unknown): unknown {
  const members = isJson(value) ? Object.values(value) : [];
  return members.length === 1 ? members[0] : value;
}

/** Null where one of the two is no number, and for what is divided by 0. */
function calculated(operator: Operator, one: unknown, other: unknown): number | null {
  const [left, right] = [numberIn(one), numberIn(other)];
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

/** Operands in chains of equal rank, from the left; `*` and `/` bind closer, and `-` in front is less than 0. */
function arithmetic<Part>(
  reader: NrqlReader,
  operandOf: () => Part,
  zero: Part,
  joined: (operator: Operator, left: Part, right: Part) => Part,
): Part {
  const chain = (operators: readonly Operator[], part: () => Part): Part => {
    let left = part();
    for (;;) {
      const operator = operators.find((symbol) => reader.takeSymbol(symbol));
      if (operator === undefined) return left;
      left = joined(operator, left, part());
    }
  };
  const inBrackets = (): Part => {
    const inner = sum();
    reader.expectSymbol(')');
    return inner;
  };
  const signed = (): Part => {
    if (reader.takeSymbol('-')) return joined('-', zero, signed());
    return reader.takeSymbol('(') ? inBrackets() : operandOf();
  };
  const sum = (): Part => chain(['+', '-'], () => chain(['*', '/'], signed));
  return sum();
}

/** What is worked out of each row. */
function parseTerm(reader: NrqlReader): NrqlTerm {
  return arithmetic<NrqlTerm>(
    reader,
    () => termOperand(reader),
    () => 0,
    (operator, left, right) => (row) => calculated(operator, left(row), right(row)),
  );
}

function termOperand(reader: NrqlReader): NrqlTerm {
  const { kind, text } = reader.peek();
  if (kind === 'number' || kind === 'text') {
    reader.next();
    const value = kind === 'number' ? Number(text) : text;
    return () => value;
  }
  if (reader.callAhead()?.toUpperCase() === 'IF') return choice(reader);
  const name = reader.attribute();
  return (row) => row.attribute(name);
}

function chosenBy({ verdict }: NrqlCondition, chosen: NrqlTerm, otherwise: NrqlTerm): NrqlTerm {
  return (row) => (verdict(row) === true ? chosen(row) : otherwise(row));
}

/** `if(CONDITION, VALUE)`, perhaps with a value for all others. */
function choice(reader: NrqlReader): NrqlTerm {
  reader.next();
  reader.expectSymbol('(');
  const condition = parseNrqlCondition(reader);
  reader.expectSymbol(',');
  const chosen = parseTerm(reader);
  const otherwise = reader.takeSymbol(',') ? parseTerm(reader) : () => null;
  reader.expectSymbol(')');
  return chosenBy(condition, chosen, otherwise);
}

/** `CASES(WHERE CONDITION AS NAME, ...)`: the first that a row meets. */
function cases(reader: NrqlReader): NrqlTerm {
  reader.next();
  reader.expectSymbol('(');
  const found: (readonly [name: string, condition: NrqlCondition])[] = [];
  do {
    reader.takeWords('WHERE');
    const first = reader.peek();
    const condition = parseNrqlCondition(reader);
    found.push([reader.label(reader.textFrom(first)), condition]);
  } while (reader.takeSymbol(','));
  reader.expectSymbol(')');
  return found.reduceRight<NrqlTerm>(
    (otherwise, [name, condition]) => chosenBy(condition, () => name, otherwise),
    () => null,
  );
}

/** One of what follows `FACET`. */
export function parseNrqlFacet(reader: NrqlReader): NrqlFacet {
  const first = reader.peek();
  const valueOf = reader.callAhead()?.toUpperCase() === 'CASES' ? cases(reader) : parseTerm(reader);
  const text = reader.textFrom(first);
  return { valueOf, text, name: reader.label(text) };
}

function isField(text: string): text is keyof Timeslice {
  return Object.hasOwn(emptyTimeslice, text);
}

/** What follows an attribute in brackets, such as `['totalExclusive']`. */
function fieldOf(reader: NrqlReader, name: NrqlAggregate): keyof Timeslice | undefined {
  if (!reader.takeSymbol('[')) return undefined;
  const { text } = reader.next();
  if (!isField(text) || (name !== 'sum' && name !== 'average')) {
    throw reader.unknown(`the field ${text} for ${name}`);
  }
  reader.expectSymbol(']');
  return text;
}

function divisorOf(reader: NrqlReader, attribute: string): keyof Timeslice | undefined {
  if (!reader.takeSymbol('/')) return undefined;
  const isSame = reader.attribute() === attribute;
  const field = fieldOf(reader, 'average');
  if (!isSame || field === undefined) throw reader.unknown('a ratio but of fields of an attribute');
  return field;
}

/** What cannot be worked out of texts. */
const numeric: ReadonlySet<NrqlAggregate> = new Set(['average', 'sum', 'min', 'max', 'stddev']);

const mostUniques = 10_000;

/** What follows the attribute: `, 50, 95`, `, t: 0.5` or `, 5000`. */
function numbersOf(reader: NrqlReader, name: NrqlAggregate): readonly number[] {
  const numbers: number[] = [];
  while (reader.takeSymbol(',')) {
    if (!['percentile', 'apdex', 'uniques', 'histogram'].includes(name)) {
      throw reader.unknown('a function of several attributes');
    }
    if (name === 'uniques') numbers.push(reader.positiveNumber(mostUniques));
    else {
      if (name === 'apdex' && reader.takeWords('T')) reader.expectSymbol(':');
      numbers.push(Number(reader.expectOne(['number'], 'a number')));
    }
  }
  return numbers;
}

function notAFunction(reader: NrqlReader): Error {
  const isOfEvents = reader.isName() || reader.peek().text === '*';
  return isOfEvents
    ? reader.unknown('how to select events: it knows functions of them')
    : reader.fail('expected a function');
}

function aggregate(reader: NrqlReader): NrqlColumn {
  const wanted = reader.peek();
  const name = aggregateNames.find((known) => known.toUpperCase() === wanted.text.toUpperCase());
  if (reader.callAhead() === undefined) throw notAFunction(reader);
  if (name === undefined) throw reader.unknown(`the function ${wanted.text}`);
  reader.next();
  reader.expectSymbol('(');
  const first = reader.peek();
  const isOfAll = name === 'count' && reader.takeSymbol('*');
  const valueOf = isOfAll ? () => null : parseTerm(reader);
  const of = reader.textFrom(first);
  if (numeric.has(name) && of !== timesliceValue && !reader.isOfEvents) {
    throw reader.unknown(`${name} of ${of}`);
  }
  const field = fieldOf(reader, name);
  const divisor = name === 'average' ? divisorOf(reader, of) : undefined;
  const call = { name, of, valueOf, field, divisor, numbers: numbersOf(reader, name) };
  reader.expectSymbol(')');
  const member = reader.takeSymbol('[') ? reader.expectOne(['text'], 'a member') : undefined;
  if (member !== undefined) reader.expectSymbol(']');
  return {
    // The vendor's names of columns without `AS`.
    name: name === 'count' ? 'count' : `${name}.${of}`,
    ranks: ['count', 'average', 'min', 'max', 'percentile'].includes(name),
    cellOf: ({ rows }) => {
      const cell = nrqlCellOf(call, rows);
      return member === undefined ? cell : ownOf(cell, member);
    },
  };
}

/** A member of what a function gives; null if there is none. */
function ownOf(cell: NrqlCell, member: string): NrqlValue {
  if (typeof cell !== 'object' || cell === null || Array.isArray(cell)) return null;
  return new Map(Object.entries<NrqlValue>(cell)).get(member) ?? null;
}

/** `rate(FUNCTION, 1 minute)`. */
function rate(reader: NrqlReader): NrqlColumn {
  reader.expectSymbol('(');
  const { name, cellOf } = parseExpression(reader);
  reader.expectSymbol(',');
  const perMs = durationMs(reader);
  reader.expectSymbol(')');
  return {
    name,
    ranks: false,
    cellOf: (rows, windowMs) => calculated('*', cellOf(rows, windowMs), perMs / windowMs),
  };
}

/** `filter(FUNCTION, WHERE CONDITION)`; or `percentage`: 100 times what meets the condition, of all. */
function conditional(reader: NrqlReader, isPercentage: boolean): NrqlColumn {
  reader.expectSymbol('(');
  const { name, cellOf } = parseExpression(reader);
  reader.expectSymbol(',');
  reader.expectWord('WHERE');
  const condition = parseNrqlCondition(reader);
  reader.expectSymbol(')');
  const filtered: NrqlColumn['cellOf'] = (rows, windowMs) =>
    cellOf(rowsThatMeet(condition, rows), windowMs);
  return {
    name,
    ranks: false,
    cellOf: isPercentage
      ? (rows, windowMs) =>
          calculated('*', calculated('/', filtered(rows, windowMs), cellOf(rows, windowMs)), 100)
      : filtered,
  };
}

function constant(value: number): NrqlColumn {
  return { name: 'result', ranks: false, cellOf: () => value };
}

function operand(reader: NrqlReader): NrqlColumn {
  if (reader.peek().kind === 'number') return constant(Number(reader.next().text));
  if (reader.takeWords('RATE')) return rate(reader);
  if (reader.takeWords('FILTER')) return conditional(reader, false);
  if (reader.takeWords('PERCENTAGE')) return conditional(reader, true);
  return aggregate(reader);
}

function parseExpression(reader: NrqlReader): NrqlColumn {
  return arithmetic(
    reader,
    () => operand(reader),
    constant(0),
    (operator, left, right): NrqlColumn => ({
      name: 'result',
      ranks: false,
      cellOf: (rows, windowMs) =>
        calculated(operator, left.cellOf(rows, windowMs), right.cellOf(rows, windowMs)),
    }),
  );
}

/** What follows `SELECT`. */
export function parseNrqlSelect(reader: NrqlReader): readonly NrqlColumn[] {
  const columns: NrqlColumn[] = [];
  do {
    const column = parseExpression(reader);
    columns.push({ ...column, name: reader.label(column.name) });
  } while (reader.takeSymbol(','));
  return columns;
}
