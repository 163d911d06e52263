import { readFileSync } from 'node:fs';
import type { Clock } from '../src/model/clock.ts';
import { createPriorityQueue } from '../src/model/priority-queue.ts';

/** CPU time of the main thread so far: other work on the machine does not count. */
export function cpuMs(): number {
  const [onCpu = '0'] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(onCpu) / 1e6;
}

/** Watches how long the event loop is kept from its next turn. */
export interface Turns {
  /** Ends this turn. */
  tick(): Promise<void>;
  /** The longest turn since it was last asked, in CPU time. */
  longestMs(): number;
  /** Runs without a look at the clock after each turn, which costs more than a short turn. */
  unwatched(run: () => Promise<void>): Promise<void>;
}

export function createTurns(): Turns {
  let longest = 0;
  let last = cpuMs();
  let isWatched = true;
  return {
    tick: async () => {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      if (!isWatched) return;
      const now = cpuMs();
      longest = Math.max(longest, now - last);
      last = now;
    },
    longestMs: () => {
      const found = longest;
      longest = 0;
      return found;
    },
    unwatched: async (run) => {
      isWatched = false;
      await run();
      isWatched = true;
      last = cpuMs();
    },
  };
}

/** Simulated time in which every timer has a turn of the event loop to itself, as on a real clock. */
export interface TurnClock extends Clock {
  advance(ms: number): Promise<void>;
}

export function createTurnClock({ tick }: Pick<Turns, 'tick'>): TurnClock {
  let nowMs = 0;
  const timers = createPriorityQueue<() => void>();
  return {
    monotonicMs: () => nowMs,
    wallMs: () => 1_790_000_000_000 + nowMs,
    after: (delayMs, run) => {
      const timer = (): void => run();
      timers.set(timer, nowMs + Math.max(0, delayMs));
      return () => {
        timers.delete(timer);
      };
    },
    advance: async (ms) => {
      const untilMs = nowMs + ms;
      await tick();
      for (let timer = timers.first(); timer !== undefined; timer = timers.first()) {
        const dueMs = timers.firstPriority();
        if (dueMs > untilMs) break;
        timers.delete(timer);
        nowMs = Math.max(nowMs, dueMs);
        timer();
        await tick();
      }
      nowMs = Math.max(nowMs, untilMs);
    },
  };
}
