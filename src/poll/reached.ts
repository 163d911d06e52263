import { minuteMs } from '../model/time.ts';
import type { SubjectState } from './subject-state.ts';

/** So far back late polls count. */
const rememberedMs = 10 * minuteMs;
/** The share of its interval by which a poll may be late: plans promise a fifth, and their paces have gaps. */
const tolerance = 0.25;

/** The time between the ends of two polls of a subject, of which the second one was late. */
export interface LateGap {
  /** In configured intervals. */
  readonly stretch: number;
  /** Monotonic time of its end. */
  readonly endedMs: number;
}

/** A subject with the interval that is configured for it. */
export type Paced = readonly [Pick<SubjectState, 'dueMs' | 'endedMs' | 'late' | 'pollsEnded'>, number];

/** The gap of a poll that ends now; 0 if it is as long as the plan says. */
function lateGapOf([subject, intervalMs]: Paced, planned: number, nowMs: number): number {
  const { dueMs, endedMs, pollsEnded } = subject;
  const plannedMs = planned * intervalMs;
  // First polls go out together; the second one may take up to an interval, at the even pace.
  const toleratedMs = (pollsEnded === 1 ? 1 + tolerance : tolerance) * plannedMs;
  // A plan that has changed meanwhile has moved what is due: a long gap need not be late.
  const lateMs = Math.min(nowMs - dueMs, nowMs - endedMs - plannedMs);
  return lateMs > toleratedMs ? (nowMs - endedMs) / intervalMs : 0;
}

/** The late gaps of a subject whose poll ends now. Of those that are over, only longer ones than later ones count. */
export function lateAfterPoll(paced: Paced, planned: number, nowMs: number): readonly LateGap[] {
  const stretch = lateGapOf(paced, planned, nowMs);
  const before = paced[0].late.filter(
    (gap) => gap.stretch > stretch && nowMs - gap.endedMs < rememberedMs,
  );
  return stretch === 0 ? before : [...before, { stretch, endedMs: nowMs }];
}

/**
 * The stretch that the last ten minutes reached: that of the plan, or what half of the subjects had to wait
 * for longer than planned, with what they wait for now. The median, because what holds up a key (a pause,
 * another user, a process that stands still) holds up nearly all of its subjects alike, since they take turns,
 * and what fails or hangs on its own is told there. A mean would tell of one that hangs as of a slow account.
 *
 * @param subjects those that are asked for
 */
export function reachedStretch(subjects: readonly Paced[], planned: number, nowMs: number): number {
  const gaps = subjects.map((paced) => {
    const remembered = paced[0].late.find(({ endedMs }) => nowMs - endedMs < rememberedMs);
    return Math.max(remembered?.stretch ?? 0, lateGapOf(paced, planned, nowMs));
  });
  // Of two, the one that waits less.
  const median = gaps.toSorted((left, right) => left - right)[Math.ceil(gaps.length / 2) - 1];
  return Math.max(planned, median ?? 0);
}
