/** A function that a query selects. */
export interface SelectedFunction {
  /** What follows AS; `undefined` without it. */
  readonly alias: string | undefined;
  /** Without the alias, and without blanks. */
  readonly expression: string;
  /** Where it ends in the text. */
  readonly end: number;
}

/** What rows are grouped by. */
export interface Facet {
  /** What follows AS; without it the attribute, or the whole expression. */
  readonly name: string;
  /** Whether it is an attribute, or has a name of its own. */
  readonly isNamed: boolean;
}

/** What a query says, as far as gauges depend on it. */
export interface NrqlText {
  /** On one line, without comments. */
  readonly text: string;
  /** The first words of its clauses, in capital letters. */
  readonly clauses: ReadonlySet<string>;
  /** Whether each thing that it selects calls a function. */
  readonly hasOnlyFunctions: boolean;
  readonly functions: readonly SelectedFunction[];
  readonly facets: readonly Facet[];
  /** Whether quotes and brackets are closed. */
  readonly isClosed: boolean;
}

/** Quoted texts and names stay as they are; comments, line ends and runs of blanks become one blank. */
const comments =
  /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?:(?:--|\/\/)[^\n]*|\/\*[\s\S]*?\*\/|\s)+/gu;

const tokenPattern = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[\p{L}\p{N}_.$@:]+|[^\s]/gu;

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** How many brackets are open around it. */
  readonly depth: number;
}

/** Words that begin a clause, where no bracket is open. An attribute with such a name is in backticks. */
const clauseWords: ReadonlySet<string> = new Set(
  'SELECT FROM WHERE FACET LIMIT SINCE UNTIL TIMESERIES COMPARE WITH ORDER OFFSET EXTRAPOLATE SLIDE SHOW JOIN INNER LEFT PREDICT'.split(
    ' ',
  ),
);

/** Reads a query as far as that takes no knowledge of its functions. */
export function readNrql(nrql: string): NrqlText {
  const text = nrql.replaceAll(comments, (_, quoted: string | undefined) => quoted ?? ' ').trim();
  const { tokens, isClosed } = tokensOf(text);
  const clauses = clausesOf(tokens);
  const selected = itemsOf(clauses.get('SELECT') ?? []);
  const functions = selected.map((item) => functionOf(item));
  return {
    text,
    clauses: new Set(clauses.keys()),
    hasOnlyFunctions: selected.length > 0 && selected.every(callsFunction),
    functions,
    facets: itemsOf(clauses.get('FACET') ?? []).map((item) => facetOf(item)),
    isClosed,
  };
}

/** The same query in which each function has a name. */
export function withAliases(
  { text, functions }: NrqlText,
  aliasOf: (index: number) => string,
): string {
  let named = '';
  let from = 0;
  for (const [index, { alias, end }] of functions.entries()) {
    if (alias === undefined) {
      named += `${text.slice(from, end)} AS ${aliasOf(index)}`;
      from = end;
    }
  }
  return named + text.slice(from);
}

function tokensOf(text: string): { readonly tokens: readonly Token[]; readonly isClosed: boolean } {
  const tokens: Token[] = [];
  let depth = 0;
  let isClosed = true;
  for (const { 0: token, index } of text.matchAll(tokenPattern)) {
    if (token === ')' || token === ']') depth -= 1;
    if (depth < 0 || `'"\``.includes(token)) isClosed = false;
    tokens.push({ text: token, start: index, end: index + token.length, depth });
    if (token === '(' || token === '[') depth += 1;
  }
  return { tokens, isClosed: isClosed && depth === 0 };
}

/** The tokens of each clause, by its first word. */
function clausesOf(tokens: readonly Token[]): ReadonlyMap<string, readonly Token[]> {
  const clauses = new Map<string, Token[]>();
  let clause: Token[] = [];
  for (const token of tokens) {
    const word = token.text.toUpperCase();
    if (token.depth === 0 && clauseWords.has(word)) {
      clause = [];
      clauses.set(word, clause);
    } else {
      clause.push(token);
    }
  }
  return clauses;
}

/** What commas separate where no bracket is open. */
function itemsOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const items: Token[][] = [];
  let item: Token[] = [];
  for (const token of tokens) {
    if (token.depth === 0 && token.text === ',') {
      items.push(item);
      item = [];
    } else item.push(token);
  }
  return [...items, item].filter(({ length }) => length > 0);
}

function callsFunction(item: readonly Token[]): boolean {
  return item.some(({ text }, index) => /^[\p{L}_]/u.test(text) && item[index + 1]?.text === '(');
}

interface Named {
  readonly alias: string | undefined;
  readonly own: readonly Token[];
}

function namedOf(item: readonly Token[]): Named {
  const [as, name] = item.slice(-2);
  const isNamed = item.length > 2 && as?.depth === 0 && as.text.toUpperCase() === 'AS';
  if (!isNamed || name === undefined) return { alias: undefined, own: item };
  return { alias: withoutQuotes(name.text), own: item.slice(0, -2) };
}

function functionOf(item: readonly Token[]): SelectedFunction {
  const { alias, own } = namedOf(item);
  return { alias, expression: own.map(({ text }) => text).join(''), end: own.at(-1)?.end ?? 0 };
}

function facetOf(item: readonly Token[]): Facet {
  const { alias, own } = namedOf(item);
  const expression = own.map(({ text }) => text).join('');
  const isNamed = alias !== undefined || own.length === 1;
  return { name: alias ?? withoutQuotes(expression), isNamed };
}

function withoutQuotes(text: string): string {
  return /^(['"`]).*\1$/su.test(text) ? text.slice(1, -1) : text;
}
