import type { Clock } from '../../src/model/clock.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** A clock that stands still until a test moves it. Monotonic and wall time can be moved apart. */
export interface FakeClock extends Clock {
  /** Runs every timer that falls due on the way, in order, letting promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock alone, as an NTP step does. */
  jumpWall(ms: number): void;
  /** The process stands still: all that falls due meanwhile runs late, and before anything that has arrived is read. */
  standStill(ms: number): void;
  /** The machine sleeps, and its monotonic clock stands still meanwhile, as on Linux. */
  sleep(ms: number): void;
  /** Timers that are set: a test that ends with some has leaked them. */
  pendingTimers(): number;
}

/** Lets every promise that can settle without a timer or I/O settle. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

export function createFakeClock(wallStartMs: number = Date.UTC(2026, 8, 1, 10, 0, 30)): FakeClock {
  let nowMs = 0;
  let wallOffsetMs = wallStartMs;
  let sleptMs = 0;
  const timers = new Set<Timer>();

  const nextDue = (untilMs: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueMs <= untilMs && (first === undefined || timer.dueMs < first.dueMs)) {
        first = timer;
      }
    }
    return first;
  };

  return {
    monotonicMs: () => nowMs,
    wallMs: () => wallOffsetMs + sleptMs + nowMs,
    uptimeMs: () => sleptMs + nowMs,
    after: (delayMs, run) => {
      const timer: Timer = { dueMs: nowMs + Math.max(0, delayMs), run };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance: async (ms) => {
      const untilMs = nowMs + ms;
      await settle();
      for (let timer = nextDue(untilMs); timer !== undefined; timer = nextDue(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.dueMs);
        timer.run();
        await settle();
      }
      nowMs = untilMs;
    },
    jumpWall: (ms) => {
      wallOffsetMs += ms;
    },
    standStill: (ms) => {
      nowMs += ms;
      for (const timer of [...timers].filter(({ dueMs }) => dueMs <= nowMs)) {
        timers.delete(timer);
        timer.run();
      }
    },
    sleep: (ms) => {
      sleptMs += ms;
    },
    pendingTimers: () => timers.size,
  };
}
