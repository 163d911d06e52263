/** Knows how long calls usually take, and so which of them take unusually long. */
export interface CallTimes {
  /** A call that has been under way for longer is slow. */
  slowAfterMs(): number;
  ended(durationMs: number): void;
}

const firstGuessMs = 250;
/** Slow is what takes so many times as long as usual, */
const slowFactor = 4;
/** but nothing that takes less than this. */
const leastSlowMs = 1000;
/** How far one call moves what is usual. */
const step = 1.2;
const bounds = { leastMs: 1, mostMs: 60_000 };

/**
 * What is usual is a running median: one step up for each call that took longer, one down for each
 * that took less. A few calls that hang do not move it; a vendor that is slow for everybody does.
 */
export function createCallTimes(): CallTimes {
  let usualMs = firstGuessMs;
  return {
    slowAfterMs: () => Math.max(leastSlowMs, slowFactor * usualMs),
    ended: (durationMs) => {
      const next = durationMs > usualMs ? usualMs * step : usualMs / step;
      usualMs = Math.min(bounds.mostMs, Math.max(bounds.leastMs, next));
    },
  };
}
