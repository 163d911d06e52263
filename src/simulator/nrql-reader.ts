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
  fail(problem: string): Error;
  /** Whether the query is of events, which have any attributes, and not of timeslices. */
  readonly isOfEvents: boolean;
}

/** Names in queries are no keywords, unless they are in backticks or quotes. */
const reserved: ReadonlySet<string> = new Set(
  'SELECT FROM WHERE FACET LIMIT SINCE UNTIL AS AND OR NOT IN LIKE RLIKE IS NULL TRUE FALSE AGO TIMESERIES COMPARE WITH ORDER BY OFFSET'.split(
    ' ',
  ),
);

function isWord(token: NrqlToken, keyword: string): boolean {
  return token.kind === 'word' && token.text.toUpperCase() === keyword;
}

export function createNrqlReader(text: string): NrqlReader {
  const tokens = nrqlTokens(text);
  const end = tokens.at(-1) ?? { kind: 'end', text: '', position: 1 };
  let index = 0;
  const at = (offset: number): NrqlToken => tokens[index + offset] ?? end;
  const next = (): NrqlToken => {
    const token = at(0);
    index += 1;
    return token;
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
  const oneOf = (kinds: readonly NrqlToken['kind'][], what: string): string => {
    const { kind, text: found } = at(0);
    const isKeyword = kind === 'word' && reserved.has(found.toUpperCase());
    if (isKeyword || !kinds.includes(kind)) throw fail(`expected ${what}`);
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
    fail,
    isOfEvents: tokens.some(
      (token, place) => isWord(token, 'FROM') && tokens[place + 1]?.text !== 'Metric',
    ),
  };
}
