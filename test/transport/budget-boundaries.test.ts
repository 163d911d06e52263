import { describe, expect, it } from 'vitest';
import { createBudget } from '../../src/transport/budget.ts';

/** A budget of which calls ended at these times. */
function endedAt(...timesMs: readonly number[]): ReturnType<typeof createBudget> {
  const budget = createBudget();
  for (const atMs of timesMs) {
    budget.take();
    budget.giveBack(atMs);
  }
  return budget;
}

describe('createBudget', () => {
  it.each([
    { nowMs: 60_000, freeInMs: 1, used: 1 },
    { nowMs: 60_001, freeInMs: 0, used: 0 },
  ])('has the place of a call of 0 ms free in $freeInMs ms at $nowMs ms', (row) => {
    const budget = endedAt(0);

    expect(budget.freeInMs(row.nowMs, 1)).toBe(row.freeInMs);
    expect(budget.used(row.nowMs)).toBe(row.used);
  });

  it.each([
    { limit: 4, freeInMs: 0 },
    { limit: 3, freeInMs: 55_001 },
    { limit: 2, freeInMs: 56_001 },
    { limit: 1, freeInMs: 57_001 },
  ])('has a place below the limit $limit in $freeInMs ms', ({ limit, freeInMs }) => {
    const budget = endedAt(0, 1000, 2000);

    expect(budget.freeInMs(5000, limit)).toBe(freeInMs);
  });

  it('cannot tell when a place is free that a call in flight has', () => {
    const budget = endedAt(0);
    budget.take();

    const whileInFlight = budget.freeInMs(1000, 1);
    budget.giveBack(1000);

    expect(whileInFlight).toBe(Number.POSITIVE_INFINITY);
    expect(budget.freeInMs(1000, 1)).toBe(60_001);
  });

  it('counts the calls that ended at a time or later', () => {
    const budget = endedAt(0, 1000, 1000, 2000);

    const counts = [0, 1, 1000, 1001, 2000, 2001].map((sinceMs) => budget.endedSince(sinceMs));

    expect(counts).toEqual([4, 3, 3, 1, 1, 0]);
  });

  it('keeps the order of any number of calls, however often old ones are forgotten', () => {
    const budget = createBudget();
    const wrong: number[] = [];
    const times: number[] = [];

    // One call a second, then ten a second: at most 601 count at a time.
    for (let call = 0; call < 2000; call += 1) {
      const atMs = call < 100 ? call * 1000 : 100_000 + (call - 100) * 100;
      budget.take();
      budget.giveBack(atMs);
      times.push(atMs);
      const used = budget.used(atMs);
      const oldestMs = atMs + budget.freeInMs(atMs, used) - 60_001;
      const youngestMs = atMs + budget.freeInMs(atMs, 1) - 60_001;
      const expected = times.filter((timeMs) => timeMs >= atMs - 60_000);
      if (used !== expected.length || oldestMs !== expected[0]) wrong.push(call);
      if (youngestMs !== atMs || oldestMs < atMs - 60_000) wrong.push(call);
      if (budget.endedSince(oldestMs) !== used || budget.endedSince(atMs) !== 1) wrong.push(call);
    }

    expect(wrong).toEqual([]);
    expect(budget.used(100_000 + 1899 * 100)).toBe(601);
  });
});
