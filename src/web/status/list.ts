import { own } from '../../model/own.ts';
import { countText } from '../../model/shown-text.ts';
import { tableOf } from './document.ts';
import { type Child, exactly, type Html, html } from './html.ts';
import { type StateView, stateBadge } from './state.ts';
import { byText } from './texts.ts';

/** Quick to show and to look through. */
const rowsPerPage = 100;

type SortValue = string | number | undefined;

export interface Column<Row> {
  readonly key: string;
  readonly label: string;
  readonly className?: string;
  readonly isHeading?: boolean;
  /** Whether the first click sorts from the highest to the lowest. */
  readonly isDescendingFirst?: boolean;
  /** Whether it says something of a row; without such a row there is no column. Default: of each. */
  readonly isOf?: (row: Row) => boolean;
  readonly sortValue?: (row: Row) => SortValue;
  readonly cell: (row: Row) => Child;
}

/** Rows that are each in a state, with a search, a filter for each state, an order and pages. */
export interface List<Row> {
  readonly path: string;
  readonly title: string;
  readonly caption?: string;
  readonly searched: string;
  /** Before the names of its own parameters, where a page has another list; default: nothing. */
  readonly prefix?: string;
  /** Parameters of the address that its links keep: what is listed, and what belongs to other lists. */
  readonly kept: readonly string[];
  /** The accounts that rows can be filtered by, if they can, and the one of a row. */
  readonly accounts?: readonly string[];
  readonly accountOf?: (row: Row) => string;
  readonly stateOf: (row: Row) => string;
  /** How each state looks, the worst first. */
  readonly views: Readonly<Record<string, StateView>>;
  /** How that of a row looks, where it is not always the same. */
  readonly viewOf?: (row: Row) => StateView;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** What a search looks into. */
  readonly textsOf: (row: Row) => readonly string[];
  /** What needs attention first, of those in one state. */
  readonly compare: (left: Row, right: Row) => number;
  readonly classOf?: (row: Row) => string | undefined;
  readonly noteOf?: (row: Row) => Html | undefined;
  readonly nothing: string;
}

type ListParameter = 'state' | 'q' | 'sort' | 'page';

/** An empty parameter is left out. */
function put(params: URLSearchParams, name: string, value: string): void {
  if (value === '') params.delete(name);
  else params.set(name, value);
}

type ListQuery = ReturnType<typeof listQueryOf>;

/** Which part of a list the address of a page asks for. What a list does not know counts as left out. */
function listQueryOf<Row>(given: URLSearchParams, list: List<Row>) {
  const { path, prefix = '', kept, views, columns, accounts } = list;
  const textOf = (name: ListParameter): string => given.get(prefix + name)?.trim() ?? '';
  const sortable = columns.filter(({ sortValue }) => sortValue !== undefined);
  const sortKeys = ['state', ...sortable.map(({ key }) => key)];
  const sort = sortKeys.includes(textOf('sort').replace(/^-/u, '')) ? textOf('sort') : '';
  const state = Object.hasOwn(views, textOf('state')) ? textOf('state') : '';
  const search = textOf('q');
  const params = new URLSearchParams();
  for (const name of kept) put(params, name, given.get(name) ?? '');
  for (const [name, value] of Object.entries({ state, sort, q: search })) {
    put(params, prefix + name, value);
  }
  // It leads to the first page.
  const href = (
    changes: Readonly<Partial<Record<ListParameter, string>>>,
    others = params,
  ): string => {
    const changed = new URLSearchParams(others);
    for (const [name, value] of Object.entries(changes)) put(changed, prefix + name, value);
    return changed.size === 0 ? path : `${path}?${changed.toString()}`;
  };
  const ofAll = new URLSearchParams(params);
  if (accounts !== undefined) ofAll.delete('account');
  return {
    /** Those that mean something here, but for the page. */
    params,
    /** `undefined` for all. */
    account: accounts && (params.get('account') ?? undefined),
    /** Empty for all. */
    state,
    /** Empty for no search. */
    search,
    /** Empty for what needs attention first. */
    sortKey: sort.replace(/^-/u, ''),
    isDescending: sort.startsWith('-'),
    /** From 1; it may be one that is no longer there. */
    page: /^[1-9]\d{0,5}$/.test(textOf('page')) ? Number(textOf('page')) : 1,
    href,
    /** The address of the list without any search or filter. */
    unfilteredHref: href({ state: '', q: '' }, ofAll),
  };
}

