import { mergedApplication } from '../model/application.ts';
import type { Now } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import {
  type SelectedApplication,
  withNamedHosts,
  withNewHosts,
} from '../model/selected-application.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { Failure } from '../model/status.ts';
import { type HostNameState, hostNamesAfter, noHostNames } from './host-names.ts';
import { withHostsOf, withSeriesOf } from './kept-reading.ts';
import { failureAfter } from './poll-failure.ts';
import { dueAt, type Turn } from './schedule.ts';

/** All that the poller remembers about one application: replaced, never changed. */
export interface AppState {
  readonly selected: SelectedApplication;
  readonly hostNames: HostNameState;
  readonly reading: AppReading | undefined;
  readonly pollSucceeded: boolean | undefined;
  /** Wall time of the last poll that got everything. */
  readonly lastSuccessMs: number | undefined;
  /** What did not arrive in the last poll, and since when it has not, on the monotonic clock. */
  readonly failedSinceMs: ReadonlyMap<string, number>;
  /**
   * Why it did not arrive, and since when, on the wall clock; also if the vendor answered 404. `undefined`
   * when all arrived.
   */
  readonly failure: Failure | undefined;
  /**
   * Monotonic time at which the first failed poll since values were last published began; or since
   * when a poll has been late, if that is earlier.
   */
  readonly failingSinceMs: number | undefined;
  /** Monotonic time at which values were dropped, because polls had failed for too long. */
  readonly droppedMs: number | undefined;
  /** The vendor answered 404 although its list has the application. */
  readonly gone: boolean;
  /** Its number in the order of discovery, from 0. Decides its phase. */
  readonly phaseIndex: number;
  /** Monotonic time of the last discovery that found it. */
  readonly discoveredMs: number;
  readonly turn: Turn;
  readonly pollsEnded: number;
  readonly lastPoll: EndedPoll | undefined;
}

export interface EndedPoll {
  /** Wall time at which it ended. */
  readonly endedMs: number;
  readonly durationMs: number;
}

/** Monotonic time at which values that are held become too old for that; `undefined` if none are. */
export function staleAtMs({ failingSinceMs, reading, selected }: AppState): number | undefined {
  return failingSinceMs === undefined || reading === undefined
    ? undefined
    : failingSinceMs + selected.entry.poll.staleAfterMs;
}

/** A poll with failures may be published if at most this share, or one part, of it failed. */
const recentShare = 0.1;
/** Parts that have failed for `stale_after` are not counted, up to this share in all. */
const totalShare = 0.5;

/**
 * The state of an application that was found just now.
 *
 * @param virtualMs the same moment in the virtual time of the account, if that ever differed
 */
export function newAppState(
  selected: SelectedApplication,
  phaseIndex: number,
  nowMs: number,
  virtualMs: number = nowMs,
): AppState {
  return {
    selected,
    hostNames: noHostNames,
    reading: undefined,
    pollSucceeded: undefined,
    lastSuccessMs: undefined,
    failedSinceMs: new Map(),
    failure: undefined,
    failingSinceMs: undefined,
    droppedMs: undefined,
    gone: false,
    phaseIndex,
    discoveredMs: nowMs,
    turn: dueAt(virtualMs),
    pollsEnded: 0,
    lastPoll: undefined,
  };
}

/** The state after a complete discovery: hosts that it no longer lists are gone at once. */
export function afterDiscovery(
  known: AppState,
  found: SelectedApplication,
  nowMs: number,
): AppState {
  const selected = mergedSelection(known, found);
  const { hostIds } = known.selected.application;
  const kept = keptReading(known, selected);
  const reading =
    hostIds === selected.application.hostIds
      ? kept
      : withHostsOf(kept, selected.application.hostIds);
  return { ...known, selected, reading, discoveredMs: nowMs };
}

/** The state after an incomplete discovery: it may add hosts and refresh the rest. */
export function refreshed(known: AppState, found: SelectedApplication, nowMs: number): AppState {
  const hostIds = union(known.selected.application.hostIds, found.application.hostIds);
  const application = { ...found.application, hostIds };
  const selected = mergedSelection(known, { ...found, application });
  return { ...known, selected, reading: keptReading(known, selected), discoveredMs: nowMs };
}

