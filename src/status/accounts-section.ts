import { cutText } from '../model/line-text.ts';
import { type AccountDetails, accountStates } from '../model/status.ts';
import { accountNotes } from './account-notes.ts';
import { type Html, html } from './html.ts';
import { countText, rateText, unknown } from './number-text.ts';
import { accountStateViews, stateBadge } from './state-view.ts';
import { ago, due, durationText, timeElement } from './time-text.ts';

const longestName = 100;
/** More would hide the applications; those that are left out are the ones that work. */
const mostAccounts = 50;

function inOrder(accounts: readonly AccountDetails[]): readonly AccountDetails[] {
  const ranks = new Map(accountStates.map((state, rank) => [state, rank]));
  return accounts.toSorted(
    (left, right) =>
      (ranks.get(left.state) ?? 0) - (ranks.get(right.state) ?? 0) ||
      (left.name < right.name ? -1 : 1),
  );
}

/** How much of the budget the last minute took, as a bar. */
function budgetBar(used: number, budget: number): Html {
  const part = budget > 0 ? Math.min(100, Math.round((used / budget) * 100)) : 0;
  return html`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="4"/><rect class="used" width="${part}" height="4"/></svg>`;
}

function selectedText({
  applications,
  polledApplications,
  listedApplications,
  firstCycleEnded,
}: AccountDetails): Html {
  const listed = listedApplications === undefined ? 'unknown' : countText(listedApplications);
  const polled =
    firstCycleEnded || applications === 0
      ? undefined
      : html`<br><span class="soft"> ${countText(polledApplications)} polled so far</span>`;
  return html`<b>${countText(applications)}</b> <span class="soft">of ${listed}</span>${polled}`;
}

/** `for 12 min`, with the beginning at hand. */
function lasting(sinceMs: number, nowMs: number): Html {
  const text = html`for ${durationText(nowMs - sinceMs)}`;
  return html`<span class="soft">${timeElement(sinceMs, text, true)}</span>`;
}

function accountRow(account: AccountDetails, nowMs: number): Html {
  const { name, state, stateSinceMs, hosts, requestsLastMinute, requestsInFlight } = account;
  const { budgetRequestsPerMinute, demandRequestsPerMinute, pollIntervalSeconds } = account;
  const { lastDiscoveryMs, nextDiscoveryMs } = account;
  const isKnown = lastDiscoveryMs !== undefined || account.applications > 0;
  return html`<tbody data-key="${name}">
<tr><td class="c-state">${stateBadge(state, accountStateViews[state])}${
    stateSinceMs !== undefined && html`<br> ${lasting(stateSinceMs, nowMs)}`
  }</td><th scope="row"><a href="./?${new URLSearchParams({ account: name }).toString()}"><bdi>${cutText(name, longestName)}</bdi></a></th><td class="n c-selected">${selectedText(account)}</td><td class="n c-all-hosts">${
    isKnown ? countText(hosts) : unknown('Not discovered yet')
  }</td><td class="n c-calls"><b>${countText(requestsLastMinute)}</b> <span class="soft">of ${rateText(budgetRequestsPerMinute)}</span>${budgetBar(requestsLastMinute, budgetRequestsPerMinute)}</td><td class="n c-flight">${requestsInFlight}</td><td class="n c-demand">${
    demandRequestsPerMinute === undefined
      ? unknown('Not discovered yet')
      : rateText(demandRequestsPerMinute)
  }</td><td class="n c-interval">${durationText(pollIntervalSeconds * 1000)}</td><td class="n c-discovered">${
    lastDiscoveryMs === undefined ? 'never' : ago(lastDiscoveryMs, nowMs)
  }</td><td class="n c-discovery">${
    nextDiscoveryMs === undefined ? 'under way' : due(nextDiscoveryMs, nowMs)
  }</td></tr>
<tr class="why"><td colspan="10">${accountNotes(account, nowMs)}</td></tr></tbody>
`;
}

const header = html`<thead><tr><th scope="col">State</th><th scope="col">Account</th>
<th scope="col" class="n">Applications<br><span class="soft">selected of listed</span></th><th scope="col" class="n">Hosts</th>
<th scope="col" class="n">Calls<br><span class="soft">last minute, of the limit</span></th><th scope="col" class="n">In flight</th>
<th scope="col" class="n">Demand<br><span class="soft">calls a minute</span></th><th scope="col" class="n">Interval<br><span class="soft">effective</span></th>
<th scope="col" class="n">Discovered<br><span class="soft">last success</span></th><th scope="col" class="n">Discovery<br><span class="soft">next</span></th></tr></thead>`;

/** The accounts, those with problems first; one only if the applications of one are shown. */
export function accountsSection(
  all: readonly AccountDetails[],
  chosen: string | undefined,
  nowMs: number,
): Html {
  const accounts = inOrder(all).filter(({ name }) => chosen === undefined || name === chosen);
  const shown = accounts.slice(0, mostAccounts);
  const left = accounts.length - shown.length;
  const more =
    left > 0 &&
    html`<p class="soft">${countText(left)} more accounts are not shown here: choose one below.</p>`;
  if (shown.length === 0) {
    const text = all.length === 0 ? 'This process polls no account.' : 'There is no such account.';
    return html`<section aria-labelledby="accounts"><h2 id="accounts">Accounts</h2><p class="empty">${text}</p></section>`;
  }
  return html`<section aria-labelledby="accounts"><h2 id="accounts">${shown.length === 1 ? 'Account' : 'Accounts'}</h2>
<div class="table" role="region" aria-label="List of accounts" tabindex="0"><table class="list accounts">
${header}
${shown.map((account) => accountRow(account, nowMs))}</table></div>
${more}</section>`;
}