/** What is not known comes last, in both directions. */
function byValue(left: SortValue, right: SortValue, sign: 1 | -1): number {
  if (left === undefined || right === undefined)
    return left === right ? 0 : left === undefined ? 1 : -1;
  if (typeof left === 'number' && typeof right === 'number') return sign * (left - right);
  return sign * byText(String(left), String(right));
}

/** Equal ones stay in their order. */
function sortedBy<Row>(
  rows: readonly Row[],
  valueOf: ((row: Row) => SortValue) | undefined,
  isDescending: boolean,
): readonly Row[] {
  if (valueOf === undefined) return rows;
  const sign = isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: valueOf(row) }))
    .toSorted((left, right) => byValue(left.value, right.value, sign))
    .map(({ row }) => row);
}

/** A column header whose link sorts by the column, and the other way round when it already does. */
function headerCell<Row>(column: Column<Row>, asked: ListQuery): Html {
  const { key, label, className, isDescendingFirst = false, sortValue } = column;
  const css = className !== undefined && html` class="${className}"`;
  if (sortValue === undefined) return html`<th scope="col"${css}>${label}</th>`;
  const isSorted = asked.sortKey === key;
  const isNextDescending = isSorted ? !asked.isDescending : isDescendingFirst;
  const order = asked.isDescending ? 'descending' : 'ascending';
  const href = asked.href({ sort: `${isNextDescending ? '-' : ''}${key}` });
  return html`<th scope="col"${css}${isSorted && html` aria-sort="${order}"`}><a href="${href}">${label}</a></th>`;
}

/** Links that filter by state. Those without rows are left out, but for the chosen one. */
function stateLinks<Row>(
  { views, stateOf }: List<Row>,
  found: readonly Row[],
  asked: ListQuery,
): Html {
  const links = ['', ...Object.keys(views)].map((state) => {
    const count = found.filter((row) => state === '' || stateOf(row) === state).length;
    if (count === 0 && state !== '' && state !== asked.state) return undefined;
    const current = state === asked.state && html` aria-current="true"`;
    const tone = own(views, state)?.tone ?? 'any';
    return html`<li><a class="${tone}" href="${asked.href({ state })}"${current}>${state || 'all'} <b>${countText(count)}</b></a></li>`;
  });
  return html`<ul class="choices">${links}</ul>`;
}

function filterForm<Row>(
  { path, title, prefix = '', accounts = [], searched }: List<Row>,
  asked: ListQuery,
): Html {
  const { account, search, unfilteredHref } = asked;
  const options = accounts.map(
    (name) =>
      html`<option value="${exactly(name)}"${name === account && html` selected`}>${name}</option>`,
  );
  const select =
    (accounts.length > 1 || account !== undefined) &&
    html`<label>Account <select name="account"><option value="">all</option>${options}</select></label>`;
  // A form replaces the query of its address: what it does not ask for has to be sent along.
  const hidden = [...asked.params]
    .filter(([name]) => name !== `${prefix}q` && !(name === 'account' && account !== undefined))
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${exactly(value)}">`);
  return html`<form method="get" action="${path}" role="search" aria-label="${title}" data-keep>
${hidden}
<label>Search <input type="search" name="${prefix}q" value="${exactly(search)}" placeholder="${searched}" autocomplete="off" spellcheck="false"></label>
${select}
<button type="submit">Filter</button>
${unfilteredHref !== asked.href({}) && html`<a href="${unfilteredHref}">Show all</a>`}
</form>`;
}

/** Which rows are shown, and links to the others; nothing if all are. */
function pager<Row>(
  { title }: List<Row>,
  page: number,
  total: number,
  asked: ListQuery,
): Html | undefined {
  if (total <= rowsPerPage) return undefined;
  const link = (target: number, text: string): Html =>
    html`<a href="${asked.href({ page: target === 1 ? '' : String(target) })}">${text}</a>`;
  const last = Math.min(page * rowsPerPage, total);
  return html`<nav class="pager" aria-label="Pages of ${title.toLowerCase()}">
<span>${countText((page - 1) * rowsPerPage + 1)} to ${countText(last)} of ${countText(total)}</span>
${page > 1 && link(page - 1, 'Previous')} ${last < total && link(page + 1, 'Next')}
</nav>`;
}

