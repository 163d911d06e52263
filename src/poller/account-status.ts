import { type Clock, nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountInUse, AppEntry } from '../model/config.ts';
import { polledBy } from '../model/selector.ts';
import type { CallCosts } from '../model/source.ts';
import type { AccountState, PollerStatus } from '../model/status.ts';
import type { AccountTable } from './account-table.ts';
import type { AppState } from './app-state.ts';
import { applicationStatusesOf } from './application-status.ts';
import type { Aspect } from './aspect.ts';

/** After this long without any answer an account no longer holds back readiness: its failure must show. */
const readinessTimeoutMs = 5 * 60_000;

export interface AccountStatusDependencies {
  readonly table: Pick<
    AccountTable,
    'states' | 'discovery' | 'plan' | 'failing' | 'missingMetrics' | 'nextDueMs' | 'aspects'
  >;
  readonly costs: Pick<CallCosts, 'ofMetrics'>;
  readonly clock: Clock;
  /** Monotonic time at which the poller was created. */
  readonly startMs: number;
  /** Monotonic time of the next discovery; `undefined` while one is under way. */
  readonly nextDiscoveryMs: number | undefined;
  /** What else may be wrong. Default: nothing. */
  readonly aspects?: (() => readonly Aspect[]) | undefined;
}

/** The account's state for people, probes and self-metrics. */
export function accountStatusOf(
  { account: { name }, entries }: AccountInUse,
  { table, costs, clock, startMs, nextDiscoveryMs, aspects = () => [] }: AccountStatusDependencies,
): PollerStatus {
  const { plan, discovery, states, failing } = table;
  const now = nowOf(clock);
  const queries = applicationStatusesOf({ name }, table, { clock }, true);
  const failingQueries = queries.filter(({ state: one }) => one === 'failing' || one === 'dropped');
  const subjects = [...states.values()];
  const known = subjects.filter(({ selected }) => selected.entry.query === undefined);
  const { polled, longestIntervalMs, shortestStaleAfterMs } = countsOf(known, polledBy(entries));
  const isAnswered = discovery.answered || now.monotonicMs - startMs >= readinessTimeoutMs;
  const isDemandKnown = states.size > 0 || discovery.listed !== undefined;
  const { state, sinceMs } = accountStateOf(table, [...table.aspects(), ...aspects()]);
  const toWall = (atMs: number | undefined): number | undefined =>
    atMs === undefined ? undefined : wallTimeOf(now)(atMs);
  return {
    name,
    up: discovery.up,
    error: discovery.error?.message,
    firstCycleEnded: isAnswered && subjects.every(({ pollsEnded }) => pollsEnded > 0),
    applications: known.length,
    hosts: plan.hosts,
    polledApplications: polled,
    budgetRequestsPerMinute: plan.budgetPerMinute,
    demandRequestsPerMinute: isDemandKnown ? plan.demandPerMinute : undefined,
    metricCalls: costs.ofMetrics?.(polledBy(entries)),
    stretch: plan.stretch,
    pollIntervalSeconds: (longestIntervalMs * plan.stretch) / 1000,
    staleAfterSeconds: shortestStaleAfterMs / 1000,
    missingSelectors: discovery.missingSelectors,
    missingMetrics: table.missingMetrics,
    state,
    stateSinceMs: toWall(sinceMs),
    listedApplications: discovery.listed,
    excludedApplications: discovery.excluded,
    failingApplications: failing.applications - failingQueries.length,
    queries,
    lastDiscoveryMs: discovery.lastSuccessMs,
    nextDiscoveryMs: toWall(nextDiscoveryMs),
  };
}

function countsOf(
  known: readonly AppState[],
  entries: readonly AppEntry[],
): {
  readonly polled: number;
  readonly longestIntervalMs: number;
  readonly shortestStaleAfterMs: number;
} {
  // Before an application is known, the configuration is what there is to show.
  const polls = (known.length === 0 ? entries : known.map(({ selected }) => selected.entry)).map(
    ({ poll }) => poll,
  );
  return {
    polled: known.filter(({ pollsEnded }) => pollsEnded > 0).length,
    longestIntervalMs: polls.reduce((longest, poll) => Math.max(longest, poll.intervalMs), 0),
    // The shortest, so that whatever has been dropped was not renewed for at least so long.
    shortestStaleAfterMs: polls.reduce(
      (shortest, poll) => Math.min(shortest, poll.staleAfterMs),
      Infinity,
    ),
  };
}

interface StateSince {
  readonly state: AccountState;
  readonly sinceMs: number | undefined;
}

/**
 * Whether an account that is discovered is up or degraded: degraded since the first aspect that is
 * wrong now went wrong, up since the last one was mended, and neither since before it was discovered.
 */
function stateWith(upSinceMs: number, aspects: readonly Aspect[]): StateSince {
  const wrong = aspects.filter(({ isWrong }) => isWrong);
  if (wrong.length > 0) {
    const firstMs = Math.min(...wrong.map(({ sinceMs }) => sinceMs ?? upSinceMs));
    return { state: 'degraded', sinceMs: Math.max(upSinceMs, firstMs) };
  }
  const mendedMs = aspects.map(({ sinceMs }) => sinceMs ?? upSinceMs);
  return { state: 'up', sinceMs: Math.max(upSinceMs, ...mendedMs) };
}

/** The state and the monotonic time since when. */
function accountStateOf(
  { discovery, failing }: Pick<AccountTable, 'discovery' | 'failing'>,
  aspects: readonly Aspect[],
): StateSince {
  const { up, upChangedMs, missingSelectors, missingChangedMs } = discovery;
  if (up === undefined || upChangedMs === undefined) {
    return { state: 'starting', sinceMs: undefined };
  }
  if (!up) return { state: 'down', sinceMs: upChangedMs };
  return stateWith(upChangedMs, [
    { isWrong: failing.applications > 0, sinceMs: failing.changedMs },
    { isWrong: missingSelectors.length > 0, sinceMs: missingChangedMs },
    ...aspects,
  ]);
}
