import { notSimulated } from './graphql-failure.ts';
import { type NrqlToken, nrqlTokens, syntaxError } from './nrql-tokens.ts';

/** Reads the tokens of a query one after the other. Keywords have no case. */
export interface NrqlReader {
  peek(): NrqlToken;
  next(): NrqlToken;
  /** Takes these keywords, if they are next, all of them. */
  takeWords(...keywords: readonly string[]): boolean;
  takeSymbol(symbol: string): boolean;
  expectWord(keyword: string): void;
  expectSymbol(symbol: string): void;
  /** An attribute, perhaps in backticks. */
  attribute(): string;
  /** A name after `AS`: a word, or a text in quotes. */
  label(): string;
  /** A whole number above 0. */
  positiveNumber(): number;
  /** Whether a name is next that is no keyword. */
  isName(): boolean;
  /** The name of the function that is called next; `undefined` if none is. */
  callAhead(): string | undefined;
  /** The query from this token to the one that was read last. */
  textFrom(first: NrqlToken): string;
  /** The refusal of New Relic. */
  fail(problem: string): Error;
  /** What may be right, and is not simulated. */
  unknown(what: string): Error;
  /** Whether the query is of events, which have any attributes, and not of timeslices. */
  readonly isOfEvents: boolean;
}

/** Names in queries are no keywords, unless they are in backticks or quotes. */
const reserved: ReadonlySet<string> = new Set(
  'SELECT FROM WHERE FACET LIMIT SINCE UNTIL AS AND OR NOT IN LIKE RLIKE IS NULL TRUE FALSE AGO TIMESERIES COMPARE WITH ORDER BY OFFSET'.split(
    ' ',
  ),
);

function isKeyword({ kind, text }: NrqlToken): boolean {
  return kind === 'word' && reserved.has(text.toUpperCase());
}

function isWord(token: NrqlToken, keyword: string): boolean {
  return token.kind === 'word' && token.text.toUpperCase() === keyword;
}

export function createNrqlReader(text: string): NrqlReader {
  const tokens = nrqlTokens(text);
  const end = tokens.at(-1) ?? { kind: 'end', text: '', position: 1, length: 0 };
  let index = 0;
  const at = (offset: number): NrqlToken => tokens[index + offset] ?? end;
  const next = (): NrqlToken => {
    index += 1;
    return at(-1);
  };
  const fail = (problem: string): Error => syntaxError(problem, at(0));

  const takeWords = (...keywords: readonly string[]): boolean => {
    if (!keywords.every((keyword, offset) => isWord(at(offset), keyword))) return false;
    index += keywords.length;
    return true;
  };
  const takeSymbol = (symbol: string): boolean => {
    const { kind, text: found } = at(0);
    if (kind !== 'symbol' || found !== symbol) return false;
    index += 1;
    return true;
  };
  const isName = (): boolean => ['word', 'name'].includes(at(0).kind) && !isKeyword(at(0));
  const oneOf = (kinds: readonly NrqlToken['kind'][], what: string): string => {
    if (isKeyword(at(0)) || !kinds.includes(at(0).kind)) throw fail(`expected ${what}`);
    return next().text;
  };

  return {
    peek: () => at(0),
    next,
    takeWords,
    takeSymbol,
    expectWord: (keyword) => {
      if (!takeWords(keyword)) throw fail(`expected ${keyword}`);
    },
    expectSymbol: (symbol) => {
      if (!takeSymbol(symbol)) throw fail(`expected '${symbol}'`);
    },
    attribute: () => oneOf(['word', 'name'], 'an attribute'),
    label: () => oneOf(['word', 'name', 'text'], 'a name'),
    positiveNumber: () => {
      const { kind, text: digits } = at(0);
      if (kind !== 'number' || !/^\d+$/.test(digits)) throw fail('expected a whole number');
      if (Number(digits) === 0) throw fail('expected a number above 0');
      index += 1;
      return Number(digits);
    },
    isName,
    callAhead: () => (isName() && at(1).text === '(' ? at(0).text : undefined),
    textFrom: ({ position }) => {
      const last = at(-1);
      return text.slice(position - 1, last.position - 1 + last.length);
    },
    fail,
    unknown: (what) => notSimulated(`${what} (at position ${at(0).position})`),
    isOfEvents: tokens.some(
      (token, place) => isWord(token, 'FROM') && tokens[place + 1]?.text !== 'Metric',
    ),
  };
}
