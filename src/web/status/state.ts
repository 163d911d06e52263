import { countText } from '../../model/shown-text.ts';
import {
  type AccountDetails,
  type AccountState,
  type ApplicationState,
  type ApplicationStatus,
  mostStretch,
  type ProcessStatus,
  type QueryStatus,
} from '../../model/status.ts';
import { type Html, html } from './html.ts';
import { countOf, rateText, withCapital } from './texts.ts';

/** How a state looks. The word always stands beside the colour. */
export type Tone = 'good' | 'bad' | 'wait' | 'none';

export interface StateView {
  readonly tone: Tone;
  readonly meaning: string;
}

export const applicationStateViews: Readonly<Record<ApplicationState, StateView>> = {
  dropped: {
    tone: 'bad',
    meaning: 'Polls have failed for so long that its values are no longer published.',
  },
  failing: { tone: 'bad', meaning: 'The last poll did not get everything.' },
  gone: {
    tone: 'wait',
    meaning: 'New Relic lists it, but answers 404 when asked for it. Nothing is published.',
  },
  waiting: { tone: 'wait', meaning: 'Its first poll has not ended yet.' },
  up: { tone: 'good', meaning: 'The last poll got everything.' },
  silent: { tone: 'none', meaning: 'It reports nothing to New Relic, so it is not polled.' },
};

const accountStateViews: Readonly<Record<AccountState, StateView>> = {
  down: { tone: 'bad', meaning: 'The last discovery failed.' },
  degraded: {
    tone: 'bad',
    meaning: 'The discovery works, but something else does not: the line below says what.',
  },
  starting: { tone: 'wait', meaning: 'The first discovery has not ended yet.' },
  up: { tone: 'good', meaning: 'The discovery works, and so do all polls.' },
};

/** How the state of an account, or of the whole, looks: amber instead of red if nothing fails. */
export function accountView(state: AccountState, isWorking = false): StateView {
  const view = accountStateViews[state];
  return state === 'degraded' && isWorking ? { ...view, tone: 'wait' } : view;
}

/** The word of a state, with its sign and colour. */
export function stateBadge(word: string, { tone, meaning }: StateView): Html {
  return html`<span class="state ${tone}" title="${meaning}">${word}</span>`;
}

/** What makes the polls of an account rarer than they were meant to be, each with its number and cause. */
export function slowdownsOf(account: AccountDetails): readonly string[] {
  return [...refusalText(account), ...stretchText(account)];
}

function refusalText(account: AccountDetails): readonly string[] {
  const { refusals, requestsPerMinute: full, budgetRequestsPerMinute: limit } = account;
  if (refusals === undefined) return [];
  const last = new Date(refusals.lastMs).toISOString().slice(11, 19);
  const refused = `New Relic refused ${countOf(refusals.calls, 'call')}, the last at ${last} UTC`;
  return [
    account.isReduced
      ? `limit lowered from ${rateText(full)} to ${rateText(limit)}: ${refused}`
      : refused,
  ];
}

function stretchText(account: AccountDetails): readonly string[] {
  const { stretch, demandRequestsPerMinute: demand = 0, budgetRequestsPerMinute: limit } = account;
  if (stretch <= mostStretch) return [];
  const needed = `${rateText(demand)} calls a minute needed`;
  const cause = demand > limit ? `${rateText(limit)} allowed` : 'New Relic answers too slowly';
  return [`intervals stretched ${stretch.toFixed(1)} times: ${needed}, ${cause}`];
}

/** The queries of these accounts. */
export function queriesOf(accounts: readonly AccountDetails[]): readonly QueryStatus[] {
  return accounts.flatMap(({ queries = [] }) => queries);
}

/** The state of the whole exporter, in a word and a sentence. */
export interface OverallState {
  readonly state: AccountState;
  readonly sentence: string;
  /** Whether nothing fails, though it is degraded. */
  readonly works?: boolean;
}

/** How many applications are in each state. */
type StateCounts = Readonly<Record<ApplicationState, number>>;

function countStates(applications: readonly ApplicationStatus[]): StateCounts {
  const counts = { dropped: 0, failing: 0, gone: 0, waiting: 0, silent: 0, up: 0 };
  for (const { state } of applications) counts[state] += 1;
  return counts;
}

const phraseOf = (count: number, one: string, many: string): readonly string[] =>
  count === 0 ? [] : [countOf(count, one, many)];

