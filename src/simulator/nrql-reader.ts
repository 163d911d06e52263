import { invalidInput, notSimulated } from './graphql.ts';
import { dimension } from './other-entities.ts';

export interface NrqlToken {
  /** `name` is a word in backticks, `pattern` a raw text: r'...'. */
  readonly kind: 'word' | 'name' | 'number' | 'text' | 'pattern' | 'symbol' | 'end';
  /** Without quotes, escapes resolved. */
  readonly text: string;
  /** From 1. */
  readonly position: number;
  /** How many characters of the query it takes. */
  readonly length: number;
}

/** The attribute that holds the data of a metric. */
export const timesliceValue = 'newrelic.timeslice.value';

/** Those that say whose data it is: a query of timeslices names one of them. */
export const dataSources: readonly string[] = ['appId', 'appName', 'entity.guid'];

/** Of timeslices, as documented. Many are null here. */
const timesliceAttributes: ReadonlySet<string> = new Set([
  ...dataSources,
  timesliceValue,
  'host',
  'host.bootId',
  'host.displayName',
  'instanceName',
  'metricTimesliceName',
  'realAgentId',
  'scope',
]);

const tokenPattern = new RegExp(
  [
    String.raw`\s+`,
    String.raw`/\*.*?\*/`,
    String.raw`r'(?<pattern>(?:[^'\\]|\\.)*)'`,
    String.raw`'(?<text>(?:[^'\\]|\\.)*)'`,
    '`(?<name>[^`]+)`',
    String.raw`(?<number>\d+(?:\.\d+)?)`,
    String.raw`(?<word>[\p{L}_][\p{L}\p{N}_.]*)`,
    String.raw`(?<symbol><=|>=|!=|[-=<>(),*/+\]\[:])`,
  ].join('|'),
  'suy',
);

const kinds = ['pattern', 'text', 'name', 'number', 'word', 'symbol'] as const;

/** Names in queries are no keywords, unless they are in backticks or quotes. */
const reserved: ReadonlySet<string> = new Set(
  'SELECT FROM WHERE FACET LIMIT SINCE UNTIL AS AND OR NOT IN LIKE RLIKE IS NULL TRUE FALSE AGO TIMESERIES COMPARE WITH ORDER BY OFFSET'.split(
    ' ',
  ),
);

/** What a query that the vendor does not understand is answered with. */
function syntaxError(problem: string, { text, kind, position }: Omit<NrqlToken, 'length'>): Error {
  const what = kind === 'end' ? 'the end of the query' : `'${text}'`;
  return invalidInput(
    `NRQL Syntax Error: Error at line 1 position ${position}, unexpected ${what}: ${problem}`,
  );
}

