import { createTokenBucket } from '../model/token-bucket.ts';
import { createBudget } from './budget.ts';
import type { Refusal } from './pacer.ts';
import { createQuotaEstimate } from './quota-estimate.ts';

/** The budget, and what the vendor's 429s add to it; the caller says what time it is. */
export interface Gate {
  /** 0 when a call may go now, else how long to wait; `Infinity` until a call in flight ends. */
  blockedForMs(nowMs: number): number;
  /** Takes the place that `blockedForMs` said is free; the function gives it back. */
  take(nowMs: number): (endMs: number) => void;
  refused(refusal: Refusal): void;
  resize(requestsPerMinute: number, nowMs: number): void;
  pausedUntilMs(nowMs: number): number | undefined;
  /** Calls a minute that may be sent, when the pause is over if there is one. */
  allowedPerMinute(nowMs: number): number;
}

const minuteMs = 60_000;

/**
 * What a pause has held up goes out evenly in the minute after it: the vendor has just told us that
 * it has enough. From then on less is sent, until it turns out that the others have gone.
 */
export function createGate(requestsPerMinute: number, startMs: number): Gate {
  const budget = createBudget();
  const estimate = createQuotaEstimate(requestsPerMinute);
  let evenly = createTokenBucket(requestsPerMinute, startMs);
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let trialsUnderWay = 0;

  const isTrial = (nowMs: number): boolean => estimate.allowance(nowMs).trialsAtOnce !== undefined;

  const placeInMs = (nowMs: number): number => {
    const { perMinute, trialsAtOnce } = estimate.allowance(nowMs);
    if (trialsAtOnce !== undefined && trialsUnderWay >= trialsAtOnce) {
      return Number.POSITIVE_INFINITY;
    }
    return budget.freeInMs(nowMs, perMinute);
  };

  const restartEvenly = (atMs: number): void => {
    evenly = createTokenBucket(estimate.allowance(atMs).perMinute, atMs);
    evenly.restart(atMs);
  };

  return {
    blockedForMs: (nowMs) => {
      if (nowMs < pausedUntil) return pausedUntil - nowMs;
      const waitMs = placeInMs(nowMs);
      const isRecovering = nowMs < pausedUntil + minuteMs;
      return waitMs === 0 && isRecovering ? evenly.waitMs(nowMs) : waitMs;
    },
    take: (nowMs) => {
      const trial = isTrial(nowMs);
      if (trial) trialsUnderWay += 1;
      estimate.sent(nowMs);
      budget.take();
      evenly.take();
      return (endMs) => {
        if (trial) trialsUnderWay -= 1;
        budget.giveBack(endMs);
      };
    },
    refused: ({ sentMs, untilMs, minuteEndMs, limitPerMinute }) => {
      const minuteStartMs = (minuteEndMs ?? sentMs) - minuteMs;
      const elapsedMs = minuteEndMs === undefined ? minuteMs : sentMs - minuteStartMs;
      const answered = budget.endedSince(minuteStartMs);
      estimate.refused({ sentMs, untilMs, answered, elapsedMs, limitPerMinute });
      if (untilMs <= pausedUntil) return;
      pausedUntil = untilMs;
      restartEvenly(untilMs);
    },
    resize: (next, nowMs) => {
      estimate.resize(next);
      restartEvenly(Math.max(pausedUntil, nowMs));
    },
    pausedUntilMs: (nowMs) => (pausedUntil > nowMs ? pausedUntil : undefined),
    allowedPerMinute: (nowMs) => estimate.allowance(Math.max(nowMs, pausedUntil)).perMinute,
  };
}
