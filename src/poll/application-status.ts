import { type Clock, type Now, nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig } from '../model/config.ts';
import { hostsScope } from '../model/poll-outcome.ts';
import { hostsToPoll, isWorthPolling, labelsOf } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import { hasValues } from '../model/snapshot.ts';
import type {
  ApplicationState,
  ApplicationStatus,
  Failure,
  PolledStatus,
  QueryStatus,
} from '../model/status.ts';
import type { AccountTable } from './account-table.ts';
import type { AppState } from './app-state.ts';
import { missingTextOf } from './query-state.ts';
import { type State, staleAtMs, timingOf } from './states.ts';
import type { SubjectState } from './subject-state.ts';

type Account = Pick<AccountConfig, 'name'>;

/** All applications of an account for people. */
export function applicationStatusesOf(
  { name }: Account,
  { states, plan }: AccountTable,
  clock: Clock,
): readonly ApplicationStatus[] {
  const how = { stretch: plan.stretch, now: nowOf(clock) };
  return Array.from(states.applications.values(), (app) => {
    const { application, entry } = app.selected;
    const hostIds = hostsToPoll(app.selected);
    return {
      account: name,
      name: application.name,
      ...polledStatusOf(app, isWorthPolling(app.selected), how),
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
  { name: account }: Account,
  { states, plan }: AccountTable,
  clock: Clock,
): readonly QueryStatus[] {
  const how = { stretch: plan.stretch, now: nowOf(clock) };
  return Array.from(states.queries.values(), (state) => {
    const { query, reading } = state;
    const polled = polledStatusOf(state, true, how);
    return { account, name: query.name, ...polled, query, reading, missing: missingTextOf(state) };
  });
}

interface HowPolled {
  readonly stretch: number;
  readonly now: Now;
}

function polledStatusOf(
  state: State,
  isPolled: boolean,
  { stretch, now }: HowPolled,
): Omit<PolledStatus, 'account' | 'name' | 'reading'> {
  const staleMs = staleAtMs(state);
  const isHeld = Number.isFinite(staleMs) && hasValues(state.reading);
  const dropMs = isHeld ? staleMs : state.droppedMs;
  const toWall = wallTimeOf(now);
  return {
    state: stateOf(state, isPolled),
    failure: failureOf(state, now),
    isHeld,
    dropMs: dropMs === undefined ? undefined : toWall(dropMs),
    lastSuccessMs: state.lastSuccessMs,
    lastPollMs: state.lastPoll?.endedMs,
    lastPollSeconds: state.lastPoll && Math.round(state.lastPoll.durationMs) / 1000,
    nextPollMs: toWall(state.turn.dueMs),
    intervalSeconds: (timingOf(state).intervalMs * stretch) / 1000,
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
    'The poll that was due waits: New Relic answers 429, and is not asked during its pauses.',
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
  const { failing, failure } = app;
  // After a refused key nothing else is asked for.
  const isAll = failing.size > 0 && (failure?.reason === 'auth' || failing.has(hostsScope));
  if (isAll) return new Set(hostIds);
  return new Set(hostIds.filter((id) => failing.has(id)));
}
