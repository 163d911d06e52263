import type { Clock } from '../model/clock.ts';

/**
 * The time of an account in which its intervals are never stretched: it runs the more slowly, the
 * more they are. So due times stay as they are, whatever happens to the budget.
 */
export interface VirtualClock {
  nowMs(): number;
  /** The virtual time of a monotonic time in the past, as if the rate had been that of now. */
  at(monotonicMs: number): number;
  /**
   * The monotonic time at which it is that late, at the rate of now; of a time before the last change of
   * the rate, the latest that it can have been.
   */
  monotonicMsOf(virtualMs: number): number;
  /** Runs at 1/stretch of monotonic time from now on. */
  setStretch(stretch: number): void;
}

export function createVirtualClock(clock: Pick<Clock, 'monotonicMs'>): VirtualClock {
  let rate = { stretch: 1, fromMs: 0, virtualMs: 0 };
  const at = (monotonicMs: number): number =>
    rate.virtualMs + (monotonicMs - rate.fromMs) / rate.stretch;

  return {
    nowMs: () => at(clock.monotonicMs()),
    at,
    monotonicMsOf: (virtualMs) => {
      const sinceMs = virtualMs - rate.virtualMs;
      return rate.fromMs + (sinceMs < 0 ? sinceMs : sinceMs * rate.stretch);
    },
    setStretch: (stretch) => {
      const fromMs = clock.monotonicMs();
      if (stretch !== rate.stretch) rate = { stretch, fromMs, virtualMs: at(fromMs) };
    },
  };
}
