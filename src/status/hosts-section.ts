import { cutText } from '../model/line-text.ts';
import type { ApplicationStatus } from '../model/status.ts';
import { rateCell } from './application-row.ts';
import {
  foundHosts,
  type HostKey,
  type HostQuery,
  type HostRow,
  type HostState,
  hostRows,
  hostStates,
  hostStateViews,
  listedHosts,
} from './host-list.ts';
import { exactly, type Html, html } from './html.ts';
import {
  type Column,
  headerCell,
  hiddenFields,
  type ListPlace,
  pager,
  stateChoices,
} from './list-parts.ts';
import { hrefOf, sliceOf } from './list-query.ts';
import { rateText, unknown } from './number-text.ts';
import { stateBadge } from './state-view.ts';
import { secondsText } from './value-text.ts';
import { hasMoreThanThroughput } from './values-section.ts';

const hostsPerPage = 100;

const path = './applications';
/** As long as a host name may be. */
const longestName = 253;

const columns: readonly Column<HostKey>[] = [
  { key: 'state', label: 'State' },
  { key: 'name', label: 'Host' },
  { key: 'id', label: 'Id', className: 'n' },
  { key: 'web', label: 'Web', className: 'n', isDescendingFirst: true },
  { key: 'other', label: 'Other', className: 'n', isDescendingFirst: true },
];

/** A column for values that only some configurations ask for. */
interface ValueColumn extends Column<HostKey> {
  readonly cellClass: string;
  readonly value: (host: HostRow) => number | undefined;
  readonly text: (value: number) => string;
}

const time = { className: 'n', isDescendingFirst: true, text: secondsText } as const;
const valueColumns: readonly ValueColumn[] = [
  {
    ...time,
    key: 'web_time',
    label: 'Web time',
    cellClass: 'c-web-time',
    value: ({ webTime }) => webTime,
  },
  {
    ...time,
    key: 'other_time',
    label: 'Other time',
    cellClass: 'c-other-time',
    value: ({ otherTime }) => otherTime,
  },
  {
    ...time,
    key: 'errors',
    label: 'Errors',
    cellClass: 'c-errors',
    value: ({ errors }) => errors,
    text: rateText,
  },
];

/** Those of which any host has a value. */
function columnsFor(hosts: readonly HostRow[]): readonly ValueColumn[] {
  return valueColumns.filter(({ value }) => hosts.some((host) => value(host) !== undefined));
}

/** Why a host has no values; empty if it has some. */
function whyText(state: HostState, reason: string | undefined): string {
  if (state === 'up') return '';
  const { meaning } = hostStateViews[state];
  return state === 'failing' && reason !== undefined
    ? `${meaning.slice(0, -1)} (${reason}).`
    : meaning;
}

interface HostRowOptions {
  readonly reason: string | undefined;
  readonly columns: readonly ValueColumn[];
  /** The address of the page with all values of the host; `undefined` if the row has them all. */
  readonly hrefOfHost: ((id: string) => string) | undefined;
}

function hostRow(host: HostRow, { reason, columns: more, hrefOfHost }: HostRowOptions): Html {
  const { id, name, state, web, other } = host;
  const linked = (text: Html): Html =>
    hrefOfHost === undefined ? text : html`<a href="${hrefOfHost(id)}">${text}</a>`;
  const nameText =
    name === undefined
      ? unknown('Its name is not known')
      : linked(html`<bdi>${cutText(name, longestName)}</bdi>`);
  const idText = name === undefined ? linked(html`${id}`) : id;
  const cells = more.map(({ cellClass, value, text }) => {
    const known = value(host);
    return html`<td class="n ${cellClass}">${known === undefined ? unknown('New Relic gave no value') : text(known)}</td>`;
  });
  return html`<tr data-key="${id}"><td class="c-state">${stateBadge(state, hostStateViews[state])}</td><th scope="row">${nameText}</th><td class="n c-id">${idText}</td>${rateCell(web, 'c-web')}${rateCell(other, 'c-other')}${cells}<td class="c-why ${hostStateViews[state].tone}">${whyText(state, reason)}</td></tr>
`;
}

function choicesOf(found: readonly HostRow[], place: ListPlace<HostKey, HostState>): Html {
  return stateChoices(
    [
      { state: undefined, label: 'all', count: found.length, tone: 'any' },
      ...hostStates.map((state) => ({
        state,
        label: state,
        count: found.filter((host) => host.state === state).length,
        tone: hostStateViews[state].tone,
      })),
    ],
    place,
  );
}

/** The hosts of an application: counts, search and a page of the list. */
export function hostsSection(application: ApplicationStatus, query: HostQuery): Html {
  const hosts = hostRows(application);
  const found = foundHosts(hosts, query);
  const slice = sliceOf(listedHosts(found, query), query.page, hostsPerPage);
  const place = { path, query };
  if (hosts.length === 0) {
    return html`<section aria-labelledby="hosts"><h2 id="hosts">Hosts</h2><p class="empty">No hosts of this application are polled.</p></section>`;
  }
  const all = hrefOf(path, query, { search: '', state: undefined });
  const more = columnsFor(hosts);
  const hrefOfHost = (host: string): string =>
    `${hrefOf(path, query, { scope: { ...query.scope, host } })}#host`;
  const rowOptions = {
    reason: application.failure?.reason,
    columns: more,
    hrefOfHost: hasMoreThanThroughput(application.reading) ? hrefOfHost : undefined,
  };
  const isFiltered = query.search !== '' || query.state !== undefined;
  return html`<section aria-labelledby="hosts">
<div class="head"><h2 id="hosts">Hosts</h2>${choicesOf(found, place)}</div>
<form method="get" action="${path}" role="search" data-keep>
${hiddenFields(query, [])}
<label>Search <input type="search" name="q" value="${exactly(query.search)}" placeholder="name or id" autocomplete="off" spellcheck="false"></label>
<button type="submit">Filter</button>
${isFiltered && html`<a href="${all}">Show all</a>`}
</form>
${
  slice.total === 0
    ? html`<p class="empty">No matches. <a href="${all}">Show all hosts</a></p>`
    : html`<div class="table" role="region" aria-label="List of hosts" tabindex="0"><table class="list hosts">
<caption>Throughput in requests per minute${more.length > 0 && ', average response time, errors per minute'}</caption>
<thead><tr>${[...columns, ...more].map((column) => headerCell(column, place))}<th scope="col">Why</th></tr></thead>
<tbody>${slice.rows.map((host) => hostRow(host, rowOptions))}</tbody></table></div>
${pager(slice, place, 'Pages of hosts')}`
}
</section>`;
}
