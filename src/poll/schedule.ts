import type { PollTiming } from '../model/config.ts';
import { earlyShare } from '../newrelic/calls/account-calls.ts';

/** When a poll is due, and until when; monotonic. */
export interface PollTimes {
  readonly dueMs: number;
  /** The effective interval. */
  readonly periodMs: number;
  /** How long it may take, from its first call on. What has not arrived by then has failed. */
  readonly deadlineMs: number;
  /** Whether the poll before failed: then this one is its retry, and its own calls need none. */
  readonly hasFailed: boolean;
}

/** When the next poll of an application is due; monotonic. */
export interface PollTurn {
  /** When it was the turn of the last poll. */
  readonly fromMs: number;
  /** How long after that the next one is due, in effective intervals; 0 if no poll counts. */
  readonly intervals: number;
}

/** What decides when an application is polled. */
export interface Timing {
  /** The effective interval. */
  readonly intervalMs: number;
  /** The share of the budget that the demand leaves free; 0 when there is too little. */
  readonly headroom: number;
  /** See `phaseOf`; `undefined` if the application keeps the phase of its batch. */
  readonly phase: number | undefined;
}

/** The times of a poll that has just ended. */
export interface EndedTimes {
  /** When it was queued. */
  readonly startMs: number;
  readonly nowMs: number;
}

/** A poll may take as long as its interval, or as this if that is longer. */
const longestShortPollMs = 120_000;

/**
 * How long after its start a poll that has not ended has failed. Where intervals are stretched, a
 * poll queues for most of its interval, so it may take twice that.
 */
export function pollDeadlineMs(
  { intervalMs, staleAfterMs }: Pick<PollTiming, 'intervalMs' | 'staleAfterMs'>,
  stretch: number,
): number {
  const deadlineFactor = stretch > 1 ? 2 : 1;
  return Math.max(
    deadlineFactor * stretch * intervalMs,
    Math.min(longestShortPollMs, staleAfterMs),
  );
}

/**
 * How long a poll may be due without having ended. After that its application
 * counts as failing: values must not grow old in silence while their poll waits.
 */
export function lateAfterMs(
  { intervalMs, staleAfterMs }: Pick<PollTiming, 'intervalMs' | 'staleAfterMs'>,
  stretch: number,
): number {
  return stretch * Math.max(2 * intervalMs, Math.min(longestShortPollMs, staleAfterMs));
}

export function dueMsOf({ fromMs, intervals }: PollTurn, intervalMs: number): number {
  return fromMs + intervals * intervalMs;
}

/** From then on it may be polled with others: nothing is polled more than twice as often as its interval. */
export function earliestMsOf({ fromMs, intervals }: PollTurn, intervalMs: number): number {
  return intervals === 0 ? Number.NEGATIVE_INFINITY : fromMs + intervalMs / 2;
}

/** The fractional parts of its multiples are spread evenly, however many there are. */
const goldenRatio = 0.618_033_988_749_895;

/** When in each interval the application with this number is polled: all are spread evenly. */
export function phaseOf(phaseIndex: number): number {
  return ((phaseIndex + 1) * goldenRatio) % 1;
}

/** A turn that no earlier poll decides. */
export function dueAt(atMs: number): PollTurn {
  return { fromMs: atMs, intervals: 0 };
}

/** All together are spread over one interval, and the very first one is due at once. */
export function spreadTurn(phaseIndex: number, nowMs: number): PollTurn {
  return { fromMs: nowMs, intervals: phaseOf(phaseIndex - 1) };
}

/** The same turn when all intervals are so many times as long: the share of its interval that has passed stays. */
export function stretchedTurn(
  { fromMs, intervals }: PollTurn,
  factor: number,
  nowMs: number,
): PollTurn {
  return { fromMs: nowMs - (nowMs - fromMs) * factor, intervals };
}

/**
 * The turn after a poll, and how many polls were skipped because it took too long. First polls go
 * out together where the budget allows it. From then on each application moves towards its phase: it
 * is polled a little early, as far as the headroom allows, and never made to wait. Applications that
 * share a batch stay together: each is due an interval after the batch began, even if it was not due
 * itself then. Without headroom the next turn is one interval after this one, or after its end if
 * that came earlier. Polls missed while the machine slept are not made up for.
 */
export function turnAfter(
  turn: PollTurn,
  { startMs, nowMs }: EndedTimes,
  { intervalMs, headroom, phase }: Timing,
): { readonly turn: PollTurn; readonly skipped: number } {
  const dueMs = dueMsOf(turn, intervalMs);
  const turnMs = startMs - dueMs >= intervalMs ? startMs : dueMs;
  const missed = Math.floor((nowMs - turnMs) / intervalMs);
  if (missed >= 1) return { turn: dueAt(nowMs), skipped: missed - 1 };
  const isFull = headroom === 0;
  const fromMs = isFull
    ? Math.min(turnMs + earlyShare * intervalMs, nowMs)
    : Math.min(turnMs, startMs);
  const early = isFull ? earlyShare : Math.min(headroom, pastPhase(fromMs / intervalMs, phase));
  const intervals = Math.max(1 - early, (nowMs - fromMs) / intervalMs);
  return { turn: { fromMs, intervals }, skipped: 0 };
}

/** Rounding may put a poll that is in phase slightly before its phase: that is not far past it. */
const rounding = 1e-5;

/** By how much a time, in intervals, is past the phase. */
function pastPhase(time: number, phase: number | undefined): number {
  if (phase === undefined) return 0;
  const past = (((time - phase) % 1) + 1) % 1;
  return 1 - past < rounding ? 0 : past;
}
