import { type Clock, type Now, nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig } from '../model/config.ts';
import { hostsScope } from '../model/poll-outcome.ts';
import { hostsToPoll, isWorthPolling, labelsOf } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import { hasValues } from '../model/snapshot.ts';
import type { ApplicationState, ApplicationStatus, Failure, QueryStatus } from '../model/status.ts';
import type { AccountTable } from './account-table.ts';
import { type AppState, staleAtMs } from './app-state.ts';
import { missingTextOf, type QueryState, queryRules } from './query-state.ts';
import type { SubjectState } from './subject-state.ts';

type Account = Pick<AccountConfig, 'name'>;

/** All applications of an account for people. */
export function applicationStatusesOf(
  { name }: Account,
  table: Pick<AccountTable, 'states' | 'plan' | 'queue'>,
  { clock }: { readonly clock: Clock },
): readonly ApplicationStatus[] {
  const now = nowOf(clock);
  return Array.from(table.states.values(), (app) => {
    const { application, entry } = app.selected;
    const hostIds = hostsToPoll(app.selected);
    const times = { nextMs: table.queue.nextDueMs(app), staleMs: staleAtMs(app), now };
    return {
      account: name,
      name: application.name,
      ...polledStatusOf(app, times),
      state: stateOf(app, isWorthPolling(app.selected)),
      intervalSeconds: (entry.poll.intervalMs * table.plan.stretch) / 1000,
      id: application.id,
      selector: selectorText(entry.selector),
      labels: labelsOf(app.selected),
      reading: app.reading,
      hostIds,
      failedHostIds: failedHostsOf(app, hostIds),
      hostNames: app.hostNames.names,
    };
  });
}

/** All its queries. */
export function queryStatusesOf(
  { name }: Account,
  { queries, plan }: Pick<AccountTable, 'queries' | 'plan'>,
  { clock }: { readonly clock: Clock },
): readonly QueryStatus[] {
  const now = nowOf(clock);
  return Array.from(queries.states.values(), (state) => {
    const { query, reading } = state;
    const times = {
      nextMs: queries.queue.nextDueMs(state),
      staleMs: queryRules.staleAtMs(state),
      now,
    };
    return {
      account: name,
      name: query.name,
      ...polledStatusOf(state, times),
      state: stateOf(state, true),
      intervalSeconds: (query.poll.intervalMs * plan.stretch) / 1000,
      query,
      reading,
      missing: missingTextOf(state),
    };
  });
}

const none: ReadonlySet<string> = new Set();

interface StatusTimes {
  readonly nextMs: number;
  readonly staleMs: number | undefined;
  readonly now: Now;
}

function polledStatusOf(state: AppState | QueryState, { nextMs, staleMs, now }: StatusTimes) {
  const isHeld = staleMs !== undefined && hasValues(state.reading);
  const dropMs = isHeld ? staleMs : state.droppedMs;
  const toWall = wallTimeOf(now);
  return {
    failure: failureOf(state, now),
    isHeld,
    dropMs: dropMs === undefined ? undefined : toWall(dropMs),
    lastSuccessMs: state.lastSuccessMs,
    lastPollMs: state.lastPoll?.endedMs,
    lastPollSeconds: state.lastPoll && Math.round(state.lastPoll.durationMs) / 1000,
    nextPollMs: toWall(nextMs),
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

const lateTexts = {
  throttled:
    'The poll that was due waits: New Relic answered 429, and is not asked before its pause is over.',
  timeout:
    'The poll that was due has not ended: New Relic answers too slowly, or the budget is too small.',
};

/** When a poll has not ended, no outcome says why. */
function failureOf({ failure, pollSucceeded, late }: SubjectState, now: Now): Failure | undefined {
  if (failure !== undefined || pollSucceeded !== false) return failure;
  const { reason, sinceMs } = late ?? { reason: 'timeout', sinceMs: now.monotonicMs };
  return { reason, message: lateTexts[reason], sinceMs: wallTimeOf(now)(sinceMs) };
}

function failedHostsOf(app: AppState, hostIds: readonly string[]): ReadonlySet<string> {
  const { failedParts, failure, gone } = app;
  if (failedParts.size === 0 || gone) return none;
  // After a refused key nothing else is asked for.
  if (failure?.reason === 'auth' || failedParts.has(hostsScope)) return new Set(hostIds);
  return new Set(hostIds.filter((id) => failedParts.has(id)));
}
