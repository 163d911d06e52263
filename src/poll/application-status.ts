import { type Clock, type Now, nowOf, wallTimeOf } from '../model/clock.ts';
import { hostsScope } from '../model/poll-outcome.ts';
import { hostsToPoll, isWorthPolling, labelsOf } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import { hasValues } from '../model/snapshot.ts';
import type {
  AccountDetails,
  ApplicationState,
  ApplicationStatus,
  FailingStatus,
  PolledStatus,
  QueryStatus,
} from '../model/status.ts';
import type { AccountTable } from './account-table.ts';
import type { AppState } from './app-state.ts';
import { missingTextOf } from './query-state.ts';
import { type State, type States, staleAtMs, timingOf } from './states.ts';
import type { SubjectState } from './subject-state.ts';

/** All applications of an account for people. */
export function applicationStatusesOf(
  account: string,
  { states }: AccountTable,
  clock: Clock,
): readonly ApplicationStatus[] {
  const now = nowOf(clock);
  return Array.from(states.applications.values(), (app) => {
    const { application, entry } = app.selected;
    const hostIds = hostsToPoll(app.selected);
    return {
      account,
      name: application.name,
      ...polledStatusOf(app, isWorthPolling(app.selected), states, now),
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
export function failingStatusesOf(
  account: string,
  { states }: AccountTable,
  clock: Clock,
): AccountDetails['failing'] {
  const now = nowOf(clock);
  return states.failing().flatMap((state) => {
    if (state.kind === 'query') return [];
    const { id, name } = state.selected.application;
    return { account, id, name, ...failureStatusOf(state, true, now) };
  });
}

/** All its queries. */
export function queryStatusesOf(
  account: string,
  { states }: AccountTable,
  clock: Clock,
): readonly QueryStatus[] {
  const now = nowOf(clock);
  return Array.from(states.queries.values(), (state) => {
    const { query, reading } = state;
    const polled = polledStatusOf(state, true, states, now);
    return { account, name: query.name, ...polled, query, reading, missing: missingTextOf(state) };
  });
}

function polledStatusOf(
  state: State,
  isPolled: boolean,
  states: States,
  now: Now,
): Omit<PolledStatus, 'account' | 'name' | 'reading'> {
  return {
    ...failureStatusOf(state, isPolled, now),
    lastSuccessMs: state.lastSuccessMs,
    lastPollMs: state.lastPoll?.endedMs,
    lastPollSeconds: state.lastPoll && Math.round(state.lastPoll.durationMs) / 1000,
    nextPollMs: wallTimeOf(now)(state.dueMs),
    intervalSeconds: (timingOf(state).intervalMs * states.reachedStretch([state])) / 1000,
  };
}

function failureStatusOf(
  state: State,
  isPolled: boolean,
  now: Now,
): Omit<FailingStatus, 'account' | 'name'> {
  const staleMs = staleAtMs(state);
  const isHeld = Number.isFinite(staleMs) && hasValues(state.reading);
  const dropMs = isHeld ? staleMs : state.droppedMs;
  return {
    state: stateOf(state, isPolled),
    failure: state.failure,
    isHeld,
    dropMs: dropMs === undefined ? undefined : wallTimeOf(now)(dropMs),
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
