import { describe, expect, it } from 'vitest';
import { SlidingWindowLog } from '../../src/rate-limit/sliding-window-log.ts';

/** A log whose calls ended at these times. */
function endedAt(...timesMs: readonly number[]): SlidingWindowLog {
  const log = new SlidingWindowLog();
  for (const atMs of timesMs) {
    log.acquire();
    log.release(atMs);
  }
  return log;
}

describe('SlidingWindowLog', () => {
  it('cannot tell when a call in flight will end', () => {
    const log = endedAt(0);
    log.acquire();

    const whileInFlight = log.waitMs(1000, 1);
    log.release(1000);

    expect(whileInFlight).toBe(Number.POSITIVE_INFINITY);
    expect(log.waitMs(1000, 1)).toBe(60_001);
  });

  it('keeps the order of any number of calls, however often old ones are forgotten', () => {
    const log = new SlidingWindowLog();
    const wrong: number[] = [];
    const times: number[] = [];

    // One call a second, then ten a second: at most 601 count at a time.
    for (let call = 0; call < 2000; call += 1) {
      const atMs = call < 100 ? call * 1000 : 100_000 + (call - 100) * 100;
      log.acquire();
      log.release(atMs);
      times.push(atMs);
      const used = log.used(atMs);
      const oldestMs = atMs + log.waitMs(atMs, used) - 60_001;
      const youngestMs = atMs + log.waitMs(atMs, 1) - 60_001;
      const expected = times.filter((timeMs) => timeMs >= atMs - 60_000);
      if (used !== expected.length || oldestMs !== expected[0]) wrong.push(call);
      if (youngestMs !== atMs || oldestMs < atMs - 60_000) wrong.push(call);
    }

    expect(wrong).toEqual([]);
    expect(log.used(100_000 + 1899 * 100)).toBe(601);
  });
});
