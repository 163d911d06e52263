import type { PollConfig } from '../model/config.ts';
import { earlyShare } from '../rate-limit/job-queue.ts';
import type { AppState } from './app-state.ts';

/** What decides when an application is polled. */
export interface Timing {
  /** The effective interval. */
  readonly intervalMs: number;
  /** The share of the budget that the demand leaves free; 0 when there is too little. */
  readonly headroom: number;
  /** The number of the application, from 0; `undefined` if it keeps the phase of its batch. */
  readonly phaseIndex: number | undefined;
}

/** The times of a poll that has just ended. */
export interface PollTimes {
  readonly dueMs: number;
  readonly startMs: number;
  readonly nowMs: number;
}

export interface NextDue {
  readonly nextDueMs: number;
  /** After this time the poll is late: a whole interval has passed since the last one was due. */
  readonly overdueMs: number;
  /** Polls that were skipped because this one took too long. */
  readonly skipped: number;
}

/** A poll may take as long as its interval, or as this if that is longer. */
const longestShortPollMs = 120_000;

/**
 * How long after its start a poll that has not ended has failed. Where intervals are stretched, a
 * poll queues for most of its interval, so it may take twice that.
 */
export function pollDeadlineMs(
  { intervalMs, staleAfterMs }: Pick<PollConfig, 'intervalMs' | 'staleAfterMs'>,
  stretch: number,
): number {
  const deadlineFactor = stretch > 1 ? 2 : 1;
  return Math.max(
    deadlineFactor * stretch * intervalMs,
    Math.min(longestShortPollMs, staleAfterMs),
  );
}

/** The fractional parts of its multiples are spread evenly, however many there are. */
const goldenRatio = 0.618_033_988_749_895;

/** When in each interval the application is polled: all together are spread evenly. */
export function phaseMs(intervalMs: number, phaseIndex: number): number {
  return (((phaseIndex + 1) * goldenRatio) % 1) * intervalMs;
}

/**
 * When the next poll is due. First polls go out together where the budget allows it. From then on
 * each application moves towards its phase: it is polled a little early, as far as the headroom
 * allows, and never made to wait. Applications that share a batch stay together: each is due an
 * interval after the batch began, even if it was not due itself then. Polls missed while the
 * machine slept are not made up for.
 */
export function nextDue({ startMs, nowMs, ...times }: PollTimes, timing: Timing): NextDue {
  const { intervalMs, headroom, phaseIndex } = timing;
  const dueMs = startMs - times.dueMs >= intervalMs ? startMs : times.dueMs;
  const missed = Math.floor((nowMs - dueMs) / intervalMs);
  if (missed >= 1) return { nextDueMs: nowMs, overdueMs: nowMs, skipped: missed - 1 };
  if (headroom === 0) return nextTurn(dueMs, nowMs, intervalMs);
  const overdueMs = Math.min(dueMs, startMs) + intervalMs;
  const targetMs = phaseIndex === undefined ? overdueMs : phaseMs(intervalMs, phaseIndex);
  const pastPhaseMs = modulo(overdueMs - targetMs, intervalMs);
  // Rounding may put a poll that is in phase slightly before its phase: that is not far past it.
  const isInPhase = intervalMs - pastPhaseMs < 1;
  const earlyMs = isInPhase ? 0 : Math.min(pastPhaseMs, headroom * intervalMs);
  return { nextDueMs: Math.max(nowMs, overdueMs - earlyMs), overdueMs, skipped: 0 };
}

/** The next turn is one interval after this one, or after its end if that came earlier. */
function nextTurn(dueMs: number, nowMs: number, intervalMs: number): NextDue {
  const earlyMs = earlyShare * intervalMs;
  const overdueMs = Math.min(dueMs + earlyMs, nowMs) + intervalMs;
  return { nextDueMs: Math.max(nowMs, overdueMs - earlyMs), overdueMs, skipped: 0 };
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/**
 * Monotonic time at which the values become too old to be held any longer: polls have failed for
 * `stale_after`, or the poll that is due has not ended `stale_after` after its deadline.
 */
export function staleAtMs(
  { failingSinceMs, reading, selected, nextDueMs }: AppState,
  deadlineMs: number,
): number | undefined {
  if (reading === undefined) return undefined;
  const notRenewedSinceMs = Math.min(failingSinceMs ?? Infinity, nextDueMs + deadlineMs);
  return notRenewedSinceMs + selected.entry.poll.staleAfterMs;
}

/** Drops values that were not renewed in time. */
export function whenStale(state: AppState, deadlineMs: number, nowMs: number): AppState {
  const atMs = staleAtMs(state, deadlineMs);
  if (atMs === undefined || nowMs < atMs) return state;
  return { ...state, reading: undefined, pollSucceeded: false, droppedMs: nowMs };
}
