import { cutText } from '../model/line-text.ts';
import type { QueryResult } from '../model/snapshot.ts';
import { type AccountDetails, type ApplicationStatus, applicationStates } from '../model/status.ts';
import { failureText, nextPoll, valuesAge } from './applications.ts';
import { type Html, html } from './html.ts';
import { countOf, countText, rateText, unknown } from './number-text.ts';
import { applicationStateViews, stateBadge } from './state-view.ts';

const longestName = 100;
const longestMessage = 600;
/** More would hide the applications. */
const mostQueries = 100;

function rankOf({ state }: ApplicationStatus): number {
  return applicationStates.indexOf(state);
}

/** The queries of all accounts, those with problems first. */
export function queriesOf(accounts: readonly AccountDetails[]): readonly ApplicationStatus[] {
  return accounts
    .flatMap(({ queries = [] }) => queries)
    .toSorted((left, right) => rankOf(left) - rankOf(right) || (left.name < right.name ? -1 : 1));
}

/** `3 rows, 2 series`, and what became none. */
export function resultText({ rows, series, leftOut, unusable }: QueryResult): string {
  const left = leftOut > 0 && `${countText(leftOut)} beyond max_series`;
  const invalid = unusable > 0 && `${countText(unusable)} absent or no number`;
  const counts = [countOf(rows, 'row'), countOf(series.length, 'series', 'series'), left, invalid];
  return counts.filter(Boolean).join(', ');
}

function queryRow(one: ApplicationStatus, nowMs: number): Html {
  const { account, name, state, query, reading, intervalSeconds } = one;
  return html`<tbody data-key="${account}/${name}">
<tr><td class="c-state">${stateBadge(state, applicationStateViews[state])}</td><th scope="row"><bdi>${cutText(name, longestName)}</bdi></th><td><bdi>${cutText(account, longestName)}</bdi></td>
<td data-label="rows">${reading?.query ? resultText(reading.query) : unknown('Nothing is published')}</td>
<td class="n" data-label="values from">${valuesAge(one, nowMs)}</td>
<td class="n" data-label="next poll">${nextPoll(one, nowMs)}</td>
<td class="n" data-label="calls a minute">${rateText(60 / intervalSeconds)}</td></tr>
<tr class="why"><td colspan="7">${failureText(one, nowMs, longestMessage)}<p class="soft"><code><bdi>${cutText(query?.nrql ?? '', longestMessage)}</bdi></code></p></td></tr></tbody>
`;
}

/** The queries; nothing if there are none. */
export function queriesSection(
  accounts: readonly AccountDetails[],
  chosen: string,
  nowMs: number,
): Html | undefined {
  const queries = queriesOf(accounts).filter(({ account }) => chosen === '' || account === chosen);
  if (queries.length === 0) return undefined;
  const left = queries.length - mostQueries;
  return html`
<section aria-labelledby="queries"><h2 id="queries">Queries</h2>
<div class="table" role="region" aria-label="List of queries" tabindex="0"><table class="list">
<thead><tr><th scope="col">State</th><th scope="col">Query</th><th scope="col">Account</th><th scope="col">Rows</th><th scope="col" class="n">Values from</th><th scope="col" class="n">Next poll</th><th scope="col" class="n">Calls a minute</th></tr></thead>
${queries.slice(0, mostQueries).map((one) => queryRow(one, nowMs))}</table></div>
${left > 0 && html`<p class="soft">${countOf(left, 'more query', 'more queries')} in /api/v1/targets.</p>`}</section>`;
}