function rowGroup<Row>(
  { keyOf, classOf, noteOf }: List<Row>,
  columns: readonly Column<Row>[],
  row: Row,
): Html {
  const cells = columns.map(({ label, className, isHeading = false, cell }) => {
    if (isHeading) return html`<th scope="row">${cell(row)}</th>`;
    // Where a row has no room for columns, each cell shows its label.
    return html`<td class="${className}" data-label="${label.toLowerCase()}">${cell(row)}</td>`;
  });
  const note = noteOf?.(row);
  const css = classOf?.(row);
  return html`<tbody data-key="${keyOf(row)}"${css !== undefined && html` class="${css}"`}>
<tr>${cells}</tr>
${note !== undefined && html`<tr class="why"><td colspan="${columns.length}">${note}</td></tr>\n`}</tbody>
`;
}

/** The column of the states, which sorts the worst first. */
function stateColumn<Row>({ views, viewOf, stateOf }: List<Row>): Column<Row> {
  const ranks = new Map(Object.keys(views).map((state, rank) => [state, rank]));
  return {
    key: 'state',
    label: 'State',
    className: 'c-state',
    sortValue: (row) => ranks.get(stateOf(row)) ?? 0,
    cell: (row) => {
      const state = stateOf(row);
      const view = viewOf?.(row) ?? own(views, state);
      return view === undefined ? state : stateBadge(state, view);
    },
  };
}

/** What the search and the account leave, whatever its state. */
function foundRows<Row>(
  { accountOf, textsOf }: List<Row>,
  rows: readonly Row[],
  { account, search }: ListQuery,
): readonly Row[] {
  const wanted = search.toLowerCase();
  return rows.filter(
    (row) =>
      (account === undefined || accountOf?.(row) === account) &&
      (wanted === '' || textsOf(row).some((text) => text.toLowerCase().includes(wanted))),
  );
}

/** A list as a section of a page: counts, filters, and the wanted rows in the wanted order. */
export function listSection<Row>(
  list: List<Row>,
  rows: readonly Row[],
  params: URLSearchParams,
): Html {
  const { title, caption, stateOf, nothing } = list;
  const name = title.toLowerCase();
  const asked = listQueryOf(params, list);
  const found = foundRows(list, rows, asked);
  const chosen = found.filter((row) => asked.state === '' || stateOf(row) === asked.state);
  const page = Math.min(asked.page, Math.max(1, Math.ceil(chosen.length / rowsPerPage)));
  const all = [stateColumn(list), ...list.columns];
  // What needs attention first, and then by the column that is asked for.
  const byState = sortedBy(chosen.toSorted(list.compare), all[0]?.sortValue, false);
  const { sortValue } = all.find(({ key }) => key === asked.sortKey) ?? {};
  const ordered = sortedBy(byState, sortValue, asked.isDescending);
  const shown = ordered.slice((page - 1) * rowsPerPage, page * rowsPerPage);
  const columns = all.filter(({ isOf }) => isOf === undefined || shown.some(isOf));
  const content = html`${caption !== undefined && html`<caption>${caption}</caption>`}
<thead><tr>${columns.map((column) => headerCell(column, asked))}</tr></thead>
${shown.map((row) => rowGroup(list, columns, row))}`;
  const table = html`${tableOf(`List of ${name}`, name, content)}
${pager(list, page, chosen.length, asked)}`;
  const noMatch = html`No matches. <a href="${asked.unfilteredHref}">Show all ${name}</a>`;
  return html`<section aria-labelledby="${name}">
<div class="head"><h2 id="${name}">${title}</h2>${stateLinks(list, found, asked)}</div>
${rows.length > 0 && filterForm(list, asked)}
${shown.length > 0 ? table : html`<p class="empty">${rows.length === 0 ? nothing : noMatch}</p>`}
</section>`;
}
