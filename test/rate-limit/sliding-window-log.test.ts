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
  it.each([
    { nowMs: 60_000, waitMs: 1, used: 1 },
    { nowMs: 60_001, waitMs: 0, used: 0 },
  ])('makes a call wait $waitMs ms at $nowMs ms after one that ended at 0 ms', (row) => {
    const log = endedAt(0);

    expect(log.waitMs(row.nowMs, 1)).toBe(row.waitMs);
    expect(log.used(row.nowMs)).toBe(row.used);
  });

  it.each([
    { limit: 4, waitMs: 0 },
    { limit: 3, waitMs: 55_001 },
    { limit: 2, waitMs: 56_001 },
    { limit: 1, waitMs: 57_001 },
  ])('makes a call wait $waitMs ms at a limit of $limit', ({ limit, waitMs }) => {
    const log = endedAt(0, 1000, 2000);

    expect(log.waitMs(5000, limit)).toBe(waitMs);
  });

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
