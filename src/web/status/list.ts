import { own } from '../../model/own.ts';
import { countText } from '../../model/shown-text.ts';
import { exactly, type Html, html } from './html.ts';
import { type StateView, stateBadge } from './state-view.ts';

/** Quick to show and to look through. */
const rowsPerPage = 100;

export type SortValue = string | number | undefined;

export interface Column<Row> {
  readonly key: string;
  readonly label: string;
  readonly className?: string;
  readonly isHeading?: boolean;
  /** Whether a cell needs a word on what it is where it does not stand in a column. */
  readonly isLabelled?: boolean;
  /** Whether the first click sorts from the highest to the lowest. */
  readonly isDescendingFirst?: boolean;
  readonly sortValue?: (row: Row) => SortValue;
  readonly cell: (row: Row) => Html | string;
}

/** Rows that are each in a state, with a search, a filter for each state, an order and pages. */
export interface List<Row> {
  readonly path: string;
  readonly title: string;
  readonly caption: string;
  readonly searched: string;
  /** Parameters of the address that say what is listed, such as `account`. */
  readonly scope: readonly string[];
  /** One of them that people choose, from what, and how a row says which it belongs to. */
  readonly choice?: {
    readonly name: string;
    readonly label: string;
    readonly from: readonly string[];
    readonly of: (row: Row) => string;
  };
  /** How each state looks, the worst first. */
  readonly views: Readonly<Record<string, StateView>>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Whether a row has the text, which is in small letters. */
  readonly matches: (row: Row, search: string) => boolean;
  /** What needs attention first, of those in one state. */
  readonly compare: (left: Row, right: Row) => number;
  readonly classOf?: (row: Row) => string | undefined;
  readonly noteOf?: (row: Row) => Html | undefined;
  readonly nothing: string;
}

/** Which part of a list is wanted, in which order: all that the address of a page says. */
export interface ListQuery {
  /** The given ones of the parameters in `List.scope`. */
  readonly scope: Readonly<Record<string, string>>;
  readonly state: string | undefined;
  /** The text to search for; empty for no search. */
  readonly search: string;
  /** `undefined`: what needs attention first. */
  readonly sort: { readonly key: string; readonly isDescending: boolean } | undefined;
  /** From 1. */
  readonly page: number;
}

/** What a list knows of its addresses. */
export interface ListShape extends Pick<List<never>, 'scope' | 'views'> {
  readonly columns: readonly Pick<Column<never>, 'key' | 'sortValue'>[];
}

/** Reads the query of an address. What it does not know counts as left out. */
export function parseListQuery(
  params: URLSearchParams,
  { scope, views, columns }: ListShape,
): ListQuery {
  const given = scope.map((name) => [name, params.get(name) ?? ''] as const);
  const state = params.get('state') ?? '';
  const sort = params.get('sort') ?? '';
  const isDescending = sort.startsWith('-');
  const key = isDescending ? sort.slice(1) : sort;
  const canSort =
    key === 'state' || columns.some((one) => one.key === key && one.sortValue !== undefined);
  const page = params.get('page') ?? '';
  return {
    scope: Object.fromEntries(given.filter(([, value]) => value !== '')),
    state: Object.hasOwn(views, state) ? state : undefined,
    search: params.get('q')?.trim() ?? '',
    sort: canSort ? { key, isDescending } : undefined,
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
  };
}

/** The order and the state as parameters of an address or a form. */
function choicesOf({ state, sort }: ListQuery): Readonly<Record<string, string>> {
  return {
    ...(state !== undefined && { state }),
    ...(sort !== undefined && { sort: `${sort.isDescending ? '-' : ''}${sort.key}` }),
  };
}

