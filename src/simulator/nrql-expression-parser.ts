import { own } from '../model/own.ts';
import { dayMs, hourMs, minuteMs } from '../model/time.ts';
import { nrqlAttribute, timesliceValue } from './nrql-attributes.ts';
import { parseNrqlCondition } from './nrql-condition-parser.ts';
import {
  aggregateNames,
  type NrqlAggregate,
  type NrqlAggregateCall,
  type NrqlColumn,
  type NrqlExpression,
} from './nrql-query.ts';
import type { NrqlReader } from './nrql-reader.ts';
import { parseArithmetic, parseNrqlTerm } from './nrql-term-parser.ts';
import { emptyTimeslice, type Timeslice } from './timeslice.ts';

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
  const unit = reader.peek().text.toUpperCase();
  const ms = own(unitMs, unit) ?? own(unitMs, unit.replace(/S$/, ''));
  if (ms === undefined && /^(?:MONTH|QUARTER|YEAR)S?$/.test(unit)) {
    throw reader.unknown('months, quarters and years');
  }
  if (ms === undefined) throw reader.fail('expected a unit of time');
  reader.next();
  return amount * ms;
}

function isField(text: string): text is keyof Timeslice {
  return Object.hasOwn(emptyTimeslice, text);
}

/** What follows an attribute in brackets, such as `['totalExclusive']`. */
function fieldOf(reader: NrqlReader, name: NrqlAggregate): keyof Timeslice | undefined {
  const { kind: symbol, text: bracket } = reader.peek();
  if (symbol !== 'symbol' || bracket !== '[') return undefined;
  if (name !== 'sum' && name !== 'average') {
    throw reader.unknown('fields but those of sum and average');
  }
  reader.next();
  const { kind, text } = reader.peek();
  if (kind !== 'text') throw reader.fail('expected a field of a timeslice');
  if (!isField(text)) throw reader.unknown(`the field ${text} of a timeslice`);
  reader.next();
  reader.expectSymbol(']');
  return text;
}

function divisorOf(reader: NrqlReader, attribute: string): keyof Timeslice | undefined {
  if (!reader.takeSymbol('/')) return undefined;
  if (nrqlAttribute(reader) !== attribute) throw reader.unknown('a ratio of two attributes');
  const field = fieldOf(reader, 'average');
  if (field === undefined) throw reader.unknown('a ratio without a field in brackets');
  return field;
}

const mostUniques = 10_000;

/** `uniques` may say how many it wants. */
function uniquesLimit(reader: NrqlReader): number {
  if (reader.isName()) throw reader.unknown('a function of several attributes');
  const wanted = reader.peek();
  if (wanted.kind === 'number' && Number(wanted.text) > mostUniques) {
    throw reader.fail(`uniques are at most ${mostUniques}`);
  }
  return reader.positiveNumber();
}

const withNumbers: ReadonlySet<NrqlAggregate> = new Set(['percentile', 'apdex']);

/** What follows the attribute: `, 50, 95` or `, t: 0.5`. */
function numbersOf(reader: NrqlReader): readonly number[] {
  const numbers: number[] = [];
  while (reader.takeSymbol(',')) {
    if (reader.takeWords('T')) reader.expectSymbol(':');
    if (reader.peek().kind !== 'number') throw reader.fail('expected a number');
    numbers.push(Number(reader.next().text));
  }
  return numbers;
}

/** What cannot be worked out of texts. */
const numeric: ReadonlySet<NrqlAggregate> = new Set(['average', 'sum', 'min', 'max', 'stddev']);

function checkNumeric(reader: NrqlReader, name: NrqlAggregate, attribute: string): void {
  const isText = numeric.has(name) && attribute !== timesliceValue;
  if (isText && !reader.isOfEvents) throw reader.unknown(`${name} of ${attribute}`);
}

