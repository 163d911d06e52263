import { isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';

/** A range of offsets (UTF-16 code units) in the file's text; `end` is not part of it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A map of a file that `readYaml` has read: every key is a text, and nothing in it is an alias. */
export type FileMap = YAMLMap<Scalar<string>, Node>;

/** The place of a value. `readYaml` has given one to every node. */
export function spanOf({ range }: Pick<Node, 'range'>): Span {
  const [start, end] = range ?? [0, 0];
  return { start, end };
}

export function isFileMap(node: unknown): node is FileMap {
  return isMap<Scalar<string>, Node>(node);
}

/** Escapes, and blanks, which may be the end of a line; of other texts each character. */
const writtenTokens: ReadonlyMap<string | undefined, RegExp> = new Map([
  ['QUOTE_DOUBLE', /(?:\s|\\[nrt\s])+|\\(?:x..|u.{4}|U.{8}|.)|./gsu],
  ['QUOTE_SINGLE', /\s+|''|./gsu],
]);

/** The place of a part of a text, however it is written; that of the whole text if it cannot be told. */
export function partSpan(
  source: string,
  node: Node,
  { at, length }: { readonly at: number; readonly length: number },
): Span {
  const whole = spanOf(node);
  if (!isScalar(node) || typeof node.value !== 'string') return whole;
  const text = node.value;
  const form = writtenTokens.get(node.type);
  const written = source.slice(whole.start, whole.end);
  const begin = form === undefined ? (/^[|>].*\n\s*/u.exec(written)?.[0].length ?? 0) : 1;
  /** Where each code unit of the text is written. */
  const places: number[] = [];
  for (const { 0: token, index } of written.slice(begin).matchAll(form ?? /\s+|./gsu)) {
    if (places.length >= text.length) break;
    const isBlank = /^(?:\s|\\[nrt\s])/u.test(token);
    const isEscape = token.length > 1 && (token === "''" || token.startsWith('\\'));
    const blanks = /^\s*/u.exec(text.slice(places.length))?.[0].length ?? 0;
    const units = isBlank ? blanks : isEscape ? 1 : token.length;
    if (!isBlank && !isEscape && !text.startsWith(token, places.length)) return whole;
    const step = isEscape || isBlank ? 0 : 1;
    for (let unit = 0; unit < units; unit += 1)
      places.push(whole.start + begin + index + unit * step);
  }
  const [start, last] = [places[at], places[at + length - 1]];
  return start === undefined || last === undefined ? whole : { start, end: last + 1 };
}

/** The value under a key of a map. */
export function valueOf(map: FileMap, key: string): Node | undefined {
  return map.get(key, true);
}

/** The value at a path of keys and indices. */
export function locate(root: Node, path: readonly PropertyKey[]): Node | undefined {
  let node: Node | undefined = root;
  for (const step of path) {
    if (isFileMap(node)) node = valueOf(node, String(step));
    else if (isSeq<Node>(node)) node = node.items[Number(step)];
    else return undefined;
  }
  return node;
}

/** Finds the place of the value at a path of the file. */
export type At = (...path: readonly PropertyKey[]) => { readonly span: Span } | undefined;

export function createAt(root: Node): At {
  return (...path) => {
    const node = locate(root, path);
    return node === undefined ? undefined : { span: spanOf(node) };
  };
}

/** The place of the last key of a path. */
export function keySpanAt(root: Node, path: readonly PropertyKey[]): Span | undefined {
  const parent = locate(root, path.slice(0, -1));
  const last = String(path.at(-1));
  const pair = isFileMap(parent) ? parent.items.find(({ key }) => key.value === last) : undefined;
  return pair === undefined ? undefined : spanOf(pair.key);
}

export function keysOf(map: FileMap): readonly string[] {
  return map.items.map(({ key }) => key.value);
}

/** The maps in the list under a key of the root. Other values are left out. */
export function mapsUnder(root: Node, key: string): readonly FileMap[] {
  const list = locate(root, [key]);
  return isSeq(list) ? list.items.filter(isFileMap) : [];
}

/** The plain data of a file, for a schema to parse. The YAML package would round large numbers. */
export function plainOf(node: unknown): unknown {
  if (isFileMap(node)) {
    return Object.fromEntries(node.items.map(({ key, value }) => [key.value, plainOf(value)]));
  }
  if (isSeq(node)) return node.items.map(plainOf);
  return isScalar(node) ? node.value : null;
}

/** A text of the file and its place. */
export interface PlacedText {
  readonly text: string;
  readonly span: Span;
}

/** The string under a key of a map; `undefined` if there is none. */
export function textEntry(map: FileMap, key: string): PlacedText | undefined {
  const node = valueOf(map, key);
  if (!isScalar(node) || typeof node.value !== 'string') return undefined;
  return { text: node.value, span: spanOf(node) };
}

/** All strings of a file, each with the key that it belongs to. */
export function textsOf(node: unknown, key = ''): readonly (PlacedText & { key: string })[] {
  if (isFileMap(node)) {
    return node.items.flatMap((pair: Pair<Scalar<string>, Node>) =>
      textsOf(pair.value, pair.key.value),
    );
  }
  if (isSeq(node)) return node.items.flatMap((item) => textsOf(item, key));
  return isScalar(node) && typeof node.value === 'string'
    ? [{ key, text: node.value, span: spanOf(node) }]
    : [];
}

/** Whether a map sets a key to `true`, or to `false`. */
export function isSetTo(map: FileMap, key: string, wanted: boolean): boolean {
  const node = valueOf(map, key);
  return isScalar(node) && node.value === wanted;
}

/** Describes a value in a few words, for a message. */
export function describe(node: Node): string {
  if (isMap(node)) return 'a map';
  if (isSeq(node)) return 'a list';
  if (!isScalar(node) || node.value === null) return 'nothing';
  const { value, source = '' } = node;
  if (typeof value !== 'string') return source;
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