function unescaped(kind: NrqlToken['kind'], text: string): string {
  if (kind === 'pattern') return text.replaceAll(String.raw`\'`, "'");
  return kind === 'text' ? text.replaceAll(/\\(['"\\])/g, '$1') : text;
}

/** Without the end. Throws `INVALID_INPUT` for what cannot begin a token. */
function tokensOf(text: string): readonly NrqlToken[] {
  const tokens: NrqlToken[] = [];
  const pattern = new RegExp(tokenPattern);
  while (pattern.lastIndex < text.length) {
    const position = pattern.lastIndex + 1;
    const match = pattern.exec(text);
    if (match === null) {
      const rest = text.slice(position - 1, position + 9);
      throw syntaxError('no token begins here', { kind: 'word', text: rest, position });
    }
    const groups = match.groups ?? {};
    const kind = kinds.find((name) => groups[name] !== undefined);
    if (kind !== undefined) {
      const length = match[0].length;
      tokens.push({ kind, text: unescaped(kind, groups[kind] ?? ''), position, length });
    }
  }
  return tokens;
}

function isWord({ kind, text }: NrqlToken, keyword: string): boolean {
  return kind === 'word' && text.toUpperCase() === keyword;
}

function isKeyword({ kind, text }: NrqlToken): boolean {
  return kind === 'word' && reserved.has(text.toUpperCase());
}

/** Reads the tokens of a query one after the other. Keywords have no case. */
export class NrqlReader {
  /** Whether the query is of events, which have any attributes, and not of timeslices. */
  readonly isOfEvents: boolean;
  /** Whether it is of metrics that have any attributes, as events do. */
  readonly isOfDimensions: boolean;
  /** Whether it is no NRQL, but the query of a search for entities. */
  readonly isOfEntities: boolean;
  readonly #text: string;
  readonly #tokens: readonly NrqlToken[];
  readonly #end: NrqlToken;
  readonly #entityAttributes: ReadonlySet<string> | undefined;
  #index = 0;

  /** `entityAttributes`: those of a search for entities, beside tags. */
  constructor(text: string, entityAttributes?: ReadonlySet<string>) {
    this.#text = text;
    this.#tokens = tokensOf(text);
    this.#end = { kind: 'end', text: '', position: text.length + 1, length: 0 };
    this.#entityAttributes = entityAttributes;
    this.isOfEntities = entityAttributes !== undefined;
    this.isOfDimensions = this.#tokens.some(({ text: word }) => dimension.test(word));
    const isOfOthers = this.#tokens.some(
      (token, place) => isWord(token, 'FROM') && this.#tokens[place + 1]?.text !== 'Metric',
    );
    this.isOfEvents = isOfOthers || this.isOfDimensions;
  }

  peek(): NrqlToken {
    return this.#at(0);
  }

  next(): NrqlToken {
    this.#index += 1;
    return this.#at(-1);
  }

  /** Takes these keywords, if they are next, all of them. */
  takeWords(...keywords: readonly string[]): boolean {
    if (!keywords.every((keyword, offset) => isWord(this.#at(offset), keyword))) return false;
    this.#index += keywords.length;
    return true;
  }

  takeSymbol(symbol: string): boolean {
    const { kind, text } = this.peek();
    if (kind !== 'symbol' || text !== symbol) return false;
    this.#index += 1;
    return true;
  }

  expectWord(keyword: string): void {
    if (!this.takeWords(keyword)) throw this.fail(`expected ${keyword}`);
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.fail(`expected '${symbol}'`);
  }

  /** The text of a token of one of these kinds that is no keyword. */
  expectOne(kindsOf: readonly NrqlToken['kind'][], what: string): string {
    const token = this.peek();
    if (isKeyword(token) || !kindsOf.includes(token.kind)) throw this.fail(`expected ${what}`);
    return this.next().text;
  }

  /** An attribute that data can have. The vendor would take any other for one that is null. */
  attribute(): string {
    const call = this.callAhead();
    if (call !== undefined) throw this.unknown(`the function ${call} here`);
    const { text } = this.peek();
    if (this.isOfEntities) {
      const isKnown = this.#entityAttributes?.has(text) === true || text.startsWith('tags.');
      if (this.isName() && !isKnown) throw invalidInput(`Entity search has no attribute '${text}'`);
    } else if (this.isName() && !this.isOfEvents && !timesliceAttributes.has(text)) {
      throw this.unknown(`the attribute ${text} of timeslices`);
    }
    return this.expectOne(['word', 'name'], 'an attribute');
  }

  /** A name after `AS`, if that is next: a word, or a text in quotes. */
  label(otherwise: string): string {
    if (!this.takeWords('AS')) return otherwise;
    return this.expectOne(['word', 'name', 'text'], 'a name');
  }

  /** A whole number above 0. */
  positiveNumber(most: number = Number.POSITIVE_INFINITY): number {
    const { kind, text: digits } = this.peek();
    if (kind !== 'number' || !/^\d+$/.test(digits)) throw this.fail('expected a whole number');
    if (Number(digits) === 0) throw this.fail('expected a number above 0');
    if (Number(digits) > most) throw this.fail(`expected at most ${most}`);
    return Number(this.next().text);
  }

  /** Whether a name is next that is no keyword. */
  isName(): boolean {
    return ['word', 'name'].includes(this.peek().kind) && !isKeyword(this.peek());
  }

  /** The name of the function that is called next; `undefined` if none is. */
  callAhead(): string | undefined {
    return this.isName() && this.#at(1).text === '(' ? this.peek().text : undefined;
  }

  /** The query from this token to the one that was read last; of a name alone, without backticks. */
  textFrom(first: NrqlToken): string {
    const last = this.#at(-1);
    if (last === first && first.kind === 'name') return first.text;
    return this.#text.slice(first.position - 1, last.position - 1 + last.length);
  }

  /** The refusal of New Relic. */
  fail(problem: string): Error {
    return syntaxError(problem, this.peek());
  }

  /** What may be right, and is not simulated. */
  unknown(what: string): Error {
    return notSimulated(`${what} (at position ${this.peek().position})`);
  }

  #at(offset: number): NrqlToken {
    return this.#tokens[this.#index + offset] ?? this.#end;
  }
}