function argument(
  reader: NrqlReader,
  name: NrqlAggregate,
): Pick<NrqlAggregateCall, 'attribute' | 'term'> {
  if (name === 'count' && reader.takeSymbol('*')) return { attribute: '*' };
  if (!reader.isOfEvents) return { attribute: nrqlAttribute(reader) };
  const first = reader.peek();
  const term = parseNrqlTerm(reader);
  if (term.kind === 'attribute') return { attribute: term.name };
  return { attribute: reader.textFrom(first), term };
}

function aggregate(reader: NrqlReader): NrqlExpression {
  const wanted = reader.peek();
  const name = aggregateNames.find((known) => known.toUpperCase() === wanted.text.toUpperCase());
  if (reader.callAhead() === undefined && (reader.isName() || wanted.text === '*')) {
    throw reader.unknown('how to select events: it knows functions of them');
  }
  if (wanted.kind !== 'word' || reader.callAhead() === undefined) {
    throw reader.fail('expected a function');
  }
  if (name === undefined) throw reader.unknown(`the function ${wanted.text}`);
  reader.next();
  reader.expectSymbol('(');
  const { attribute, term } = argument(reader, name);
  checkNumeric(reader, name, attribute);
  const field = fieldOf(reader, name);
  const divisor =
    name === 'average' && field !== undefined ? divisorOf(reader, attribute) : undefined;
  const numbers = withNumbers.has(name) ? numbersOf(reader) : undefined;
  const limit = reader.takeSymbol(',') ? uniquesLimit(reader) : undefined;
  reader.expectSymbol(')');
  return { kind: 'aggregate', name, attribute, term, field, divisor, limit, numbers };
}

/** What a function works on: something that depends on data, and not the same function again. */
function partOf(reader: NrqlReader, outer: 'rate' | 'filter'): NrqlExpression {
  const part = expression(reader);
  if (part.kind === outer || part.kind === 'number')
    throw reader.unknown(`${outer} of a ${part.kind}`);
  return part;
}

function operand(reader: NrqlReader): NrqlExpression {
  if (reader.peek().kind === 'number') return { kind: 'number', value: Number(reader.next().text) };
  if (reader.takeSymbol('(')) {
    const inner = expression(reader);
    reader.expectSymbol(')');
    return inner;
  }
  if (reader.takeWords('RATE')) {
    reader.expectSymbol('(');
    const of = partOf(reader, 'rate');
    reader.expectSymbol(',');
    const perMs = durationMs(reader);
    reader.expectSymbol(')');
    return { kind: 'rate', of, perMs };
  }
  const conditional = (['filter', 'percentage'] as const).find((name) =>
    reader.takeWords(name.toUpperCase()),
  );
  if (conditional !== undefined) {
    reader.expectSymbol('(');
    const of = partOf(reader, 'filter');
    reader.expectSymbol(',');
    reader.expectWord('WHERE');
    const condition = parseNrqlCondition(reader);
    reader.expectSymbol(')');
    return { kind: conditional, of, condition };
  }
  return aggregate(reader);
}

function expression(reader: NrqlReader): NrqlExpression {
  return parseArithmetic<NrqlExpression>(
    reader,
    operand,
    { kind: 'number', value: 0 },
    (found) => found,
  );
}

/** What the vendor calls a column without `AS`: it knows `count` and `average.duration`. */
function defaultName(value: NrqlExpression): string {
  switch (value.kind) {
    case 'aggregate':
      return value.name === 'count' ? 'count' : `${value.name}.${value.attribute}`;
    case 'rate':
    case 'filter':
    case 'percentage':
      return defaultName(value.of);
    case 'number':
    case 'arithmetic':
      return 'result';
  }
}

/** What follows `SELECT`. */
export function parseNrqlSelect(reader: NrqlReader): readonly NrqlColumn<NrqlExpression>[] {
  const columns: NrqlColumn<NrqlExpression>[] = [];
  do {
    const value = expression(reader);
    columns.push({ value, name: reader.takeWords('AS') ? reader.label() : defaultName(value) });
  } while (reader.takeSymbol(','));
  return columns;
}