/** An application that has another name may be chosen by another entry. */
function keptReading(
  { selected, reading }: AppState,
  found: SelectedApplication,
): AppState['reading'] {
  return selected.entry === found.entry ? reading : withSeriesOf(reading, found.entry.series);
}

function mergedSelection(
  { selected: known, hostNames }: AppState,
  found: SelectedApplication,
): SelectedApplication {
  const application = mergedApplication(known.application, found.application);
  const isSame = application === known.application && found.entry === known.entry;
  return isSame ? known : withNamedHosts({ ...found, application }, hostNames.names);
}

function union(
  known: readonly string[] | undefined,
  found: readonly string[] | undefined,
): readonly string[] | undefined {
  if (known === undefined || found === undefined) return found ?? known;
  return [...new Set([...known, ...found])];
}

/**
 * The state after a poll. A complete poll is published. A poll with failures is held back the first
 * time, so that a short disturbance leaves no gap; unless there are no earlier values to hold. If
 * the next one has failures too, it is published without what failed, so that a broken host cannot
 * hold back the others. But a large part of an application is never left out, however long an
 * outage takes: a part must not pass for the whole.
 */
export function afterPoll(
  state: AppState,
  outcome: PollOutcome,
  asked: { readonly hostNames: boolean; readonly startMs: number },
  now: Now,
): AppState {
  const failedSinceMs = new Map(
    [...outcome.failed].map((scope): [string, number] => [
      scope,
      state.failedSinceMs.get(scope) ?? asked.startMs,
    ]),
  );
  const next: AppState = {
    ...state,
    // They may come without being asked for, with the values.
    ...(asked.hostNames || outcome.hostNames ? namesAfter(state, outcome, now) : undefined),
    failedSinceMs,
    failure: failureAfter(state.failure, outcome, asked.startMs, now),
    pollsEnded: state.pollsEnded + 1,
    lastPoll: { endedMs: now.wallMs, durationMs: now.monotonicMs - asked.startMs },
  };
  if (outcome.gone) {
    return { ...next, gone: true, reading: undefined, droppedMs: undefined, pollSucceeded: true };
  }
  const { application, entry } = next.selected;
  // It may have begun for another entry.
  const asWanted = withSeriesOf(outcome.reading, entry.series);
  const reading = withHostsOf(asWanted, application.hostIds);
  if (outcome.failed.size === 0) {
    return {
      ...next,
      gone: false,
      reading,
      pollSucceeded: true,
      lastSuccessMs: now.wallMs,
      failingSinceMs: undefined,
      droppedMs: undefined,
    };
  }
  if (isPublishable(state, outcome, failedSinceMs, now)) {
    const published = { reading, failingSinceMs: undefined, droppedMs: undefined };
    return { ...next, ...published, gone: false, pollSucceeded: false };
  }
  const failingSinceMs = Math.min(state.failingSinceMs ?? Infinity, asked.startMs);
  return { ...next, pollSucceeded: false, failingSinceMs };
}

function namesAfter(
  state: AppState,
  outcome: PollOutcome,
  now: Now,
): Pick<AppState, 'selected' | 'hostNames'> {
  const selected = withNewHosts(state.selected, outcome.hostNames);
  const hostNames = hostNamesAfter(state.hostNames, selected, outcome, now);
  return { hostNames, selected: withNamedHosts(selected, hostNames.names) };
}

function isPublishable(
  state: AppState,
  { reading, unauthorized, askedParts }: PollOutcome,
  failedSinceMs: ReadonlyMap<string, number>,
  { monotonicMs }: Now,
): boolean {
  if (reading === undefined || unauthorized) return false;
  if (state.reading !== undefined && state.failedSinceMs.size === 0) return false;
  const { staleAfterMs } = state.selected.entry.poll;
  const lately = [...failedSinceMs.values()].filter((atMs) => monotonicMs - atMs < staleAfterMs);
  return (
    lately.length <= Math.max(1, recentShare * askedParts) &&
    failedSinceMs.size <= Math.max(1, totalShare * askedParts)
  );
}
