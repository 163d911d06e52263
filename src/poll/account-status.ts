import { ApiError } from '../model/api-error.ts';
import { type Clock, type Now, noted, nowOf, type Since, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig, AccountInUse, AppEntry } from '../model/config.ts';
import { hostsScope } from '../model/poll-outcome.ts';
import { type AccountFacts, type Problem, problemsOf, stateOfAccount } from '../model/problem.ts';
import {
  hostsToPoll,
  isWorthPolling,
  labelsOf,
  tagsWithoutValue,
} from '../model/selected-application.ts';
import { polledBy, selectorText } from '../model/selector.ts';
import { hasValues } from '../model/snapshot.ts';
import type {
  AccountDetails,
  AccountState,
  ApplicationState,
  ApplicationStatus,
  FailingStatus,
  PolledStatus,
  QueryStatus,
} from '../model/status.ts';
import type { AccountTable } from './account-table.ts';
import type { AppState } from './app-state.ts';
import type { Context } from './context.ts';
import { seeksAny } from './discovery-state.ts';
import { knownOutcomeOf } from './poll-request.ts';
import { ProblemLog } from './problem-log.ts';
import { missingTextOf } from './query-state.ts';
import { type State, staleAtMs, timingOf } from './states.ts';
import type { SubjectState } from './subject-state.ts';

/** What is wrong with ten thousand takes tens of milliseconds: it is judged every five seconds at most; */
const judgedPerMs = 2;
/** and without an event, so often. */
const longestOverdueMs = 10_000;
/** After this long an account no longer holds back readiness, whatever it waits for: that must show. */
const readinessTimeoutMs = 5 * 60_000;

/** Judges an account: how it is doing, and since when what is wrong with it. */
export class AccountJudge {
  readonly #facts: () => AccountFacts;
  readonly #clock: Clock;
  readonly #log: ProblemLog;
  /** As of the last judgement, at this monotonic time. */
  #state: Since<AccountState> = { value: 'starting', sinceMs: undefined };
  #judgedMs = Number.NEGATIVE_INFINITY;

  /** @param isOver whether a problem that is no more has ended well: what it was about is still there */
  constructor(
    account: string,
    facts: () => AccountFacts,
    { clock, logger }: Context,
    isOver?: (problem: Problem) => boolean,
  ) {
    this.#facts = facts;
    this.#clock = clock;
    this.#log = new ProblemLog({ account }, { clock, logger }, isOver);
  }

