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

/** The place of a part of a text that `file` has there; that of the whole text if it is written otherwise. */
export function partSpan(
  file: string,
  node: Node,
  { at, length }: { readonly at: number; readonly length: number },
): Span {
  const whole = spanOf(node);
  if (!isScalar(node) || typeof node.value !== 'string' || length === 0) return whole;
  const { value, type } = node;
  const part = value.slice(at, at + length);
  const inDouble = type === 'QUOTE_DOUBLE' ? JSON.stringify(part).slice(1, -1) : part;
  const written = type === 'QUOTE_SINGLE' ? part.replaceAll("'", "''") : inDouble;
  const begin = whole.start + (type?.startsWith('QUOTE') === true ? 1 : 0);
  // It is found by how often the same text stands before it: escapes and line ends do not matter.
  const occurrence = value.slice(0, at).split(part).length;
  const pieces = file.slice(begin, whole.end).split(written);
  const start = begin + pieces.slice(0, occurrence).join(written).length;
  return occurrence < pieces.length ? { start, end: start + written.length } : whole;
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
