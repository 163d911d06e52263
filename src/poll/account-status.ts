import { ApiError } from '../model/api-error.ts';
import { noted, nowOf, type Since, wallTimeOf } from '../model/clock.ts';
import type { AccountInUse } from '../model/config.ts';
import { type AccountFacts, problemsOf, stateOfAccount } from '../model/problem.ts';
import { polledBy } from '../model/selector.ts';
import type { AccountState } from '../model/status.ts';
import type { AccountTable } from './account-table.ts';
import type { AppState } from './app-state.ts';
import { failingStatusesOf, queryStatusesOf } from './application-status.ts';
import type { Context } from './context.ts';
import { seeksAny } from './discovery-state.ts';
import { knownOutcomeOf } from './poll-request.ts';
import type { State } from './states.ts';

/** After this long an account no longer holds back readiness, whatever it waits for: that must show. */
const readinessTimeoutMs = 5 * 60_000;

/** What is known of the account, for people, probes and self-metrics. */
export function accountFactsOf(
  { account, entries, queries = [] }: AccountInUse,
  table: AccountTable,
  { source, calls, clock, key, vendorClock, sink }: Context,
  {
    startMs,
    nextDiscoveryMs,
  }: {
    /** Monotonic time at which the poller was created. */
    readonly startMs: number;
    /** Monotonic time of the next discovery; `undefined` while one is under way. */
    readonly nextDiscoveryMs: number | undefined;
  },
): AccountFacts {
  const { plan, discovery, states, asked } = table;
  const now = nowOf(clock);
  const hasApplications = seeksAny(entries);
  const known = [...states.applications.values()];
  const { longestIntervalMs, shortestStaleAfterMs } = timesOf(known, { entries, queries });
  const isDemandKnown = known.length > 0 || discovery.listed !== undefined || !hasApplications;
  const { name, requestsPerMinute } = account;
  const refusals = calls.key.refusals();
  const sharing = [...calls.key.accounts];
  // What is not asked for never waits.
  const isAsked = (one: State): boolean => !knownOutcomeOf(one, undefined, source.listsHosts);
  const toWall = (atMs: number | undefined): number | undefined =>
    atMs === undefined ? undefined : wallTimeOf(now)(atMs);
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
    missingSelectors: discovery.missingSelectors,
    missingMetrics: table.missingMetrics,
    listedApplications: discovery.listed,
    excludedApplications: discovery.excluded,
    failing: failingStatusesOf(name, table, clock),
    queries: queryStatusesOf(name, table, clock),
    lastDiscoveryMs: discovery.lastSuccessMs,
    nextDiscoveryMs: hasApplications ? toWall(nextDiscoveryMs) : undefined,
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
    backoffUntilMs: toWall(calls.key.pausedUntilMs()),
    clockSkew: vendorClock.skew(),
    leftOut: sink.leftOutOf(name),
    keySharedBy: sharing.some(({ budgetId }) => budgetId !== sharing[0]?.budgetId)
      ? sharing.map((one) => one.name)
      : [],
  };
}

/** How the account is doing now. */
export function stateAfter(
  before: Since<AccountState>,
  facts: AccountFacts,
  nowMs: number,
): Since<AccountState> {
  return noted(before, stateOfAccount(facts.up, problemsOf(facts)), nowMs);
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
