import { countText, cutText } from '../../model/shown-text.ts';
import {
  type AccountDetails,
  type ApplicationStatus,
  accountStates,
  type PolledStatus,
} from '../../model/status.ts';
import { accountCauses, byText, longestName } from './applications.ts';
import { type Html, html } from './html.ts';
import { accountView, queriesOf, slowdownsOf, stateBadge, subjectsText, works } from './state.ts';
import {
  ago,
  countOf,
  due,
  durationText,
  rateText,
  since,
  timeElement,
  unknown,
  until,
  withCapital,
} from './texts.ts';

/** More would hide the applications; those that are left out are the ones that work. */
const mostAccounts = 50;
/** More go into a list that opens. */
const mostMissing = 5;
/** Of thousands, the rest is for programs. */
const longestList = 100;
const longestMetric = 100;

/** Elements that never match or have a value: a few in a line, many in a list that opens. */
function missingList(
  tone: 'bad' | 'wait',
  what: string,
  elements: readonly Html[],
  metric: string,
): Html | undefined {
  const left = elements.length - longestList;
  const separated = elements
    .slice(0, longestList)
    .map((element, index) => html`${index > 0 && ', '}${element}`);
  if (elements.length === 0) return undefined;
  if (elements.length <= mostMissing) return html`<p class="${tone}">${what}: ${separated}</p>`;
  return html`<details><summary class="${tone}">${what}</summary><p>${separated}${
    left > 0 &&
    html` and ${countText(left)} more; the metric <code>${metric}</code> has the first thousand`
  }</p></details>`;
}

function missingNotes({ missingSelectors, missingMetrics }: AccountDetails): Html {
  const entries = missingSelectors.map((text) => html`<code><bdi>${text}</bdi></code>`);
  const metrics = missingMetrics.map(
    ({ selector, name, metric, value }) =>
      html`<code>${name}</code> of <code><bdi>${selector}</bdi></code> <span class="soft">(<bdi>${cutText(metric, longestMetric)}</bdi>, ${value})</span>`,
  );
  return html`${missingList(
    'bad',
    countOf(entries.length, 'entry matches nothing', 'entries match nothing'),
    entries,
    'newrelic_exporter_app_missing',
  )}${missingList(
    'wait',
    countOf(metrics.length, 'metric never has a value', 'metrics never have a value'),
    metrics,
    'newrelic_exporter_metric_missing',
  )}`;
}

function keyNote({ key }: AccountDetails, nowMs: number): Html | undefined {
  const { location, problem, readMs } = key;
  if (problem === undefined) return undefined;
  const use =
    readMs === undefined
      ? 'No key is in use.'
      : html`The key that was read ${ago(readMs, nowMs)} stays in use; a restart would fail.`;
  return html`<p class="bad">The API key cannot be read (<bdi>${location}</bdi>): ${problem.replace(/\.?$/u, '.')} ${use}</p>`;
}

const byDrop = (left: PolledStatus, right: PolledStatus): number =>
  (left.dropMs ?? 0) - (right.dropMs ?? 0);

/** @param all applications and queries that fail because of their accounts */
function failingNotes(
  { name, failingApplications }: AccountDetails,
  all: readonly PolledStatus[],
  nowMs: number,
): Html {
  const caused = all.filter(({ account }) => account === name);
  const queries = caused.filter((one) => 'query' in one).length;
  const applications = caused.length - queries;
  const own = failingApplications - applications;
  const what = subjectsText(applications, queries);
  const [held] = caused.filter(({ isHeld }) => isHeld).toSorted(byDrop);
  const outlook =
    held?.dropMs !== undefined &&
    html` Older values are held until ${until(held.dropMs, nowMs)}, and then dropped unless a poll succeeds.`;
  const href = `./?${new URLSearchParams({ account: name }).toString()}`;
  return html`${what !== '' && html`<p class="bad">${what} ${caused.length === 1 ? 'fails' : 'fail'} because of the account.${outlook}</p>`}${
    own > 0 &&
    html`<p class="bad">${countOf(own, 'application')} ${own === 1 ? 'fails' : 'fail'}: <a href="${href}">see below</a></p>`
  }`;
}

