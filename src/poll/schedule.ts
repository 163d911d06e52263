import { minuteMs } from '../model/time.ts';
import { earlyShare } from '../newrelic/calls/account-calls.ts';
import type { Gap, SubjectState } from './subject-state.ts';

/** When a poll is due; monotonic. */
export interface PollTimes {
  readonly dueMs: number;
  /** The effective interval. */
  readonly periodMs: number;
  readonly hasFailed: boolean;
}

/** The fractional parts of its multiples are spread evenly, however many there are. */
const goldenRatio = 0.618_033_988_749_895;

/** When in each interval the subject with this number is polled: all are spread evenly. */
export function phaseOf(index: number): number {
  return (index * goldenRatio) % 1;
}

/**
 * When the next poll is due after one that was due at `dueMs`, and how many polls were skipped because it took too long.
 * First polls go out together where the budget allows it. From then on each subject moves towards its phase:
 * it is polled a little early, as far as the headroom allows, and never made to wait. Applications that share
 * a group stay together: each is due an interval after the group began, even if it was not due itself then.
 * Without headroom the next turn is one interval after this one, or after its end if that came earlier. Polls
 * missed while the machine slept are not made up for.
 *
 * @param startMs when the poll was queued
 * @param intervalMs the effective interval; `headroom`: the share of the budget that the demand leaves free;
 * `phase`: `undefined` if the subject keeps that of its group
 */
export function dueAfter(
  dueMs: number,
  { startMs, nowMs }: { readonly startMs: number; readonly nowMs: number },
  {
    intervalMs,
    headroom,
    phase,
  }: Readonly<{ intervalMs: number; headroom: number; phase: number | undefined }>,
): { readonly dueMs: number; readonly skipped: number } {
  const turnMs = startMs - dueMs >= intervalMs ? startMs : dueMs;
  const missed = Math.floor((nowMs - turnMs) / intervalMs);
  if (missed >= 1) return { dueMs: nowMs, skipped: missed - 1 };
  const isFull = headroom === 0;
  const fromMs = isFull
    ? Math.min(turnMs + earlyShare * intervalMs, nowMs)
    : Math.min(turnMs, startMs);
  const early = isFull ? earlyShare : Math.min(headroom, pastPhase(fromMs / intervalMs, phase));
  return { dueMs: Math.max(fromMs + (1 - early) * intervalMs, nowMs), skipped: 0 };
}

/** Rounding may put a poll that is in phase slightly before its phase: that is not far past it. */
const rounding = 1e-5;

/** By how much a time, in intervals, is past the phase. */
function pastPhase(time: number, phase: number | undefined): number {
  if (phase === undefined) return 0;
  const past = (((time - phase) % 1) + 1) % 1;
  return 1 - past < rounding ? 0 : past;
}

/** So far back late polls count. */
const rememberedMs = 10 * minuteMs;
/** The share of its interval by which a poll may be late: plans promise a fifth, and their paces have gaps. */
const phaseTolerance = 0.25;

/** How long ago the poll before ended, if one that ends now is late; else 0. */
function lateGapMs(state: SubjectState, plannedMs: number, nowMs: number): number {
  const { dueMs, endedMs, pollsEnded } = state;
  // First polls go out together; the second one may take up to an interval, at the even pace.
  const toleratedMs = (pollsEnded === 1 ? 1 + phaseTolerance : phaseTolerance) * plannedMs;
  // A plan that has changed meanwhile has moved what is due: a long gap need not be late.
  const lateMs = Math.min(nowMs - dueMs, nowMs - endedMs - plannedMs);
  return lateMs > toleratedMs ? nowMs - endedMs : 0;
}

/** The gaps of a subject whose poll ends now. Of earlier ones only those that are longer still count. */
export function gapsAfter(before: SubjectState, plannedMs: number, nowMs: number): readonly Gap[] {
  const lengthMs = lateGapMs(before, plannedMs, nowMs);
  const longer = before.gaps.filter((one) => one.lengthMs > lengthMs && isRecent(one, nowMs));
  return lengthMs === 0 ? longer : [...longer, { lengthMs, endedMs: nowMs }];
}

/** The longest gap of the last ten minutes, also if it has not ended; 0 if no poll was late. */
export function gapMsOf(state: SubjectState, plannedMs: number, nowMs: number): number {
  const { lengthMs = 0 } = state.gaps.find((one) => isRecent(one, nowMs)) ?? {};
  return Math.max(lengthMs, lateGapMs(state, plannedMs, nowMs));
}

function isRecent({ endedMs }: Gap, nowMs: number): boolean {
  return nowMs - endedMs < rememberedMs;
}