  status(): AccountDetails {
    const facts = this.#facts();
    const now = nowOf(this.#clock);
    const problemsSinceMs = this.#log.sinceMs();
    const { value: state, sinceMs } = this.#stateBy(facts, problemsOf(facts), now.monotonicMs);
    return { ...facts, problemsSinceMs, state, stateSinceMs: toWall(sinceMs, now) };
  }

  /** Notes what is wrong since now, and writes it to the log; all of it if nobody looks again. */
  judge(isLast = false): void {
    const facts = { ...this.#facts(), problemsSinceMs: this.#log.sinceMs() };
    this.#judgedMs = this.#clock.monotonicMs();
    const problems = problemsOf(facts);
    this.#state = this.#stateBy(facts, problems, this.#judgedMs);
    this.#log.tell(problems, isLast);
  }

  /** Judges unless that was just done. Returns when it is to be done next, on the monotonic clock. */
  judgeAgain(subjects: number): number {
    const atMs = this.#judgedMs + subjects / judgedPerMs;
    if (this.#clock.monotonicMs() < atMs) return atMs;
    this.judge();
    return this.#judgedMs + longestOverdueMs;
  }

  #stateBy({ up }: AccountFacts, problems: readonly Problem[], nowMs: number): Since<AccountState> {
    return noted(this.#state, stateOfAccount(up, problems), nowMs);
  }
}

/**
 * What is known of the account, for people, probes and self-metrics: its poller was created at `startMs`, and the
 * next discovery is at `nextDiscoveryMs`, unless one is under way; monotonic.
 */
export function accountFactsOf(
  { account, entries, queries = [] }: AccountInUse,
  table: AccountTable,
  context: Context,
  { startMs, nextDiscoveryMs }: Readonly<{ startMs: number; nextDiscoveryMs: number | undefined }>,
): AccountFacts {
  const { source, calls, clock } = context;
  const { plan, discovery, states, asked } = table;
  const now = nowOf(clock);
  const hasApplications = seeksAny(entries);
  const known = [...states.applications.values()];
  const { longestIntervalMs, shortestStaleAfterMs } = timesOf(known, { entries, queries });
  const isDemandKnown = known.length > 0 || discovery.listed !== undefined || !hasApplications;
  const { name } = account;
  // What is not asked for never waits.
  const isAsked = (one: State): boolean => !knownOutcomeOf(one, undefined, source.listsHosts);
  return {
    name,
    hasApplications,
    up: asked.up,
    error: asked.error?.message,
    errorReason: asked.error instanceof ApiError ? asked.error.reason : undefined,
    firstCycleEnded: !hasApplications || isFirstCycleOver(table, now.monotonicMs - startMs),
    applications: known.length,
    hosts: plan.hosts,
    polledApplications: known.filter(({ pollsEnded }) => pollsEnded > 0).length,
    // The plan follows with the next look.
    budgetRequestsPerMinute: calls.limitPerMinute(),
    demandRequestsPerMinute: isDemandKnown ? plan.demandPerMinute : undefined,
    metricCalls: source.metricCalls?.(polledBy(entries)),
    stretch: plan.stretch,
    pollIntervalSeconds: (longestIntervalMs * states.reachedStretch(states.all, isAsked)) / 1000,
    configuredIntervalSeconds: longestIntervalMs / 1000,
    staleAfterSeconds: shortestStaleAfterMs / 1000,
    missingSelectors: discovery.missingSelectors.filter(
      // A list that fails does not know of a reload.
      (text) => entries.some(({ selector }) => selectorText(selector) === text),
    ),
    missingMetrics: table.missingMetrics,
    missingTags: tagsWithoutValue(known.map(({ selected }) => selected)),
    listedApplications: discovery.listed,
    excludedApplications: discovery.excluded,
    failing: failingStatusesOf(name, table, now),
    queries: queryStatusesOf(name, table, now),
    lastDiscoveryMs: discovery.lastSuccessMs,
    nextDiscoveryMs: hasApplications ? toWall(nextDiscoveryMs, now) : undefined,
    ...sendingFactsOf(account, context),
  };
}

/** What is known of its key, of what is sent with it, and of what comes of that. */
function sendingFactsOf(account: AccountConfig, { calls, clock, key, vendorClock, sink }: Context) {
  const now = nowOf(clock);
  const { name, requestsPerMinute } = account;
  const refusals = calls.key.refusals();
  const sharing = [...calls.key.accounts];
  return {
    source: account.source.kind,
    requestsPerMinute,
    sharedRequestsPerMinute: account.sharedRequestsPerMinute ?? requestsPerMinute,
    refusals: refusals && {
      ...refusals,
      sinceMs: wallTimeOf(now)(refusals.sinceMs),
      lastMs: wallTimeOf(now)(refusals.lastMs),
    },
    isReduced: calls.key.isReduced(),
    key: key.status(),
    requestsLastMinute: calls.requestsLastMinute(),
    requestsInFlight: calls.requestsInFlight(),
    backoffUntilMs: toWall(calls.key.pausedUntilMs(), now),
    clockSkew: vendorClock.skew(),
    leftOut: sink.leftOutOf(name),
    keySharedBy: sharing.some(({ budgetId }) => budgetId !== sharing[0]?.budgetId)
      ? sharing.map((one) => one.name)
      : [],
  };
}

function toWall(atMs: number | undefined, now: Now): number | undefined {
  return atMs === undefined ? undefined : wallTimeOf(now)(atMs);
}

/** Whether a problem that an account had has ended well: not if what it was about is gone, or asked for no more. */
export function hasEndedWell(
  { kind, subject, reason }: Problem,
  { states, asked }: AccountTable,
  entries: readonly AppEntry[],
): boolean {
  if (subject === undefined) return reason === undefined || asked.up === true;
  const { app_id: id, query, selector, tag, name } = subject;
  if (id !== undefined) return states.applications.get(id)?.gone === false;
  if (query !== undefined) {
    const state = [...states.queries.values()].find((one) => one.query.name === query);
    return kind === 'query_without_value' ? hasValues(state?.reading) : state !== undefined;
  }
  if (tag !== undefined) return entries.some(({ poll }) => Object.hasOwn(poll.tags ?? {}, tag));
  const chosen = entries.filter((entry) => selectorText(entry.selector) === selector);
  if (name === undefined) return chosen.length > 0;
  return [...states.applications.values()].some(
    ({ selected: { entry } }) =>
      chosen.includes(entry) &&
      entry.series.some(({ gauge }) => Object.values(gauge).includes(name)),
  );
}

function isFirstCycleOver({ discovery, states }: AccountTable, runningMs: number): boolean {
  if (runningMs >= readinessTimeoutMs) return true;
  const { answered } = discovery;
  return answered && [...states.applications.values()].every(({ pollsEnded }) => pollsEnded > 0);
}

function timesOf(
  known: readonly AppState[],
  { entries, queries = [] }: Pick<AccountInUse, 'entries' | 'queries'>,
): { readonly longestIntervalMs: number; readonly shortestStaleAfterMs: number } {
  // Before an application is known, the configuration is what there is to show.
  const ofEntries =
    known.length > 0 ? known.map(({ selected }) => selected.entry) : polledBy(entries);
  const polls = (ofEntries.length > 0 ? ofEntries : queries).map(({ poll }) => poll);
  return {
    longestIntervalMs: Math.max(0, ...new Set(polls.map(({ intervalMs }) => intervalMs))),
    // The shortest, so that whatever has been dropped was not renewed for at least so long.
    shortestStaleAfterMs: Math.min(...new Set(polls.map(({ staleAfterMs }) => staleAfterMs))),
  };
}

/** All applications of an account for people. */
export function applicationStatusesOf(
  account: string,
  table: AccountTable,
  clock: Clock,
): readonly ApplicationStatus[] {
  const now = nowOf(clock);
  return Array.from(table.states.applications.values(), (app) => {
    const { application, entry } = app.selected;
    const hostIds = hostsToPoll(app.selected);
    return {
      account,
      name: application.name,
      ...polledStatusOf(app, isWorthPolling(app.selected), table, now),
      id: application.id,
      selector: selectorText(entry.selector),
      labels: labelsOf(app.selected),
      reading: app.reading,
      hostIds,
      failedHostIds: failedHostsOf(app, hostIds),
      hostNames: app.hostNames,
    };
  });
}

/** Those of its applications that fail. */
function failingStatusesOf(
  account: string,
  table: AccountTable,
  now: Now,
): AccountDetails['failing'] {
  return table.states.failing().flatMap((state) => {
    if (state.kind === 'query') return [];
    const { id, name } = state.selected.application;
    return { account, id, name, ...failureStatusOf(state, true, table, now) };
  });
}

/** All its queries. */
function queryStatusesOf(account: string, table: AccountTable, now: Now): readonly QueryStatus[] {
  return Array.from(table.states.queries.values(), (state) => {
    const { query, reading } = state;
    const polled = polledStatusOf(state, true, table, now);
    return { account, name: query.name, ...polled, query, reading, missing: missingTextOf(state) };
  });
}

function polledStatusOf(
  state: State,
  isPolled: boolean,
  table: AccountTable,
  now: Now,
): Omit<PolledStatus, 'account' | 'name' | 'reading'> {
  return {
    ...failureStatusOf(state, isPolled, table, now),
    lastSuccessMs: state.lastSuccessMs,
    lastPollMs: state.lastPoll?.endedMs,
    lastPollSeconds: state.lastPoll && Math.round(state.lastPoll.durationMs) / 1000,
    nextPollMs: wallTimeOf(now)(state.dueMs),
    intervalSeconds: (timingOf(state).intervalMs * table.states.reachedStretch([state])) / 1000,
  };
}

function failureStatusOf(
  state: State,
  isPolled: boolean,
  { asked: { recoveredMs = 0 } }: AccountTable,
  now: Now,
): Omit<FailingStatus, 'account' | 'name'> {
  const staleMs = staleAtMs(state);
  const isHeld = Number.isFinite(staleMs) && hasValues(state.reading);
  const dropMs = isHeld ? staleMs : state.droppedMs;
  return {
    state: stateOf(state, isPolled),
    failure: state.failure,
    isHeld,
    dropMs: toWall(dropMs, now),
    ...(state.pollsEnded > 0 && state.endedMs < recoveredMs && { isLeftOver: true }),
  };
}

function stateOf(
  { gone, pollSucceeded, droppedMs }: SubjectState,
  isPolled: boolean,
): ApplicationState {
  if (gone) return 'gone';
  if (pollSucceeded === false) return droppedMs === undefined ? 'failing' : 'dropped';
  if (pollSucceeded === undefined) return 'waiting';
  return isPolled ? 'up' : 'silent';
}

function failedHostsOf(app: AppState, hostIds: readonly string[]): ReadonlySet<string> {
  const { failing, failure } = app;
  // After a refused key nothing else is asked for.
  const isAll = failing.size > 0 && (failure?.reason === 'auth' || failing.has(hostsScope));
  if (isAll) return new Set(hostIds);
  return new Set(hostIds.filter((id) => failing.has(id)));
}