function errorNote(
  { error, state, stateSinceMs, hasApplications }: AccountDetails,
  nowMs: number,
): Html | undefined {
  if (error === undefined) return undefined;
  const begun =
    state === 'down' && stateSinceMs !== undefined && html` since ${since(stateSinceMs, nowMs)}`;
  return html`<p class="bad"><b>${hasApplications ? 'Discovery fails' : 'Queries are not answered'}</b>${begun}: ${error}</p>`;
}

function clockNote({ clockSkewSeconds }: AccountDetails): Html | undefined {
  if (clockSkewSeconds === undefined) return undefined;
  const difference = durationText(Math.abs(clockSkewSeconds) * 1000);
  const side = clockSkewSeconds > 0 ? 'ahead of' : 'behind';
  return html`<p class="wait">New Relic's clock is ${difference} ${side} this machine's: windows follow New Relic's. Check the clock of this machine.</p>`;
}

function pauseNote({ backoffUntilMs }: AccountDetails, nowMs: number): Html | undefined {
  if (backoffUntilMs === undefined || backoffUntilMs <= nowMs) return undefined;
  return html`<p class="wait"><b>Paused:</b> after a 429 from New Relic, no calls are sent until ${until(backoffUntilMs, nowMs)}.</p>`;
}

function sourceNote({ source, key, metricCalls }: AccountDetails, nowMs: number): Html {
  const api = source === 'rest' ? 'REST API v2' : 'NerdGraph';
  const calls = metricCalls === undefined ? '' : `: ${metricCalls}`;
  const read = key.readMs !== undefined && html`, read ${ago(key.readMs, nowMs)}`;
  return html`<p class="soft">${api}${calls}. API key from <bdi>${key.location}</bdi>${read}.</p>`;
}

/** What is wrong with an account, the worst first, and where its key comes from. */
function accountNotes(
  account: AccountDetails,
  caused: readonly PolledStatus[],
  nowMs: number,
): Html {
  const slowdowns = slowdownsOf(account).map(
    (text) => html`<p class="wait">${withCapital(text)}.</p>`,
  );
  return html`${errorNote(account, nowMs)}${keyNote(account, nowMs)}${failingNotes(account, caused, nowMs)}${missingNotes(account)}${pauseNote(account, nowMs)}${slowdowns}${clockNote(account)}${sourceNote(account, nowMs)}`;
}

function inOrder(accounts: readonly AccountDetails[]): readonly AccountDetails[] {
  return accounts.toSorted(
    (left, right) =>
      accountStates.indexOf(left.state) - accountStates.indexOf(right.state) ||
      byText(left.name, right.name),
  );
}

/** How much of the budget the last minute took, as a bar. */
function budgetBar(used: number, budget: number): Html {
  const part = budget > 0 ? Math.min(100, Math.round((used / budget) * 100)) : 0;
  return html`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="4"/><rect class="used" width="${part}" height="4"/></svg>`;
}

function selectedText({
  hasApplications,
  applications,
  polledApplications,
  listedApplications,
  excludedApplications: excluded,
  firstCycleEnded,
}: AccountDetails): Html {
  if (!hasApplications) return queriesOnly;
  const listed = listedApplications !== undefined && html`of ${countText(listedApplications)}`;
  const polled =
    firstCycleEnded || applications === 0
      ? undefined
      : html`<br><span class="soft"> ${countText(polledApplications)} polled so far</span>`;
  return html`<b>${countText(applications)}</b> <span class="soft">${listed}${
    excluded > 0 && html`, ${countText(excluded)} excluded`
  }</span>${polled}`;
}

const queriesOnly = unknown('It has queries only: nobody asks for lists of applications');

