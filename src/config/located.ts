/** A range of offsets (UTF-16 code units) in the file's text; `end` is not part of it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A value of the file and its place. */
export type Located = LocatedMap | LocatedList | LocatedScalar;

export interface LocatedMap {
  readonly kind: 'map';
  readonly span: Span;
  /** The number of values in it, itself included, with aliases expanded. */
  readonly size: number;
  readonly entries: ReadonlyMap<string, LocatedEntry>;
}

export interface LocatedEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: Located;
}

interface LocatedList {
  readonly kind: 'list';
  readonly span: Span;
  readonly size: number;
  readonly items: readonly Located[];
}

export interface LocatedScalar {
  readonly kind: 'scalar';
  readonly span: Span;
  readonly size: 1;
  /** Whole numbers beyond 2^53 are bigints: application ids must stay exact. */
  readonly value: string | number | bigint | boolean | null;
  /** The text in the file. */
  readonly source: string;
}

/** The plain data of a tree, for a schema to parse. */
export function plainOf(located: Located): unknown {
  switch (located.kind) {
    case 'map':
      return Object.fromEntries(
        [...located.entries].map(([key, entry]) => [key, plainOf(entry.value)]),
      );
    case 'list':
      return located.items.map(plainOf);
    case 'scalar':
      return located.value;
  }
}

/** The value at a path of keys and indices. */
export function locate(root: Located, path: readonly PropertyKey[]): Located | undefined {
  let located: Located | undefined = root;
  for (const step of path) {
    if (located?.kind === 'map') located = located.entries.get(String(step))?.value;
    else if (located?.kind === 'list') located = located.items[Number(step)];
    else return undefined;
  }
  return located;
}

/** Finds the value at a path of the file. */
export type At = (...path: readonly PropertyKey[]) => Located | undefined;

/** The entry at a path, with the place of its key. */
export function entryAt(root: Located, path: readonly PropertyKey[]): LocatedEntry | undefined {
  const parent = locate(root, path.slice(0, -1));
  return parent?.kind === 'map' ? parent.entries.get(String(path.at(-1))) : undefined;
}

/** The maps in the list under a key of the root. Other values are left out. */
export function mapsUnder(root: Located, key: string): readonly LocatedMap[] {
  const list = locate(root, [key]);
  return list?.kind === 'list' ? list.items.filter((item) => item.kind === 'map') : [];
}

/** The string under a key of a map; `undefined` if there is none. */
export function textEntry(
  map: LocatedMap,
  key: string,
): { readonly text: string; readonly span: Span } | undefined {
  const value = map.entries.get(key)?.value;
  if (value?.kind !== 'scalar' || typeof value.value !== 'string') return undefined;
  return { text: value.value, span: value.span };
}

/** Whether a map sets a key to `false`. */
export function isOff(map: LocatedMap, key: string): boolean {
  const value = map.entries.get(key)?.value;
  return value?.kind === 'scalar' && value.value === false;
}

/** Describes a value in a few words, for a message. */
export function describe(located: Located): string {
  switch (located.kind) {
    case 'map':
      return 'a map';
    case 'list':
      return 'a list';
    case 'scalar': {
      if (located.value === null) return 'nothing';
      if (typeof located.value !== 'string') return located.source;
      const text = located.value;
      return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
    }
  }
}
