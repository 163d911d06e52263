import { invalidInput } from './graphql-failure.ts';

export interface NrqlToken {
  /** `name` is a word in backticks, `pattern` a raw text: r'...'. */
  readonly kind: 'word' | 'name' | 'number' | 'text' | 'pattern' | 'symbol' | 'end';
  /** Without quotes, escapes resolved. */
  readonly text: string;
  /** From 1. */
  readonly position: number;
}

/** What a query that the vendor does not understand is answered with. */
export function syntaxError(problem: string, { text, kind, position }: NrqlToken): Error {
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

function tokenOf(groups: Groups, position: number): NrqlToken | undefined {
  const { pattern, text, name, number, word, symbol } = groups;
  if (pattern !== undefined) {
    return { kind: 'pattern', text: pattern.replaceAll(String.raw`\'`, "'"), position };
  }
  if (text !== undefined) {
    return { kind: 'text', text: text.replaceAll(/\\(['"\\])/g, '$1'), position };
  }
  if (name !== undefined) return { kind: 'name', text: name, position };
  if (number !== undefined) return { kind: 'number', text: number, position };
  if (word !== undefined) return { kind: 'word', text: word, position };
  if (symbol === undefined) return undefined;
  return { kind: 'symbol', text: symbol, position };
}

/** The last token has the kind `end`. Throws `INVALID_INPUT` for what cannot begin a token. */
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
    const token = tokenOf(match.groups ?? {}, position);
    if (token !== undefined) tokens.push(token);
  }
  return [...tokens, { kind: 'end', text: '', position: text.length + 1 }];
}