/** The address of another part of the list. Any change leads to the first page. */
export function hrefOf(path: string, query: ListQuery, changes: Partial<ListQuery>): string {
  const wanted = { ...query, page: 1, ...changes };
  const params = new URLSearchParams({ ...wanted.scope, ...choicesOf(wanted) });
  if (wanted.search !== '') params.set('q', wanted.search);
  if (wanted.page > 1) params.set('page', String(wanted.page));
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Sorted by a value; what has none comes last, in both directions. Equal ones stay in their order. */
function sortedBy<Row>(
  rows: readonly Row[],
  valueOf: ((row: Row) => SortValue) | undefined,
  isDescending: boolean,
): readonly Row[] {
  if (valueOf === undefined) return rows;
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

/** A column header whose link sorts by the column, and the other way round when it already does. */
function headerCell<Row>(column: Column<Row>, path: string, query: ListQuery): Html {
  const { key, label, className, isDescendingFirst = false, sortValue } = column;
  const css = className !== undefined && html` class="${className}"`;
  if (sortValue === undefined) return html`<th scope="col"${css}>${label}</th>`;
  const sort = query.sort?.key === key ? query.sort : undefined;
  const isDescending = sort === undefined ? isDescendingFirst : !sort.isDescending;
  const order = sort?.isDescending === true ? 'descending' : 'ascending';
  const ariaSort = sort !== undefined && html` aria-sort="${order}"`;
  const href = hrefOf(path, query, { sort: { key, isDescending } });
  return html`<th scope="col"${css}${ariaSort}><a href="${href}">${label}</a></th>`;
}

/** Links that filter by state. Those without rows are left out, but for the chosen one. */
function stateLinks<Row extends { readonly state: string }>(
  { path, views }: List<Row>,
  found: readonly Row[],
  query: ListQuery,
): Html {
  const link = (state: string | undefined, count: number): Html => {
    const current = state === query.state && html` aria-current="true"`;
    const tone = state === undefined ? 'any' : own(views, state)?.tone;
    return html`<li><a class="${tone}" href="${hrefOf(path, query, { state })}"${current}>${state ?? 'all'} <b>${countText(count)}</b></a></li>`;
  };
  const links = Object.keys(views).flatMap((state) => {
    const count = found.filter((row) => row.state === state).length;
    return count > 0 || state === query.state ? [link(state, count)] : [];
  });
  return html`<ul class="choices">${link(undefined, found.length)}${links}</ul>`;
}

/** The address of the same list without any search or filter. */
function unfilteredHref<Row>({ path, choice }: List<Row>, query: ListQuery): string {
  const scope = Object.entries(query.scope).filter(([name]) => name !== choice?.name);
  return hrefOf(path, query, { scope: Object.fromEntries(scope), search: '', state: undefined });
}

function filterForm<Row>(list: List<Row>, query: ListQuery): Html {
  const { path, choice, searched } = list;
  const chosen = choice && own(query.scope, choice.name);
  const options = choice?.from.map(
    (name) =>
      html`<option value="${exactly(name)}"${name === chosen && html` selected`}>${name}</option>`,
  );
  const select =
    choice !== undefined &&
    (choice.from.length > 1 || chosen !== undefined) &&
    html`<label>${choice.label} <select name="${choice.name}"><option value="">all</option>${options}</select></label>`;
  // A form replaces the query of its address: what it does not ask for has to be sent along.
  const hidden = Object.entries({ ...query.scope, ...choicesOf(query) })
    .filter(([name]) => name !== choice?.name)
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${exactly(value)}">`);
  const all = unfilteredHref(list, query);
  return html`<form method="get" action="${path}" role="search" data-keep>
${hidden}
<label>Search <input type="search" name="q" value="${exactly(query.search)}" placeholder="${searched}" autocomplete="off" spellcheck="false"></label>
${select}
<button type="submit">Filter</button>
${all !== hrefOf(path, query, {}) && html`<a href="${all}">Show all</a>`}
</form>`;
}

/** Which rows are shown, and links to the others; nothing if all are. */
function pager<Row>({ path, title }: List<Row>, total: number, query: ListQuery): Html | undefined {
  if (total <= rowsPerPage) return undefined;
  const { page } = query;
  const pages = Math.ceil(total / rowsPerPage);
  const link = (target: number, text: string): Html =>
    html`<a href="${hrefOf(path, query, { page: target })}">${text}</a>`;
  const last = Math.min(page * rowsPerPage, total);
  return html`<nav class="pager" aria-label="Pages of ${title.toLowerCase()}">
<span>${countText((page - 1) * rowsPerPage + 1)} to ${countText(last)} of ${countText(total)}</span>
${page > 1 && link(page - 1, 'Previous')} ${page < pages && link(page + 1, 'Next')}
</nav>`;
}

function rowGroup<Row>(
  { keyOf, classOf, noteOf }: List<Row>,
  columns: readonly Column<Row>[],
  row: Row,
): Html {
  const cells = columns.map(({ label, className, isHeading = false, isLabelled = true, cell }) => {
    if (isHeading) return html`<th scope="row">${cell(row)}</th>`;
    // Where a row has no room for columns, each cell shows its label.
    const data = isLabelled && html` data-label="${label.toLowerCase()}"`;
    return html`<td class="${className}"${data}>${cell(row)}</td>`;
  });
  const note = noteOf?.(row);
  const css = classOf?.(row);
  return html`<tbody data-key="${keyOf(row)}"${css !== undefined && html` class="${css}"`}>
<tr>${cells}</tr>
${note !== undefined && html`<tr class="why"><td colspan="${columns.length}">${note}</td></tr>\n`}</tbody>
`;
}

/** The column of the states, which sorts the worst first. */
function stateColumn<Row extends { readonly state: string }>({ views }: List<Row>): Column<Row> {
  const ranks = new Map(Object.keys(views).map((state, rank) => [state, rank]));
  return {
    key: 'state',
    label: 'State',
    className: 'c-state',
    isLabelled: false,
    sortValue: ({ state }) => ranks.get(state) ?? 0,
    cell: ({ state }) => {
      const view = own(views, state);
      return view === undefined ? state : stateBadge(state, view);
    },
  };
}

/** What the search and the choice leave, whatever its state. */
function foundRows<Row>(
  { choice, matches }: List<Row>,
  rows: readonly Row[],
  { scope, search }: ListQuery,
): readonly Row[] {
  const chosen = choice && own(scope, choice.name);
  const text = search.toLowerCase();
  return rows.filter(
    (row) =>
      (chosen === undefined || choice?.of(row) === chosen) && (text === '' || matches(row, text)),
  );
}

/** A list as a section of a page: counts, filters, and the wanted rows in the wanted order. */
export function listSection<Row extends { readonly state: string }>(
  list: List<Row>,
  rows: readonly Row[],
  params: URLSearchParams,
): Html {
  const { path, title, caption, nothing } = list;
  const name = title.toLowerCase();
  const asked = parseListQuery(params, list);
  const found = foundRows(list, rows, asked);
  const chosen = found.filter(({ state }) => asked.state === undefined || state === asked.state);
  // An address may name a page that is no longer there.
  const page = Math.min(asked.page, Math.max(1, Math.ceil(chosen.length / rowsPerPage)));
  const query = { ...asked, page };
  const columns = [stateColumn(list), ...list.columns];
  // What needs attention first, and then by the column that is asked for.
  const byState = sortedBy(chosen.toSorted(list.compare), columns[0]?.sortValue, false);
  const { sortValue } = columns.find(({ key }) => key === query.sort?.key) ?? {};
  const ordered = sortedBy(byState, sortValue, query.sort?.isDescending === true);
  const shown = ordered.slice((page - 1) * rowsPerPage, page * rowsPerPage);
  const table = html`<div class="table" role="region" aria-label="List of ${name}" tabindex="0"><table class="list ${name}">
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => headerCell(column, path, query))}</tr></thead>
${shown.map((row) => rowGroup(list, columns, row))}</table></div>
${pager(list, chosen.length, query)}`;
  const noMatch = html`No matches. <a href="${unfilteredHref(list, query)}">Show all ${name}</a>`;
  return html`<section aria-labelledby="${name}">
<div class="head"><h2 id="${name}">${title}</h2>${stateLinks(list, found, query)}</div>
${rows.length > 0 && filterForm(list, query)}
${shown.length > 0 ? table : html`<p class="empty">${rows.length === 0 ? nothing : noMatch}</p>`}
</section>`;
}
