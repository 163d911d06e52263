import type { Clock } from '../model/clock.ts';

/** The machine's clocks. The only place, with `main.ts`, that touches global time. */
export function createSystemClock(): Clock {
  return {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    after: (delayMs, run) => {
      const timer = setTimeout(run, delayMs);
      return () => {
        clearTimeout(timer);
      };
    },
  };
}
