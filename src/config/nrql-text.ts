/** A function that a query selects. */
export interface SelectedFunction {
  /** What follows AS; `undefined` without it. */
  readonly alias: string | undefined;
  /** Without the alias, and without blanks. */
  readonly expression: string;
  /** Where it ends in the text. */
  readonly end: number;
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
  /** What rows are grouped by: what follows AS; without it the attribute, or the whole expression. */
  readonly facets: readonly string[];
}

/** Quoted texts and names stay as they are; comments, line ends and runs of blanks become one blank. */
const comments =
  /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?:(?:--|\/\/)[^\n]*|\/\*[\s\S]*?\*\/|\s)+/gu;

const tokenPattern = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[\p{L}\p{N}_.$@:]+|[^\s]/gu;

interface Token {
  readonly text: string;
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
  const clauses = clausesOf(tokensOf(text));
  const selected = itemsOf(clauses.get('SELECT') ?? []);
  const functions = selected.map((item) => functionOf(item));
  return {
    text,
    clauses: new Set(clauses.keys()),
    hasOnlyFunctions: selected.length > 0 && selected.every(callsFunction),
    functions,
    facets: itemsOf(clauses.get('FACET') ?? []).map((item) => facetOf(item)),
  };
}

/** The same query, in which a lone function has a name. */
export function withAlias({ text, functions }: NrqlText, name: string): string {
  const [first, second] = functions;
  if (first === undefined || second !== undefined || first.alias !== undefined) return text;
  return `${text.slice(0, first.end)} AS ${name}${text.slice(first.end)}`;
}

function tokensOf(text: string): readonly Token[] {
  let depth = 0;
  return Array.from(text.matchAll(tokenPattern), ({ 0: token, index }) => {
    if (token === ')' || token === ']') depth -= 1;
    const found = { text: token, end: index + token.length, depth };
    if (token === '(' || token === '[') depth += 1;
    return found;
  });
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

function facetOf(item: readonly Token[]): string {
  const { alias, own } = namedOf(item);
  return alias ?? withoutQuotes(own.map(({ text }) => text).join(''));
}

function withoutQuotes(text: string): string {
  return /^(['"`]).*\1$/su.test(text) ? text.slice(1, -1) : text;
}
