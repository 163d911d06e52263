import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  Parser,
} from 'yaml';
import { errorAt, type Problem } from './diagnostic.ts';
import {
  describe,
  type Located,
  type LocatedEntry,
  type LocatedScalar,
  type Span,
} from './located.ts';
import { type Opening, syntaxProblems } from './syntax-problems.ts';

/** Deeper files exhaust the stack of the YAML package, which may end the process. */
const deepestNesting = 50;
/** The limit of values behind aliases: far more than people write, far less than in a bomb. */
const mostAliasedValues = 100_000;

/** `root` is only defined if there are no problems. */
export interface ReadYaml {
  readonly root: Located | undefined;
  readonly problems: readonly Problem[];
}

interface Reading {
  readonly text: string;
  readonly problems: Problem[];
  readonly anchors: Map<string, Located>;
  aliasedValues: number;
}

function failed(...problems: readonly Problem[]): ReadYaml {
  return { root: undefined, problems };
}

/** The document and a scalar value take a place in the parser's stack, too. */
const deepestStack = deepestNesting + 2;

interface Tokens {
  readonly tokens: readonly CST.Token[];
  readonly openings: readonly Opening[];
}

/** The tokens of a text, or the problem as soon as it is nested too deeply. */
function tokensOf(text: string): Tokens | Problem {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  const openings: Opening[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    const start = parser.offset;
    const character = lexeme.charAt(0);
    if (/^(?:[[\]{}]$|["'])/u.test(lexeme)) openings.push({ character, offset: start });
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > deepestStack) {
      const message = `values are nested more than ${deepestNesting} deep`;
      return errorAt({ start, end: start + Math.max(1, lexeme.length) }, message);
    }
  }
  tokens.push(...parser.end());
  return { tokens, openings };
}

function spanOf(node: { readonly range?: readonly number[] | null | undefined }): Span | undefined {
  const [start, end] = node.range ?? [];
  return start === undefined || end === undefined || start === end ? undefined : { start, end };
}

function scalarOf(value: unknown, source: string | undefined, span: Span): LocatedScalar {
  const scalar = { kind: 'scalar', span, size: 1 } as const;
  if (typeof value === 'bigint') {
    const number = Number(value);
    return {
      ...scalar,
      value: Number.isSafeInteger(number) ? number : value,
      source: source ?? String(value),
    };
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return { ...scalar, value, source: source ?? String(value) };
  }
  return { ...scalar, value: null, source: source ?? '' };
}

function readAlias(name: string, span: Span, reading: Reading): Located {
  const target = reading.anchors.get(name);
  if (target === undefined) {
    reading.problems.push(
      errorAt(
        span,
        `the alias "*${name}" stands for nothing`,
        `put a text that begins with * in quotes; for an alias, "&${name}" must come before it`,
      ),
    );
    return scalarOf(null, '', span);
  }
  reading.aliasedValues += target.size;
  if (reading.aliasedValues <= mostAliasedValues) return target;
  // Reported once: every later alias would only repeat the problem.
  if (reading.aliasedValues - target.size <= mostAliasedValues) {
    reading.problems.push(
      errorAt(span, `the aliases stand for more than ${mostAliasedValues} values`),
    );
  }
  return scalarOf(null, '', span);
}

function keyOf(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? 'null');
}

function readEntry(
  pair: { readonly key: unknown; readonly value: unknown },
  parent: Span,
  reading: Reading,
): LocatedEntry | undefined {
  const key = keyOf(pair.key);
  const keySpan = (isScalar(pair.key) ? spanOf(pair.key) : undefined) ?? parent;
  if (key === undefined || key === '__proto__') {
    reading.problems.push(errorAt(keySpan, 'a key must be a plain name'));
    return undefined;
  }
  if (isScalar(pair.key)) register(pair.key.anchor, scalarOf(key, key, keySpan), reading);
  return { key, keySpan, value: readNode(pair.value, keySpan, reading) };
}

function register(anchor: string | undefined, located: Located, reading: Reading): void {
  if (anchor !== undefined) reading.anchors.set(anchor, located);
}

/** `around` is the place of a missing value in messages. */
function readNode(node: unknown, around: Span, reading: Reading): Located {
  if (isAlias(node)) return readAlias(node.source, spanOf(node) ?? around, reading);
  const located = readValue(node, around, reading);
  if (isMap(node) || isSeq(node) || isScalar(node)) register(node.anchor, located, reading);
  return located;
}

/** The place of the `-` in front of an entry that holds nothing. */
function dashOf(item: unknown, { text }: Reading): Span | undefined {
  const offset = isScalar(item) && spanOf(item) === undefined ? item.range?.[0] : undefined;
  const start = offset === undefined ? -1 : text.lastIndexOf('-', offset);
  return start === -1 ? undefined : { start, end: start + 1 };
}

function readValue(node: unknown, around: Span, reading: Reading): Located {
  if (isMap(node)) {
    const span = spanOf(node) ?? around;
    const entries = new Map<string, LocatedEntry>();
    let size = 1;
    for (const pair of node.items) {
      const entry = readEntry(pair, span, reading);
      if (entry === undefined) continue;
      if (entries.has(entry.key)) {
        reading.problems.push(errorAt(entry.keySpan, `duplicate key "${entry.key}"`));
        continue;
      }
      entries.set(entry.key, entry);
      size += entry.value.size;
    }
    return { kind: 'map', span, size, entries };
  }
  if (isSeq(node)) {
    const span = spanOf(node) ?? around;
    const items = node.items.map((item) => readNode(item, dashOf(item, reading) ?? span, reading));
    return { kind: 'list', span, size: items.reduce((sum, item) => sum + item.size, 1), items };
  }
  if (isScalar(node)) return scalarOf(node.value, node.source, spanOf(node) ?? around);
  return scalarOf(null, '', around);
}

function compose(text: string, tokens: readonly CST.Token[]): readonly Document.Parsed[] {
  const composer = new Composer({
    prettyErrors: false,
    intAsBigInt: true,
    // readValue finds duplicate keys: the package would compare every key with every other.
    uniqueKeys: false,
    resolveKnownTags: false,
  });
  return [...composer.compose(tokens, true, text.length)];
}

function severalDocuments(second: Document.Parsed): Problem {
  const start = second.range[0];
  const help = 'keep one document: remove the line "---" and what follows it';
  return errorAt({ start, end: start + 3 }, 'the file holds several documents', help);
}

function emptyFile(needs: string | undefined): ReadYaml {
  if (needs !== undefined) {
    return failed(errorAt(undefined, 'the file is empty', `it needs at least "${needs}"`));
  }
  const span = { start: 0, end: 0 };
  return { root: { kind: 'map', span, size: 1, entries: new Map() }, problems: [] };
}

function readDocument(
  document: Document.Parsed | undefined,
  { text, needs }: { readonly text: string; readonly needs: string | undefined },
): ReadYaml {
  const contents: unknown = document?.contents;
  const isEmpty = isScalar(contents) && contents.value === null;
  if (contents === undefined || contents === null || isEmpty) return emptyFile(needs);
  const reading: Reading = { text, problems: [], anchors: new Map(), aliasedValues: 0 };
  const root = readNode(contents, { start: 0, end: 1 }, reading);
  if (reading.problems.length > 0) return failed(...reading.problems);
  if (root.kind === 'map') return { root, problems: [] };
  const key = needs === undefined ? '' : ` with the key "${needs}"`;
  const message = `the file must be a map${key}, not ${describe(root)}`;
  return failed(errorAt(root.span, message));
}

/**
 * Parses YAML into values with their places.
 *
 * @param needs the key that the file must have; `undefined` if it may be empty
 */
export function readYaml(text: string, needs: string | undefined): ReadYaml {
  const read = tokensOf(text);
  if ('message' in read) return failed(read);
  const [document, second] = compose(text, read.tokens);
  const issues = [...(document?.errors ?? []), ...(document?.warnings ?? [])];
  if (issues.length > 0) return failed(...syntaxProblems(issues, text, read.openings));
  return second === undefined
    ? readDocument(document, { text, needs })
    : failed(severalDocuments(second));
}
