import type { Clock } from '../model/clock.ts';

/** Counts names in windows of one minute, and forgets every window when the next begins. */
export interface MinuteCounter {
  /** Counts the name once more, and says how often it came in this minute. */
  add(name: string): number;
}

const windowMs = 60_000;

export function createMinuteCounter(dependencies: { readonly clock: Clock }): MinuteCounter {
  const { clock } = dependencies;
  // Monotonic: a step of the wall clock must not open a new window.
  const originMs = clock.monotonicMs();
  const counts = new Map<string, number>();
  let current = 0;

  return {
    add: (name) => {
      const window = Math.floor((clock.monotonicMs() - originMs) / windowMs);
      if (window !== current) counts.clear();
      current = window;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return count;
    },
  };
}