/** `2 applications and 1 query`; empty without any. */
export function subjectsText(applications: number, queries: number): string {
  return [
    ...phraseOf(applications, 'application', 'applications'),
    ...phraseOf(queries, 'query', 'queries'),
  ].join(' and ');
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** Everything that fails, the worst first. */
function failuresOf(
  accounts: readonly AccountDetails[],
  failing: number,
  dropped: number,
  problem: string | undefined,
): readonly string[] {
  const down = accounts.filter(({ state }) => state === 'down').length;
  const missing = sumOf(accounts.map(({ missingSelectors }) => missingSelectors.length));
  const keys = accounts.filter(({ key }) => key.problem !== undefined).length;
  const queries = queriesOf(accounts).filter(({ failure }) => failure !== undefined);
  return [
    ...phraseOf(down, 'account down', 'accounts down'),
    ...phraseOf(failing, 'application failing', 'applications failing'),
    ...phraseOf(queries.length, 'query failing', 'queries failing'),
    ...(dropped === 0 ? [] : [`values of ${countOf(dropped, 'application')} dropped`]),
    ...phraseOf(missing, 'entry matches nothing', 'entries match nothing'),
    ...phraseOf(keys, 'API key cannot be read', 'API keys cannot be read'),
    ...(problem === undefined ? [] : ['the last reload was refused']),
  ];
}

/** Whether nothing of an account fails, though it may be degraded. */
export function works(account: AccountDetails): boolean {
  return failuresOf([account], account.failingApplications, 0, undefined).length === 0;
}

/** What works, but not as it was meant to. */
function shortcomingsOf(accounts: readonly AccountDetails[]): readonly string[] {
  const slow = accounts.map((account) => slowdownsOf(account)).filter(({ length }) => length > 0);
  const [first] = slow;
  const valueless = sumOf(accounts.map(({ missingMetrics }) => missingMetrics.length));
  const empty = queriesOf(accounts).filter(({ missing }) => missing !== undefined).length;
  return [
    ...(first !== undefined && slow.length === 1 ? first : []),
    ...(slow.length > 1 ? [`${countText(slow.length)} accounts slowed down`] : []),
    ...phraseOf(valueless, 'metric never has a value', 'metrics never have a value'),
    ...phraseOf(empty, 'query never has a value', 'queries never have a value'),
  ];
}

/** Whether New Relic has listed what there is, and nothing of it is polled, nor a query. */
function selectsNothing(accounts: readonly AccountDetails[], counts: StateCounts): boolean {
  const subjects = sumOf(Object.values(counts)) + queriesOf(accounts).length;
  const areListed = accounts.every(({ state }) => state === 'up' || state === 'degraded');
  return accounts.length > 0 && areListed && subjects === 0;
}

/** The state of the whole: as bad as the worst part of it; `down` only if nothing works. */
export function overallStateOf(
  accounts: readonly AccountDetails[],
  applications: readonly ApplicationStatus[],
  { reload, shard }: ProcessStatus,
): OverallState {
  if (reload.inForceSinceMs === undefined) {
    return reload.problem === undefined
      ? { state: 'starting', sentence: 'The configuration is being read.' }
      : { state: 'down', sentence: 'There is no usable configuration, so nothing is polled.' };
  }
  const counts = countStates(applications);
  // Other shards may have what is selected.
  const isIdle = shard.total === 1 && selectsNothing(accounts, counts);
  const failures = [
    ...(isIdle ? ['no application is selected'] : []),
    ...failuresOf(accounts, counts.failing, counts.dropped, reload.problem),
  ];
  const faults = [...failures, ...shortcomingsOf(accounts)];
  if (faults.length > 0) {
    const isDown =
      isIdle || (accounts.length > 0 && accounts.every(({ state }) => state === 'down'));
    const sentence = `${withCapital(faults.join(', '))}.`;
    return { state: isDown ? 'down' : 'degraded', sentence, works: failures.length === 0 };
  }
  const degraded = accounts.filter(({ state }) => state === 'degraded');
  if (degraded.length > 0) {
    const sentence = `${withCapital(countOf(degraded.length, 'account'))} degraded.`;
    return { state: 'degraded', sentence };
  }
  return workingState(accounts, counts);
}

function workingState(accounts: readonly AccountDetails[], counts: StateCounts): OverallState {
  const starting = accounts.filter(({ state }) => state === 'starting').length;
  const isListed = accounts.some(({ hasApplications }) => hasApplications);
  if (starting > 0) {
    const what = isListed ? 'discovery' : 'query';
    const sentence = `The first ${what} of ${countOf(starting, 'account')} has not ended yet.`;
    return { state: 'starting', sentence };
  }
  const { up, waiting } = counts;
  if (waiting > 0) {
    const sentence = `${countText(up)} of ${countOf(up + waiting, 'application')} have been polled so far.`;
    return { state: 'starting', sentence };
  }
  const where = accounts.length > 1 ? ` in ${countText(accounts.length)} accounts` : '';
  const polled = subjectsText(up, queriesOf(accounts).length);
  const sentences = [
    ...(polled === '' ? [] : [`${polled}${where}, all polls succeed.`]),
    ...(up === 0 && (isListed || polled === '') ? ['No application is polled.'] : []),
    ...phraseOf(counts.silent, 'application reports nothing.', 'applications report nothing.'),
    ...phraseOf(counts.gone, 'application is gone.', 'applications are gone.'),
  ];
  return { state: 'up', sentence: sentences.join(' ') };
}
