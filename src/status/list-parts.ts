import { exactly, type Html, html } from './html.ts';
import { hrefOf, type ListQuery, type Slice } from './list-query.ts';
import { countText } from './number-text.ts';

/** A column of a list. */
export interface Column<Key extends string> {
  readonly key: Key;
  readonly label: string;
  readonly className?: string;
  /** Whether the first click sorts from the highest to the lowest. */
  readonly isDescendingFirst?: boolean;
}

/** Where a list is, and what of it is shown. */
export interface ListPlace<Key extends string, State extends string> {
  readonly path: string;
  readonly query: ListQuery<Key, State>;
}

/** A column header whose link sorts by the column, and the other way round when it already does. */
export function headerCell<Key extends string, State extends string>(
  { key, label, className, isDescendingFirst = false }: Column<Key>,
  { path, query }: ListPlace<Key, State>,
): Html {
  const sort = query.sort?.key === key ? query.sort : undefined;
  const isDescending = sort === undefined ? isDescendingFirst : !sort.isDescending;
  const order = sort?.isDescending === true ? 'descending' : 'ascending';
  const ariaSort = sort === undefined ? undefined : html` aria-sort="${order}"`;
  const css = className === undefined ? undefined : html` class="${className}"`;
  const href = hrefOf(path, query, { sort: { key, isDescending } });
  return html`<th scope="col"${css}${ariaSort}><a href="${href}">${label}</a></th>`;
}

/** One choice of a filter, with how many rows it leaves. */
export interface Choice<State extends string> {
  readonly state: State | undefined;
  readonly label: string;
  readonly count: number;
  readonly tone: string;
}

/** Links that filter by state. Those without rows are left out, but for the chosen one. */
export function stateChoices<Key extends string, State extends string>(
  choices: readonly Choice<State>[],
  { path, query }: ListPlace<Key, State>,
): Html {
  const links = choices
    .filter(({ state, count }) => state === undefined || count > 0 || state === query.state)
    .map(({ state, label, count, tone }) => {
      const current = state === query.state ? html` aria-current="true"` : undefined;
      const href = hrefOf(path, query, { state });
      return html`<li><a class="${tone}" href="${href}"${current}>${label} <b>${countText(count)}</b></a></li>`;
    });
  return html`<ul class="choices">${links}</ul>`;
}

/** What a form sends along that it does not ask for. */
export function hiddenFields<Key extends string, State extends string>(
  { scope, state, sort }: ListQuery<Key, State>,
  asked: readonly string[],
): Html {
  const fields = Object.entries({
    ...scope,
    ...(state !== undefined && { state }),
    ...(sort !== undefined && { sort: `${sort.isDescending ? '-' : ''}${sort.key}` }),
  }).filter(([name]) => !asked.includes(name));
  return html`${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${exactly(value)}">`)}`;
}

/** The numbers of the first, the last and the nearest pages; 0 for a gap. */
function pageNumbers(page: number, pages: number): readonly number[] {
  const near = [1, page - 1, page, page + 1, pages].filter((one) => one >= 1 && one <= pages);
  const numbers = [...new Set(near)].toSorted((left, right) => left - right);
  return numbers.flatMap((one, index) => (one - (numbers[index - 1] ?? 0) > 1 ? [0, one] : [one]));
}

/** Which rows are shown, and links to the others; nothing if all are. */
export function pager<Key extends string, State extends string>(
  { page, pages, rows, first, total }: Slice<unknown>,
  { path, query }: ListPlace<Key, State>,
  label: string,
): Html | undefined {
  if (pages === 1) return undefined;
  const link = (target: number, text: string): Html =>
    html`<a href="${hrefOf(path, query, { page: target })}">${text}</a>`;
  const numbers = pageNumbers(page, pages).map((one) => {
    if (one === 0) return html`<span>\u2026</span>`;
    return one === page
      ? html`<b aria-current="page">${one}</b>`
      : html`<a href="${hrefOf(path, query, { page: one })}" aria-label="Page ${one}">${one}</a>`;
  });
  const last = first + rows.length - 1;
  return html`<nav class="pager" aria-label="${label}">
<span>${countText(first)} to ${countText(last)} of ${countText(total)}</span>
${page > 1 && link(page - 1, 'Previous')} ${numbers} ${page < pages && link(page + 1, 'Next')}
</nav>`;
}
