import type { ApiError } from '../model/api-error.ts';
import type { Now } from '../model/clock.ts';
import type { Failure } from '../model/status.ts';
import { dueAt, type PollTurn } from './schedule.ts';

/** What the polls of one application or query have shown so far: replaced, never changed. */
export interface SubjectState {
  /** What is published; `undefined` if nothing is. */
  readonly reading: object | undefined;
  /** Whether the last poll got everything that it asked for; `undefined` before the first one has ended. */
  readonly pollSucceeded: boolean | undefined;
  /** Wall time of the last poll that got everything. */
  readonly lastSuccessMs: number | undefined;
  /**
   * Why it did not arrive, and since when, on the wall clock; also if the vendor answered 404. `undefined`
   * when all arrived.
   */
  readonly failure: Failure | undefined;
  /**
   * Since when a poll has been late that has not ended, in monotonic time; `undefined` if none is. And why,
   * as far as one can tell: New Relic asked for a pause, or the poll takes too long.
   */
  readonly late: { readonly sinceMs: number; readonly reason: 'throttled' | 'timeout' } | undefined;
  /** Monotonic time at which the last values were dropped, because polls had failed for too long. */
  readonly droppedMs: number | undefined;
  /** The vendor answered 404 although its list has the application. */
  readonly gone: boolean;
  /** Its number in the order in which it became known, from 0. Decides its phase. */
  readonly phaseIndex: number;
  readonly turn: PollTurn;
  readonly pollsEnded: number;
  readonly lastPoll: EndedPoll | undefined;
}

export interface EndedPoll {
  /** Wall time at which it ended. */
  readonly endedMs: number;
  readonly durationMs: number;
}

/** The state of what has not been polled yet, and is due now. */
export function unpolled(phaseIndex: number, nowMs: number): Omit<SubjectState, 'reading'> {
  return {
    pollSucceeded: undefined,
    lastSuccessMs: undefined,
    failure: undefined,
    late: undefined,
    droppedMs: undefined,
    gone: false,
    phaseIndex,
    turn: dueAt(nowMs),
    pollsEnded: 0,
    lastPoll: undefined,
  };
}

export type Why = Omit<Failure, 'sinceMs'>;

/**
 * What any poll changes when it ends. Failures in a row have begun with the first of them, whatever their
 * reasons.
 *
 * @param why it did not get everything; `undefined` if it did
 * @param startMs when the poll began, on the monotonic clock
 */
export function afterPollOf(
  state: SubjectState,
  why: Why | undefined,
  startMs: number,
  { wallMs, monotonicMs }: Now,
): Pick<SubjectState, 'failure' | 'late' | 'pollsEnded' | 'lastPoll'> {
  const startWallMs = Math.round(wallMs - (monotonicMs - startMs));
  return {
    failure: why && { ...why, sinceMs: state.failure?.sinceMs ?? startWallMs },
    late: undefined,
    pollsEnded: state.pollsEnded + 1,
    lastPoll: { endedMs: wallMs, durationMs: monotonicMs - startMs },
  };
}

export function whyOfError({ reason, message }: ApiError, unauthorized: boolean): Why {
  return { reason: unauthorized ? 'auth' : reason, message };
}

/** Monotonic time since when polls have failed or been late, of which `sinceMs` is known. */
export function failingFrom({ late }: Pick<SubjectState, 'late'>, sinceMs: number): number {
  return Math.min(sinceMs, late?.sinceMs ?? Number.POSITIVE_INFINITY);
}
