import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { own } from '../model/own.ts';
import { errorAt, type FileProblem, type SourceText, type Span } from './diagnostic.ts';
import { syntaxHelp } from './suggestion.ts';

/** The way to a value of a file: keys of maps, and indices of lists. */
export type Path = readonly PropertyKey[];

/** What of a value is meant: its key, or a part of its text. */
export type Mark = 'key' | TextPart;

/** A part of a text. */
export interface TextPart {
  readonly at: number;
  readonly length: number;
}

/** A map of a file as plain data. */
export type PlainMap = Readonly<Record<string, unknown>>;

/** What a rule finds: where, what is wrong, and what helps. */
export type Found = readonly [path: Path, message: string, help?: string | undefined, mark?: Mark];

/** A value of a file, and where it is. What several aliases stand for is one object. */
interface Placed {
  /** Plain data; whole numbers beyond 2^53 are bigints. */
  readonly value: unknown;
  readonly span: Span;
  /** The items of a list by their index, or the values of a map, with the places of their keys. */
  readonly children: Children;
  /** How many values it stands for, itself included. */
  readonly size: number;
}

type Children = ReadonlyMap<PropertyKey, NodeChild>;

interface NodeChild {
  readonly key: Span;
  readonly placed: Placed;
}

/** A file of YAML that can be read. */
export interface YamlDocument extends Placed {
  readonly value: PlainMap;
  /** Keys that are there twice: the first of them counts. */
  readonly problems: readonly FileProblem[];
}

/** Deeper files exhaust the stack of the YAML package, which ends the process, whatever is caught. */
const deepestNesting = 50;
/** The limit of values behind aliases: far more than people write, far less than in a bomb. */
const mostAliasedValues = 100_000;
/** Far more than people write. Labels are on every series, so more of them would take much memory. */
const mostKeys = 1000;
/** One mistake often makes the parser report every later line too. */
const mostSyntaxErrors = 20;

/** The only document of a text. */
function composed(file: SourceText): Document.Parsed | readonly FileProblem[] {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(file.text)) {
    const start = parser.offset;
    tokens.push(...parser.next(lexeme));
    // The document and a scalar value take a place in the stack, too.
    if (parser.stack.length <= deepestNesting + 2) continue;
    const span = { file, start, end: start + Math.max(1, lexeme.length) };
    return [errorAt(span, `values are nested more than ${deepestNesting} deep`)];
  }
  tokens.push(...parser.end());
  // The package would compare every key with every other.
  const strict = { prettyErrors: false, uniqueKeys: false, resolveKnownTags: false };
  const composer = new Composer({ ...strict, intAsBigInt: true });
  const [document, second] = composer.compose(tokens, true, file.text.length);
  const issues = [...(document?.errors ?? []), ...(document?.warnings ?? [])];
  if (document === undefined || issues.length > 0) {
    return issues
      .filter(({ pos }, index) => pos[0] !== issues[index - 1]?.pos[0])
      .slice(0, mostSyntaxErrors)
      .map(({ code, message, pos: [start, end] }) =>
        errorAt({ file, start, end }, `YAML: ${message}`, syntaxHelp[code]),
      );
  }
  if (second === undefined) return document;
  const [start] = second.range;
  const help = 'keep one document: remove the line "---" and what follows it';
  return [errorAt({ file, start, end: start + 3 }, 'the file holds several documents', help)];
}

const none: Children = new Map();

function placed(value: unknown, span: Span, children = none): Placed {
  let size = 1;
  for (const child of children.values()) size += child.placed.size;
  return { value, span, children, size };
}

function placedList(items: readonly NodeChild[], span: Span): Placed {
  const values = items.map((item) => item.placed.value);
  return placed(values, span, new Map(items.entries()));
}

function placedMap(children: Children, span: Span): Placed & Pick<YamlDocument, 'value'> {
  const entries = Array.from(children, ([name, child]) => [name, child.placed.value] as const);
  const value: PlainMap = Object.fromEntries(entries);
  return { ...placed(value, span, children), value };
}

/**
 * Reads the nodes of a document: puts what they stand for in the place of aliases and merge keys, gives a place
 * to values that are not written, and reports keys that nothing can be read under.
 */
class Reading {
  /** Nothing can be read beside them. */
  readonly problems: FileProblem[] = [];
  readonly duplicates: FileProblem[] = [];
  readonly #anchors = new Map<string, Placed>();
  #aliasedValues = 0;

  /** `around` is the place of a value that is not written. */
  read(node: unknown, around: Span): Placed {
    if (isAlias(node)) return this.#target(node.source, nodeSpan(node, around));
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return placed(null, around);
    const written = nodeSpan(node, around);
    const span = written.start === written.end ? around : written;
    const found = this.#within(node, span);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, found);
    return found;
  }

