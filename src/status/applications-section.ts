import { type ApplicationStatus, applicationStates, type StatusSource } from '../model/status.ts';
import {
  type ApplicationKey,
  type ApplicationQuery,
  foundApplications,
  listedApplications,
} from './application-list.ts';
import { applicationRow } from './application-row.ts';
import { exactly, type Html, html } from './html.ts';
import {
  type Column,
  headerCell,
  hiddenFields,
  type ListPlace,
  pager,
  stateChoices,
} from './list-parts.ts';
import { sliceOf } from './list-query.ts';
import { countStates } from './overall-state.ts';
import { applicationStateViews } from './state-view.ts';

/** So many are quick to show and to look through. */
const applicationsPerPage = 200;

const path = './';

const columns: readonly Column<ApplicationKey>[] = [
  { key: 'state', label: 'State', className: 'c-state' },
  { key: 'name', label: 'Application' },
  { key: 'account', label: 'Account', className: 'c-account' },
  { key: 'web', label: 'Web', className: 'n c-web', isDescendingFirst: true },
  { key: 'other', label: 'Other', className: 'n c-other', isDescendingFirst: true },
  { key: 'values', label: 'Values from', className: 'n c-values' },
  { key: 'polled', label: 'Last poll', className: 'n c-polled' },
  { key: 'next', label: 'Next poll', className: 'n c-next' },
  { key: 'hosts', label: 'Hosts', className: 'n c-hosts', isDescendingFirst: true },
];

/** The key of the column before which the sparkline stands. */
const afterSparkline: ApplicationKey = 'values';

function headers(
  hasAccount: boolean,
  place: ListPlace<ApplicationKey, (typeof applicationStates)[number]>,
): readonly Html[] {
  return columns
    .filter(({ key }) => hasAccount || key !== 'account')
    .flatMap((column) => [
      ...(column.key === afterSparkline
        ? [html`<th scope="col" class="c-spark">Last hour</th>`]
        : []),
      headerCell(column, place),
    ]);
}

function filterForm(accounts: readonly string[], query: ApplicationQuery): Html {
  const { search, scope } = query;
  const chosen = scope['account'];
  const options = accounts.map(
    (name) =>
      html`<option value="${exactly(name)}"${name === chosen && html` selected`}>${name}</option>`,
  );
  const isFiltered = search !== '' || chosen !== undefined || query.state !== undefined;
  return html`<form method="get" action="${path}" role="search" data-keep>
${hiddenFields(query, ['account'])}
<label>Search <input type="search" name="q" value="${exactly(search)}" placeholder="name, id, label or reason" autocomplete="off" spellcheck="false"></label>
${
  accounts.length > 1 || chosen !== undefined
    ? html`<label>Account <select name="account"><option value="">all</option>${options}</select></label>`
    : undefined
}
<button type="submit">Filter</button>
${isFiltered && html`<a href="${path}">Show all</a>`}
</form>`;
}

/** The applications: counts, filters and a page of the list. */
export function applicationsSection(
  source: StatusSource,
  all: readonly ApplicationStatus[],
  query: ApplicationQuery,
  nowMs: number,
): Html {
  const accounts = source.accounts().map(({ name }) => name);
  const found = foundApplications(all, query);
  const counts = countStates(found);
  const slice = sliceOf(listedApplications(found, query), query.page, applicationsPerPage);
  const place = { path, query };
  const hasAccount = accounts.length > 1;
  const cells = headers(hasAccount, place);
  const choices = stateChoices(
    [
      { state: undefined, label: 'all', count: found.length, tone: 'any' },
      ...applicationStates.map((state) => ({
        state,
        label: state,
        count: counts[state],
        tone: applicationStateViews[state].tone,
      })),
    ],
    place,
  );
  const named = new Map<string, number>();
  for (const { name } of all) named.set(name, (named.get(name) ?? 0) + 1);
  const rows = slice.rows.map((application) =>
    applicationRow(application, source.history(application.account, application.id), {
      nowMs,
      hasAccount,
      hasId: (named.get(application.name) ?? 0) > 1,
      columns: cells.length,
    }),
  );
  return html`<section aria-labelledby="applications">
<div class="head"><h2 id="applications">Applications</h2>${choices}</div>
${all.length > 0 && filterForm(accounts, query)}
${
  slice.total === 0
    ? nothingText(all.length)
    : html`<div class="table" role="region" aria-label="List of applications" tabindex="0"><table class="list applications">
<caption>Throughput in requests per minute</caption>
<thead><tr>${cells}</tr></thead>
${rows}</table></div>
${pager(slice, place, 'Pages of applications')}`
}
</section>`;
}

function nothingText(all: number): Html {
  return all === 0
    ? html`<p class="empty">No application is polled yet.</p>`
    : html`<p class="empty">No matches. <a href="${path}">Show all applications</a></p>`;
}
