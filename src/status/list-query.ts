/** What a list can be filtered and sorted by. */
export interface ListShape<Key extends string, State extends string> {
  readonly sortKeys: readonly Key[];
  readonly states: readonly State[];
  /** Parameters that say what is listed, such as `account`. */
  readonly scope: readonly string[];
}

export interface Sort<Key extends string> {
  readonly key: Key;
  readonly isDescending: boolean;
}

/** Which part of a list is wanted, in which order: all that the address of a page says. */
export interface ListQuery<Key extends string, State extends string> {
  /** The given ones of the parameters in `ListShape.scope`. */
  readonly scope: Readonly<Record<string, string>>;
  readonly state: State | undefined;
  /** The text to search for; empty for no search. */
  readonly search: string;
  /** `undefined`: what needs attention first. */
  readonly sort: Sort<Key> | undefined;
  /** From 1. */
  readonly page: number;
}

function memberOf<Member extends string>(
  members: readonly Member[],
  text: string | null,
): Member | undefined {
  return members.find((member) => member === text);
}

function sortOf<Key extends string>(
  keys: readonly Key[],
  text: string | null,
): Sort<Key> | undefined {
  const isDescending = text?.startsWith('-') ?? false;
  const key = memberOf(keys, isDescending ? (text?.slice(1) ?? null) : text);
  return key === undefined ? undefined : { key, isDescending };
}

/** Reads the query of an address. What it does not know counts as left out. */
export function parseListQuery<Key extends string, State extends string>(
  params: URLSearchParams,
  { sortKeys, states, scope }: ListShape<Key, State>,
): ListQuery<Key, State> {
  const page = params.get('page') ?? '';
  const given = scope.flatMap((name) => {
    const value = params.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  return {
    scope: Object.fromEntries(given),
    state: memberOf(states, params.get('state')),
    search: params.get('q')?.trim() ?? '',
    sort: sortOf(sortKeys, params.get('sort')),
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
  };
}

export type ListChanges<Key extends string, State extends string> = Partial<ListQuery<Key, State>>;

/** The address of another part of the list, relative to `path`. Any change leads to the first page. */
export function hrefOf<Key extends string, State extends string>(
  path: string,
  query: ListQuery<Key, State>,
  changes: ListChanges<Key, State>,
): string {
  const { scope, state, search, sort, page } = { ...query, page: 1, ...changes };
  const params = new URLSearchParams(scope);
  if (state !== undefined) params.set('state', state);
  if (search !== '') params.set('q', search);
  if (sort !== undefined) params.set('sort', `${sort.isDescending ? '-' : ''}${sort.key}`);
  if (page > 1) params.set('page', String(page));
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

export type SortValue = string | number | undefined;

/** Sorted by a value; what has none comes last, in both directions. Equal ones stay in their order. */
export function sortedBy<Row>(
  rows: readonly Row[],
  valueOf: (row: Row) => SortValue,
  isDescending: boolean,
): readonly Row[] {
  const sign = isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: valueOf(row) }))
    .toSorted((left, right) => {
      if (left.value === right.value) return 0;
      if (left.value === undefined) return 1;
      if (right.value === undefined) return -1;
      return left.value < right.value ? -sign : sign;
    })
    .map(({ row }) => row);
}

/** A part of a list that fits on a page. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  /** The number of the first row on the page, from 1; 0 if there is none. */
  readonly first: number;
  readonly total: number;
}

/** The rows of a page; of the last one if there are not so many. */
export function sliceOf<Row>(rows: readonly Row[], page: number, perPage: number): Slice<Row> {
  const pages = Math.max(1, Math.ceil(rows.length / perPage));
  const shown = Math.min(page, pages);
  const begin = (shown - 1) * perPage;
  return {
    rows: rows.slice(begin, begin + perPage),
    page: shown,
    pages,
    first: rows.length === 0 ? 0 : begin + 1,
    total: rows.length,
  };
}
