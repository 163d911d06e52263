import type { Clock } from '../model/clock.ts';

/** Beyond this a timer of Node fires at once. Whoever waits for longer looks at the clock again. */
const longestTimerMs = 2 ** 31 - 1;

/** What a timer can be set to. */
export function timerDelayMs(delayMs: number): number {
  return Math.min(Math.max(0, delayMs), longestTimerMs);
}

/** The machine's clocks. The only place, with `main.ts`, that touches global time. */
export function createSystemClock(): Clock {
  return {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    after: (delayMs, run) => {
      const timer = setTimeout(run, timerDelayMs(delayMs));
      return () => {
        clearTimeout(timer);
      };
    },
  };
}
