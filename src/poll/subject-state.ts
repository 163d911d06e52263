import type { ApiError } from '../model/api-error.ts';
import type { Now } from '../model/clock.ts';
import type { Failure } from '../model/status.ts';

/** The time between the ends of two polls of a subject, where the second one was late. */
export interface Gap {
  readonly lengthMs: number;
  /** Monotonic time of its end. */
  readonly endedMs: number;
}

/** What the polls of one application or query have shown so far: replaced, never changed. */
export interface SubjectState {
  /** What is published; `undefined` if nothing is. */
  readonly reading: object | undefined;
  /**
   * Monotonic time since when the oldest of the values in it have failed that are held; `undefined` if the
   * last poll brought all of them.
   */
  readonly heldSinceMs: number | undefined;
  /** Whether the last poll got everything that it asked for; `undefined` before the first one has ended. */
  readonly pollSucceeded: boolean | undefined;
  /** Wall time of the last poll that got everything. */
  readonly lastSuccessMs: number | undefined;
  /**
   * Why it did not arrive, or has not yet, and since when; also if the vendor answered 404. `undefined` when
   * all arrived.
   */
  readonly failure: Failure | undefined;
  /** Monotonic time since when a poll has been late that has not ended; `undefined` if none is. */
  readonly lateSinceMs: number | undefined;
  /** Monotonic time at which the last values were dropped, because polls had failed for too long. */
  readonly droppedMs: number | undefined;
  /** The vendor answered 404 although its list has the application. */
  readonly gone: boolean;
  /** When in each interval it is polled if there is room, as a share of the interval. */
  readonly phase: number;
  /** Monotonic time at which the next poll is due, as the plan is now. */
  readonly dueMs: number;
  readonly pollsEnded: number;
  /** Monotonic time at which the last poll ended; before the first one has, of the beginning. */
  readonly endedMs: number;
  /** Those of the last ten minutes, the longest and oldest first. */
  readonly gaps: readonly Gap[];
  /** When the last poll ended, on the wall clock, and how long it took. */
  readonly lastPoll: { readonly endedMs: number; readonly durationMs: number } | undefined;
}

/** The state of what has not been polled yet, and is due now. */
export function unpolled(phase: number, nowMs: number): Omit<SubjectState, 'reading'> {
  return {
    heldSinceMs: undefined,
    pollSucceeded: undefined,
    lastSuccessMs: undefined,
    failure: undefined,
    lateSinceMs: undefined,
    droppedMs: undefined,
    gone: false,
    phase,
    dueMs: nowMs,
    pollsEnded: 0,
    endedMs: nowMs,
    gaps: [],
    lastPoll: undefined,
  };
}

/** What is late waits, of lists and polls alike: that is no failure of New Relic's. */
export const whatCallsWaitFor =
  'its calls wait for the key (its turn, a pause after a 429, or the budget), or for slow answers. If this lasts, see who else uses the key, or poll less often.';

export type Why = Omit<Failure, 'sinceMs'>;

/**
 * What any poll changes when it ends. Failures in a row have begun with the first of them, whatever their
 * reasons.
 *
 * @param state with what is shown after the poll
 * @param why it did not get everything; `undefined` if it did
 * @param startMs when the poll began, on the monotonic clock
 */
export function afterPollOf(
  state: SubjectState,
  why: Why | undefined,
  startMs: number,
  { wallMs, monotonicMs }: Now,
): Omit<SubjectState, 'reading' | 'heldSinceMs' | 'gone' | 'phase' | 'dueMs' | 'endedMs' | 'gaps'> {
  const isWhole = why === undefined;
  const durationMs = monotonicMs - startMs;
  const sinceMs = state.failure?.sinceMs ?? Math.round(wallMs - durationMs);
  return {
    pollSucceeded: isWhole,
    lastSuccessMs: isWhole ? wallMs : state.lastSuccessMs,
    failure: why && { ...why, sinceMs },
    lateSinceMs: undefined,
    droppedMs: isWhole || state.reading !== undefined ? undefined : state.droppedMs,
    pollsEnded: state.pollsEnded + 1,
    lastPoll: { endedMs: wallMs, durationMs },
  };
}

export function whyOfError({ reason, message }: ApiError, unauthorized: boolean): Why {
  return { reason: unauthorized ? 'auth' : reason, message };
}

/** Monotonic time since when polls have failed or been late, if they have failed since `sinceMs`. */
export function failingFrom({ lateSinceMs }: SubjectState, sinceMs: number | undefined): number {
  return Math.min(sinceMs ?? Infinity, lateSinceMs ?? Infinity);
}
