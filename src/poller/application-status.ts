import { type Clock, type Now, nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig } from '../model/config.ts';
import { hostsScope } from '../model/poll-outcome.ts';
import { hostsToPoll, isWorthPolling, labelsOf } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { ApplicationState, ApplicationStatus, Failure } from '../model/status.ts';
import type { AccountTable } from './account-table.ts';
import { type AppState, staleAtMs } from './app-state.ts';

/** All applications of an account for people, or all its queries. */
export function applicationStatusesOf(
  { name }: Pick<AccountConfig, 'name'>,
  table: Pick<AccountTable, 'states' | 'plan' | 'nextDueMs'>,
  { clock }: { readonly clock: Clock },
  areQueries = false,
): readonly ApplicationStatus[] {
  const now = nowOf(clock);
  return [...table.states.values()]
    .filter(({ selected }) => (selected.entry.query !== undefined) === areQueries)
    .map((app) => applicationStatusOf(name, app, table, now));
}

const none: ReadonlySet<string> = new Set();

function applicationStatusOf(
  account: string,
  app: AppState,
  table: Pick<AccountTable, 'plan' | 'nextDueMs'>,
  now: Now,
): ApplicationStatus {
  const { application, entry } = app.selected;
  const hostIds = hostsToPoll(app.selected);
  return {
    account,
    id: application.id,
    name: application.name,
    query: entry.query,
    selector: selectorText(entry.selector),
    labels: labelsOf(app.selected),
    state: stateOf(app),
    failure: failureOf(app, now),
    reading: app.reading,
    isHeld: staleAtMs(app) !== undefined,
    dropMs: dropMsOf(app, now),
    lastSuccessMs: app.lastSuccessMs,
    lastPollMs: app.lastPoll?.endedMs,
    lastPollSeconds: app.lastPoll && Math.round(app.lastPoll.durationMs) / 1000,
    nextPollMs: wallTimeOf(now)(table.nextDueMs(app)),
    intervalSeconds: (entry.poll.intervalMs * table.plan.stretch) / 1000,
    hostIds,
    failedHostIds: failedHostsOf(app, hostIds),
    hostNames: app.hostNames.names,
  };
}

function stateOf({ gone, pollSucceeded, droppedMs, selected }: AppState): ApplicationState {
  if (gone) return 'gone';
  if (pollSucceeded === false) return droppedMs === undefined ? 'failing' : 'dropped';
  if (pollSucceeded === undefined) return 'waiting';
  return isWorthPolling(selected) ? 'up' : 'silent';
}

const lateTexts = {
  throttled:
    'The poll that was due waits: New Relic answered 429, and is not asked before its pause is over.',
  timeout:
    'The poll that was due has not ended: New Relic answers too slowly, or the budget is too small.',
};

/** When a poll has not ended, no outcome says why. */
function failureOf(app: AppState, now: Now): Failure | undefined {
  const { failure, pollSucceeded, late } = app;
  if (failure !== undefined || pollSucceeded !== false) return failure;
  const { reason, sinceMs } = late ?? { reason: 'timeout', sinceMs: now.monotonicMs };
  return { reason, message: lateTexts[reason], sinceMs: wallTimeOf(now)(sinceMs) };
}

function dropMsOf(app: AppState, now: Now): number | undefined {
  const atMs = app.droppedMs ?? staleAtMs(app);
  return atMs === undefined ? undefined : wallTimeOf(now)(atMs);
}

function failedHostsOf(app: AppState, hostIds: readonly string[]): ReadonlySet<string> {
  const { failedParts, failure, gone } = app;
  if (failedParts.size === 0 || gone) return none;
  // After a refused key nothing else is asked for.
  if (failure?.reason === 'auth' || failedParts.has(hostsScope)) return new Set(hostIds);
  return new Set(hostIds.filter((id) => failedParts.has(id)));
}
