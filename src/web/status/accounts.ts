import { isEffectOf, type Problem, problemSubjects, problemsOf } from '../../model/problem.ts';
import { type ProblemKind, problemKinds } from '../../model/problem-kinds.ts';
import { countText, cutText, durationText, rateText } from '../../model/shown-text.ts';
import { type AccountDetails, accountStates } from '../../model/status.ts';
import { isListed, longestNameShown } from './applications.ts';
import { tableOf } from './document.ts';
import { type Child, type Html, html } from './html.ts';
import { accountView, problemNote, stateBadge, subjectsText } from './state.ts';
import { ago, byText, due, shownCount, timeElement, unknownValue, until } from './texts.ts';

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
  metric: string | undefined,
): Html | undefined {
  const left = elements.length - longestList;
  const separated = elements
    .slice(0, longestList)
    .map((element, index) => html`${index > 0 && ', '}${element}`);
  if (elements.length === 0) return undefined;
  if (elements.length <= mostMissing) return html`<p class="${tone}">${what}: ${separated}</p>`;
  return html`<details><summary class="${tone}">${what}</summary><p>${separated}${
    left > 0 &&
    html` and ${countText(left)} more${metric !== undefined && html`; the metric <code>${metric}</code> has the first thousand`}`
  }</p></details>`;
}

/** Of kinds with many subjects: the metric that names all of them, and how one is written. */
const problemLists: readonly (readonly [
  kind: ProblemKind,
  metric: string | undefined,
  element: (subject: NonNullable<Problem['subject']>) => Html,
])[] = [
  [
    'entry_matches_nothing',
    'newrelic_exporter_app_missing',
    ({ selector }) => html`<code><bdi>${selector}</bdi></code>`,
  ],
  [
    'metric_without_value',
    'newrelic_exporter_metric_missing',
    ({ selector, name, metric = '', value }) =>
      html`<code>${name}</code> of <code><bdi>${selector}</bdi></code> <span class="soft">(<bdi>${cutText(metric, longestMetric)}</bdi>, ${value})</span>`,
  ],
  ['tag_without_value', undefined, ({ tag }) => html`<code><bdi>${tag}</bdi></code>`],
  [
    'query_without_value',
    'newrelic_exporter_query_missing',
    ({ query }) => html`<code>${query}</code>`,
  ],
];

function missingNotes(problems: readonly Problem[]): readonly (Html | undefined)[] {
  return problemLists.map(([kind, metric, element]) => {
    const subjects = problemSubjects(problems, kind);
    const { tone, phrase } = problemKinds[kind];
    const what = shownCount(subjects.length, phrase[0], phrase[1]);
    return missingList(tone === 'red' ? 'bad' : 'wait', what, subjects.map(element), metric);
  });
}

/** The applications and queries that fail: because of the account, or each for itself. */
function failingNotes(
  account: AccountDetails,
  problems: readonly Problem[],
  nowMs: number,
): readonly (Html | undefined)[] {
  const failing = problems.filter(
    ({ kind }) => kind.endsWith('_failing') && kind !== 'list_failing',
  );
  const effects = failing.filter(({ isEffect }) => isEffect === true);
  const own = failing.filter(({ isEffect }) => isEffect !== true);
  const [held] = [...account.failing, ...(account.queries ?? [])]
    .filter((one) => one.isHeld && isEffectOf(account, one))
    .toSorted((left, right) => (left.dropMs ?? 0) - (right.dropMs ?? 0));
  const outlook =
    held?.dropMs !== undefined &&
    html` Older values are held until ${until(held.dropMs, nowMs)}, and then dropped unless a poll succeeds.`;
  const href = `./?${new URLSearchParams({ account: account.name }).toString()}`;
  return [
    failNote(effects, html` because of the account.${outlook}`),
    failNote(own, html`: <a href="${href}">see below</a>`),
  ];
}

function failNote(some: readonly Problem[], rest: Child): Html | undefined {
  if (some.length === 0) return undefined;
  const queries = some.filter(({ kind }) => kind === 'query_failing').length;
  const what = subjectsText(some.length - queries, queries);
  return html`<p class="bad">${what} ${some.length === 1 ? 'fails' : 'fail'}${rest}</p>`;
}

function sourceNote({ source, key, metricCalls }: AccountDetails, nowMs: number): Html {
  const api = source === 'rest' ? 'REST API v2' : 'NerdGraph';
  const calls = metricCalls === undefined ? '' : `: ${metricCalls}`;
  const read = key.readMs !== undefined && html`, read ${ago(key.readMs, nowMs)}`;
  return html`<p class="soft">${api}${calls}. API key from <bdi>${key.location}</bdi>${read}.</p>`;
}

