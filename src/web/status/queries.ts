import { countText, cutText } from '../../model/shown-text.ts';
import type { QueryReading } from '../../model/snapshot.ts';
import type { AccountDetails, QueryStatus } from '../../model/status.ts';
import type { InvalidSampleReason } from '../../model/telemetry.ts';
import {
  accountCauses,
  byFailure,
  failureText,
  longestMessage,
  longestName,
  nextPoll,
  valuesAge,
} from './applications.ts';
import { type Html, html } from './html.ts';
import { countOf, rateText, unknown } from './number-text.ts';
import { applicationStateViews, type StateView, stateBadge } from './state-view.ts';

/** More would hide the applications. */
const mostQueries = 100;

/** The queries of all accounts or of one, the newest failure first. */
export function queriesOf(
  accounts: readonly AccountDetails[],
  account?: string,
): readonly QueryStatus[] {
  return accounts
    .filter(({ name }) => account === undefined || name === account)
    .flatMap(({ queries = [] }) => queries)
    .toSorted(byFailure);
}

const unusableTexts: Readonly<Record<InvalidSampleReason, string>> = {
  absent: 'null',
  not_a_number: 'no number',
  not_finite: 'not finite',
  negative: 'negative',
  duplicate: 'with the labels of another',
};

/** `3 rows, 2 series`, and what became none. */
export function resultText({ rows, series, leftOut, unusable }: QueryReading): string {
  const counts = [
    countOf(rows, 'row'),
    countOf(series.length, 'series', 'series'),
    ...(leftOut > 0 ? [`${countText(leftOut)} beyond max_series`] : []),
    ...Array.from(unusable, ([reason, count]) => `${countText(count)} ${unusableTexts[reason]}`),
  ];
  return counts.join(', ');
}

const missingView: StateView = {
  tone: 'wait',
  meaning: 'Its polls succeed, but it has never had a value.',
};

function queryRow(one: QueryStatus, isOfAccount: boolean, nowMs: number): Html {
  const { account, name, state, query, reading, intervalSeconds } = one;
  const missing = state === 'up' ? one.missing : undefined;
  const badge =
    missing === undefined
      ? stateBadge(state, applicationStateViews[state])
      : stateBadge('no value', missingView);
  return html`<tbody data-key="${account}/${name}">
<tr><td class="c-state">${badge}</td><th scope="row"><bdi>${cutText(name, longestName)}</bdi></th><td class="c-account"><bdi>${cutText(account, longestName)}</bdi></td>
<td data-label="rows">${reading ? resultText(reading) : unknown('Nothing is published')}</td>
<td class="n c-values" data-label="values from">${valuesAge(one, nowMs)}</td>
<td class="n" data-label="next poll">${nextPoll(one, nowMs)}</td>
<td class="n" data-label="calls a minute">${rateText(60 / intervalSeconds)}</td></tr>
<tr class="why"><td colspan="7">${!isOfAccount && failureText(one, nowMs, longestMessage)}${missing !== undefined && html`<p class="wait">It has never had a value: ${missing}.</p>`}<p class="soft"><code><bdi>${cutText(query.written, longestMessage)}</bdi></code></p></td></tr></tbody>
`;
}

/** The queries; nothing if there are none. */
export function queriesSection(
  accounts: readonly AccountDetails[],
  chosen: string,
  nowMs: number,
): Html | undefined {
  const queries = queriesOf(accounts, chosen === '' ? undefined : chosen);
  if (queries.length === 0) return undefined;
  const left = queries.length - mostQueries;
  const isOfAccount = accountCauses(accounts, nowMs);
  return html`
<section aria-labelledby="queries"><h2 id="queries">Queries</h2>
<div class="table" role="region" aria-label="List of queries" tabindex="0"><table class="list">
<thead><tr><th scope="col">State</th><th scope="col">Query</th><th scope="col" class="c-account">Account</th><th scope="col">Rows</th><th scope="col" class="n c-values">Values from</th><th scope="col" class="n">Next poll</th><th scope="col" class="n">Calls a minute</th></tr></thead>
${queries.slice(0, mostQueries).map((one) => queryRow(one, isOfAccount(one), nowMs))}</table></div>
${left > 0 && html`<p class="soft">${countOf(left, 'more query', 'more queries')} in /api/v1/targets.</p>`}</section>`;
}
