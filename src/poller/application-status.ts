import { type Clock, type Now, nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig } from '../model/config.ts';
import { hostsScope } from '../model/poll-outcome.ts';
import { hostsToPoll, isWorthPolling } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { ApplicationState, ApplicationStatus, Failure } from '../model/status.ts';
import type { AccountTable } from './account-table.ts';
import type { AppState } from './app-state.ts';
import { pollDeadlineMs, staleAtMs } from './schedule.ts';

/** All applications of an account for people. */
export function applicationStatusesOf(
  { name }: Pick<AccountConfig, 'name'>,
  { states, plan }: Pick<AccountTable, 'states' | 'plan'>,
  { clock }: { readonly clock: Clock },
): readonly ApplicationStatus[] {
  const now = nowOf(clock);
  return Array.from(states.values(), (app) => applicationStatusOf(name, app, plan.stretch, now));
}

const none: ReadonlySet<string> = new Set();

/** @param stretch the factor by which intervals are stretched */
function applicationStatusOf(
  account: string,
  app: AppState,
  stretch: number,
  now: Now,
): ApplicationStatus {
  const { application, entry } = app.selected;
  const hostIds = hostsToPoll(app.selected);
  return {
    account,
    id: application.id,
    name: application.name,
    selector: selectorText(entry.selector),
    labels: entry.labels,
    state: stateOf(app),
    failure: failureOf(app, now),
    reading: app.reading,
    isHeld: isHeld(app),
    dropMs: dropMsOf(app, stretch, now),
    lastSuccessMs: app.lastSuccessMs,
    lastPollMs: app.lastPoll?.endedMs,
    lastPollSeconds: app.lastPoll && Math.round(app.lastPoll.durationMs) / 1000,
    nextPollMs: wallTimeOf(now)(app.nextDueMs),
    intervalSeconds: (entry.poll.intervalMs * stretch) / 1000,
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

function isHeld({ reading, failingSinceMs }: AppState): boolean {
  return reading !== undefined && failingSinceMs !== undefined;
}

/** Values are also dropped when a poll hangs: then no poll says why. */
function failureOf(app: AppState, now: Now): Failure | undefined {
  if (app.failure !== undefined || app.droppedMs === undefined) return app.failure;
  return {
    reason: 'timeout',
    message:
      'The poll that was due has not ended: New Relic answers too slowly, or the budget is too small.',
    sinceMs: wallTimeOf(now)(app.nextDueMs),
  };
}

function dropMsOf(app: AppState, stretch: number, now: Now): number | undefined {
  const deadlineMs = pollDeadlineMs(app.selected.entry.poll, stretch);
  const atMs = app.droppedMs ?? (isHeld(app) ? staleAtMs(app, deadlineMs) : undefined);
  return atMs === undefined ? undefined : wallTimeOf(now)(atMs);
}

function failedHostsOf(app: AppState, hostIds: readonly string[]): ReadonlySet<string> {
  const { failedSinceMs, failure, gone } = app;
  if (failedSinceMs.size === 0 || gone) return none;
  // After a refused key nothing else is asked for.
  if (failure?.reason === 'auth' || failedSinceMs.has(hostsScope)) return new Set(hostIds);
  return new Set(hostIds.filter((id) => failedSinceMs.has(id)));
}
