import { invalidInput } from './graphql-failure.ts';

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

/** What a query that the vendor does not understand is answered with. */
export function syntaxError(
  problem: string,
  { text, kind, position }: Pick<NrqlToken, 'text' | 'kind' | 'position'>,
): Error {
  const what = kind === 'end' ? 'the end of the query' : `'${text}'`;
  return invalidInput(
    `NRQL Syntax Error: Error at line 1 position ${position}, unexpected ${what}: ${problem}`,
  );
}

const tokenPattern = new RegExp(
  [
    String.raw`\s+`,
    String.raw`r'(?<pattern>(?:[^'\\]|\\.)*)'`,
    String.raw`'(?<text>(?:[^'\\]|\\.)*)'`,
    '`(?<name>[^`]+)`',
    String.raw`(?<number>\d+(?:\.\d+)?)`,
    String.raw`(?<word>[\p{L}_][\p{L}\p{N}_.]*)`,
    String.raw`(?<symbol><=|>=|!=|[-=<>(),*/+\]\[:])`,
  ].join('|'),
  'suy',
);

type Groups = Readonly<Record<string, string | undefined>>;
type Place = Pick<NrqlToken, 'position' | 'length'>;

function tokenOf(groups: Groups, place: Place): NrqlToken | undefined {
  const { pattern, text, name, number, word, symbol } = groups;
  if (pattern !== undefined) {
    return { kind: 'pattern', text: pattern.replaceAll(String.raw`\'`, "'"), ...place };
  }
  if (text !== undefined) {
    return { kind: 'text', text: text.replaceAll(/\\(['"\\])/g, '$1'), ...place };
  }
  if (name !== undefined) return { kind: 'name', text: name, ...place };
  if (number !== undefined) return { kind: 'number', text: number, ...place };
  if (word !== undefined) return { kind: 'word', text: word, ...place };
  if (symbol === undefined) return undefined;
  return { kind: 'symbol', text: symbol, ...place };
}

/** The last token has the kind `end`. Throws `INVALID_INPUT` for what cannot begin a token, and for brackets
 * without a partner. */
export function nrqlTokens(text: string): readonly NrqlToken[] {
  const tokens: NrqlToken[] = [];
  const pattern = new RegExp(tokenPattern);
  while (pattern.lastIndex < text.length) {
    const position = pattern.lastIndex + 1;
    const match = pattern.exec(text);
    if (match === null) {
      const rest = text.slice(position - 1, position + 9);
      throw syntaxError('no token begins here', { kind: 'word', text: rest, position });
    }
    const token = tokenOf(match.groups ?? {}, { position, length: match[0].length });
    if (token !== undefined) tokens.push(token);
  }
  const all = [...tokens, { kind: 'end', text: '', position: text.length + 1, length: 0 } as const];
  checkBrackets(all);
  return all;
}

const closing: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
]);

function checkBrackets(tokens: readonly NrqlToken[]): void {
  const open: string[] = [];
  for (const token of tokens) {
    const closed = token.kind === 'symbol' ? closing.get(token.text) : undefined;
    if (closed !== undefined) open.push(closed);
    const closes = token.kind === 'symbol' && (token.text === ')' || token.text === ']');
    if (closes && open.pop() !== token.text) throw syntaxError('no bracket is open', token);
    if (token.kind === 'end' && open.length > 0) throw syntaxError('a bracket is open', token);
  }
}