function accountRow(account: AccountDetails, caused: readonly PolledStatus[], nowMs: number): Html {
  const { name, state, stateSinceMs, hasApplications, lastDiscoveryMs, nextDiscoveryMs } = account;
  const { requestsLastMinute: used, budgetRequestsPerMinute: budget } = account;
  const { requestsPerMinute: full, sharedRequestsPerMinute: shared } = account;
  const demand = account.demandRequestsPerMinute;
  const isKnown = lastDiscoveryMs !== undefined || account.applications > 0;
  const hostsNow = isKnown ? countText(account.hosts) : unknown('Not discovered yet');
  const discovered = lastDiscoveryMs === undefined ? 'never' : ago(lastDiscoveryMs, nowMs);
  const next = nextDiscoveryMs === undefined ? 'under way' : due(nextDiscoveryMs, nowMs);
  return html`<tbody data-key="${name}">
<tr><td class="c-state">${stateBadge(state, accountView(state, works(account)))}${
    stateSinceMs !== undefined &&
    html`<br> <span class="soft">${timeElement(stateSinceMs, `for ${durationText(nowMs - stateSinceMs)}`, true)}</span>`
  }</td><th scope="row"><a href="./?${new URLSearchParams({ account: name }).toString()}"><bdi>${cutText(name, longestName)}</bdi></a></th><td class="n" data-label="applications">${selectedText(account)}</td><td class="n" data-label="hosts">${
    hasApplications ? hostsNow : queriesOnly
  }</td><td class="n" data-label="calls in the last minute"><b>${countText(used)}</b> <span class="soft">of ${rateText(budget)}${shared > full && html`; this shard's share of ${rateText(shared)} is ${rateText(full)}`}</span>${budgetBar(used, budget)}</td><td class="n" data-label="in flight">${account.requestsInFlight}</td><td class="n" data-label="demand">${
    demand === undefined ? unknown('Not discovered yet') : rateText(demand)
  }</td><td class="n" data-label="interval">${durationText(Math.round(account.pollIntervalSeconds) * 1000)}</td><td class="n" data-label="discovered">${
    hasApplications ? discovered : queriesOnly
  }</td><td class="n" data-label="next discovery">${hasApplications ? next : queriesOnly}</td></tr>
<tr class="why"><td colspan="10">${accountNotes(account, caused, nowMs)}</td></tr></tbody>
`;
}

const header = html`<thead><tr><th scope="col">State</th><th scope="col">Account</th>
<th scope="col" class="n">Applications<br><span class="soft">selected of listed</span></th><th scope="col" class="n">Hosts</th>
<th scope="col" class="n">Calls<br><span class="soft">last minute, of the limit</span></th><th scope="col" class="n">In flight</th>
<th scope="col" class="n">Demand<br><span class="soft">calls a minute</span></th><th scope="col" class="n">Interval<br><span class="soft">reached</span></th>
<th scope="col" class="n">Discovered<br><span class="soft">last success</span></th><th scope="col" class="n">Discovery<br><span class="soft">next</span></th></tr></thead>`;

/** The accounts, those with problems first; one only if the applications of `chosen` are shown. */
export function accountsSection(
  all: readonly AccountDetails[],
  applications: readonly ApplicationStatus[],
  chosen: string,
  nowMs: number,
): Html {
  const accounts = inOrder(all).filter(({ name }) => chosen === '' || name === chosen);
  const shown = accounts.slice(0, mostAccounts);
  const left = accounts.length - shown.length;
  const more =
    left > 0 &&
    html`<p class="soft">${countText(left)} more accounts are not shown here: choose one below.</p>`;
  if (shown.length === 0) {
    const text = all.length === 0 ? 'This process polls no account.' : 'There is no such account.';
    return html`<section aria-labelledby="accounts"><h2 id="accounts">Accounts</h2><p class="empty">${text}</p></section>`;
  }
  const caused = [...applications, ...queriesOf(accounts)].filter(accountCauses(accounts, nowMs));
  return html`<section aria-labelledby="accounts"><h2 id="accounts">${shown.length === 1 ? 'Account' : 'Accounts'}</h2>
<div class="table" role="region" aria-label="List of accounts" tabindex="0"><table class="list accounts">
${header}
${shown.map((account) => accountRow(account, caused, nowMs))}</table></div>
${more}</section>`;
}