  #report(span: Span, message: string, help?: string): void {
    this.problems.push(errorAt(span, message, help));
  }

  #within(node: Scalar | YAMLMap | YAMLSeq, span: Span): Placed {
    if (isMap(node)) return this.#map(node, span);
    if (isSeq(node)) {
      const items = node.items.map((item) => ({ key: span, placed: this.read(item, span) }));
      return placedList(items, span);
    }
    // The others stay bigints: ids of applications must be exact.
    const number = typeof node.value === 'bigint' ? Number(node.value) : Number.NaN;
    return placed(Number.isSafeInteger(number) ? number : node.value, span);
  }

  #map(map: YAMLMap, span: Span): Placed {
    const written = new Map<string, NodeChild>();
    for (const { key, value } of map.items) {
      const { span: place } = this.read(key, span);
      const name = isScalar(key) ? keyNameOf(key) : '__proto__';
      if (name === '__proto__') {
        this.#report(
          place,
          'a key must be a plain name',
          'put a value that begins with { in quotes',
        );
        continue;
      }
      const child = { key: place, placed: this.read(value, place) };
      if (written.has(name))
        this.duplicates.push(
          errorAt(place, `duplicate key "${name}"`, 'write all of it under the first one'),
        );
      else written.set(name, child);
    }
    const merge = written.get('<<')?.placed;
    written.delete('<<');
    const children = merge === undefined ? written : this.#merged(merge, written);
    if (children.size > mostKeys) this.#report(span, `a map has more than ${mostKeys} keys`);
    return placedMap(children, span);
  }

  /** Keys that are written win, and then those of the first map. */
  #merged({ value, span, children }: Placed, written: Children): Children {
    const items = Array.isArray(value) ? Array.from(children.values(), (one) => one.placed) : [];
    const maps = isPlainMap(value) ? [{ value, children }] : items;
    const isRight = maps.length > 0 && maps.every((one) => isPlainMap(one.value));
    // An alias that stands for nothing has been reported there.
    if (!isRight && this.problems.at(-1)?.span !== span) {
      const message = '"<<" must be a map, or a list of maps';
      this.#report(span, message, 'write an alias, such as <<: *name');
    }
    const all = [...maps.toReversed().map((one) => one.children), written];
    return new Map(all.flatMap((one) => [...one]));
  }

  #target(name: string, span: Span): Placed {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const help = `put a text that begins with * in quotes; for an alias, "&${name}" must come before it`;
      this.#report(span, `the alias "*${name}" stands for nothing`, help);
      return placed(null, span);
    }
    const before = this.#aliasedValues;
    this.#aliasedValues += target.size;
    if (this.#aliasedValues <= mostAliasedValues) return target;
    // Reported once: every later alias would only repeat the problem.
    if (before <= mostAliasedValues) {
      this.#report(span, `the aliases stand for more than ${mostAliasedValues} values`);
    }
    return placed(null, span);
  }
}

function nodeSpan({ range }: Node, { file }: Span): Span {
  const [start, end] = range ?? [0, 0];
  return { file, start, end };
}

/** A key such as `1` or `true` counts as the text that is written. */
function keyNameOf(key: Scalar): string {
  return typeof key.value === 'string' ? key.value : (key.source ?? 'null');
}

/** Plain data whose places are known, or problems. Without a key that the file `needs`, it may be empty. */
export function readYaml(file: SourceText, needs?: string): YamlDocument | readonly FileProblem[] {
  const document = composed(file);
  if (!('contents' in document)) return document;
  const reading = new Reading();
  const root = reading.read(document.contents, { file, start: 0, end: 1 });
  const { problems, duplicates } = reading;
  if (problems.length > 0) return [...problems, ...duplicates];
  const { value, span } = root;
  if (isPlainMap(value)) return { ...root, value, problems: duplicates };
  if (value === null && needs === undefined) return { ...root, value: {}, problems: [] };
  const help = `it needs at least "${needs}"`;
  if (value === null) return [errorAt(undefined, 'the file is empty', help)];
  const key = needs === undefined ? '' : ` with the key "${needs}"`;
  const found = describe({ value, source: file.text.slice(span.start, span.end) });
  return [errorAt(span, `the file must be a map${key}, not ${found}`)];
}

/** Without the keys of the top level that begin with "x-": a place for anchors, they mean nothing. */
export function withoutExtensions(document: YamlDocument): YamlDocument {
  const meant = [...document.children].filter(([key]) => !String(key).startsWith('x-'));
  return { ...document, ...placedMap(new Map(meant), document.span) };
}

/**
 * One document of several: the lists of the others under the keys stand behind those of the first. A key of
 * the first that is no list stays as it is.
 */