/** How much of the budget the last minute took, as a bar. */
function budgetBar(used: number, budget: number): Html {
  const part = budget > 0 ? Math.min(100, Math.round((used / budget) * 100)) : 0;
  return html`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="4"/><rect class="used" width="${part}" height="4"/></svg>`;
}

function selectedText(account: AccountDetails): Html {
  const { applications, polledApplications, listedApplications, firstCycleEnded } = account;
  const { excludedApplications: excluded } = account;
  if (!account.hasApplications) return queriesOnly;
  if (!isListed(account)) return notListed;
  const listed = listedApplications !== undefined && html`of ${countText(listedApplications)}`;
  const polled =
    firstCycleEnded || applications === 0
      ? undefined
      : html`<br><span class="soft"> ${countText(polledApplications)} polled so far</span>`;
  return html`<b>${countText(applications)}</b> <span class="soft">${listed}${
    excluded > 0 && html`, ${countText(excluded)} excluded`
  }</span>${polled}`;
}

const notListed = unknownValue('Its list of applications has not been read yet');
const queriesOnly = unknownValue('It has queries only: nobody asks for lists of applications');

function accountRow(account: AccountDetails, nowMs: number): Html {
  const problems = problemsOf(account);
  const own = problems.filter(({ subject }) => subject === undefined);
  const { name, state, stateSinceMs, hasApplications, lastDiscoveryMs, nextDiscoveryMs } = account;
  const { requestsLastMinute: used, budgetRequestsPerMinute: budget } = account;
  const { requestsPerMinute: full, sharedRequestsPerMinute: shared } = account;
  const demand = account.demandRequestsPerMinute;
  const hostsNow = isListed(account) ? countText(account.hosts) : notListed;
  const discovered = lastDiscoveryMs === undefined ? 'never' : ago(lastDiscoveryMs, nowMs);
  const next = nextDiscoveryMs === undefined ? 'under way' : due(nextDiscoveryMs, nowMs);
  return html`<tbody data-key="${name}">
<tr><td class="c-state">${stateBadge(state, accountView(state, problems))}${
    stateSinceMs !== undefined &&
    html`<br> <span class="soft">${timeElement(stateSinceMs, `for ${durationText(nowMs - stateSinceMs)}`, true)}</span>`
  }</td><th scope="row"><a href="./?${new URLSearchParams({ account: name }).toString()}"><bdi>${cutText(name, longestNameShown)}</bdi></a></th><td class="n" data-label="applications">${selectedText(account)}</td><td class="n" data-label="hosts">${
    hasApplications ? hostsNow : queriesOnly
  }</td><td class="n" data-label="calls in the last minute"><b>${countText(used)}</b> <span class="soft">of ${rateText(budget)}${shared > full && html`;<br> this shard's share of ${rateText(shared)} is ${rateText(full)}`}</span>${budgetBar(used, budget)}</td><td class="n" data-label="in flight">${account.requestsInFlight}</td><td class="n" data-label="demand">${
    demand === undefined ? notListed : rateText(demand)
  }</td><td class="n" data-label="interval">${durationText(Math.round(account.pollIntervalSeconds) * 1000)}</td><td class="n" data-label="discovered">${
    hasApplications ? discovered : queriesOnly
  }</td><td class="n" data-label="next discovery">${hasApplications ? next : queriesOnly}</td></tr>
<tr class="why"><td colspan="10">${own.map((one) => problemNote(one, nowMs))}${failingNotes(account, problems, nowMs)}${missingNotes(problems)}${sourceNote(account, nowMs)}</td></tr></tbody>
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
  chosen: string,
  nowMs: number,
): Html {
  const places = new Map(accountStates.map((state, place) => [state, place]));
  // Of those in one state, what is red comes first.
  const placeOf = (one: AccountDetails): number =>
    (places.get(one.state) ?? 0) - (problemsOf(one).some(({ tone }) => tone === 'red') ? 0.5 : 0);
  const accounts = all
    .filter(({ name }) => chosen === '' || name === chosen)
    .toSorted((left, right) => placeOf(left) - placeOf(right) || byText(left.name, right.name));
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
${tableOf('List of accounts', 'accounts', [header, shown.map((account) => accountRow(account, nowMs))])}
${more}</section>`;
}