export function joined(
  [first, ...others]: readonly [YamlDocument, ...YamlDocument[]],
  keys: readonly string[],
): YamlDocument {
  const children = new Map(first.children);
  for (const key of keys) {
    const all = [first, ...others].flatMap((one) => one.children.get(key) ?? []);
    const [head] = all;
    if (head === undefined || all.some((one) => !Array.isArray(one.placed.value))) continue;
    const items = all.flatMap((one) => [...one.placed.children.values()]);
    children.set(key, { key: head.key, placed: placedList(items, head.placed.span) });
  }
  return { ...first, ...placedMap(children, first.span) };
}

export function isPlainMap(value: unknown): value is PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The maps in the list under a key, each with its path. Other values are left out. */
export function mapsUnder(
  file: PlainMap | undefined,
  key: 'accounts' | 'apps' | 'queries',
): readonly PlacedMap[] {
  const list = file?.[key];
  if (!Array.isArray(list)) return [];
  return list.flatMap((map: unknown, index) =>
    isPlainMap(map) ? [{ map, path: [key, index] }] : [],
  );
}

export interface PlacedMap {
  readonly map: PlainMap;
  readonly path: Path;
}

function childAt(document: YamlDocument, path: Path): NodeChild | undefined {
  let child: NodeChild | undefined = { key: document.span, placed: document };
  for (const step of path) child = child?.placed.children.get(step);
  return child;
}

/** The plain data at a path; `undefined` if there is none. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((at, step) => {
    if (Array.isArray(at)) return at[Number(step)] as unknown;
    return isPlainMap(at) ? own(at, String(step)) : undefined;
  }, value);
}

/** A value of a file, and how the file has it, if it is neither a map nor a list. */
export interface Written {
  readonly value: unknown;
  readonly source: string;
}

/** What is written at a path; `undefined` if nothing is. */
export function writtenAt(document: YamlDocument, path: Path): Written | undefined {
  const child = childAt(document, path);
  if (child === undefined) return undefined;
  const { value, span } = child.placed;
  const { file, start, end } = span;
  return { value, source: typeof value === 'string' ? value : file.text.slice(start, end) };
}

/** A text of a file, and the way to it. */
export interface PlacedText {
  readonly text: string;
  readonly path: Path;
}

/** The text under a key of a map; `undefined` if there is none. */
export function textAt({ map, path }: PlacedMap, key: string): PlacedText | undefined {
  const text = own(map, key);
  return typeof text === 'string' ? { text, path: [...path, key] } : undefined;
}

/** All texts in a value of plain data. */
export function textsIn(value: unknown, path: Path = []): readonly PlacedText[] {
  if (typeof value === 'string') return [{ text: value, path }];
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => textsIn(item, [...path, index]));
  }
  if (!isPlainMap(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, [...path, key]));
}

/** Visits the values that are neither maps nor lists. */
export function* scalarsIn(
  { value, span, children }: Placed,
  path: Path = [],
): Iterable<Pick<Placed, 'value' | 'span'> & { readonly path: Path }> {
  if (children.size === 0) yield { value, span, path };
  for (const [key, child] of children) yield* scalarsIn(child.placed, [...path, key]);
}

/** The place of a value, of its key or of a part of its text; `undefined` if it is not written. */
export function spanAt(document: YamlDocument, path: Path, mark?: Mark): Span | undefined {
  const child = childAt(document, path);
  if (child === undefined || mark === undefined) return child?.placed.span;
  return mark === 'key' ? child.key : partSpan(child.placed, mark);
}

/** What rules have found, each at its place. */
export function problemsAt(
  document: YamlDocument,
  found: Iterable<Found>,
  make: typeof errorAt,
): readonly FileProblem[] {
  return Array.from(found, ([path, message, help, mark]) =>
    make(spanAt(document, path, mark), message, help),
  );
}

/** The place of a part of a text, if the file has it so; that of the whole text if it is written otherwise. */
function partSpan({ value, span }: Placed, { at, length }: TextPart): Span {
  if (typeof value !== 'string' || length === 0) return span;
  const { file } = span;
  const part = value.slice(at, at + length);
  const quote = file.text.charAt(span.start);
  const begin = span.start + (quote === '"' || quote === "'" ? 1 : 0);
  const inDouble = quote === '"' ? JSON.stringify(part).slice(1, -1) : part;
  const written = quote === "'" ? part.replaceAll("'", "''") : inDouble;
  // It is found by how often the same text stands before it: escapes and line ends do not matter.
  const occurrence = value.slice(0, at).split(part).length;
  const pieces = file.text.slice(begin, span.end).split(written);
  const start = begin + pieces.slice(0, occurrence).join(written).length;
  return occurrence < pieces.length ? { file, start, end: start + written.length } : span;
}

/** Describes a value in a few words, for a message. */
export function describe({ value, source }: Written): string {
  if (isPlainMap(value)) return 'a map';
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'nothing';
  if (typeof value !== 'string') return source;
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
