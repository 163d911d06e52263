import { describe, expect, it } from 'vitest';
import { createDoubts } from '../../src/poller/doubts.ts';

describe('createDoubts', () => {
  it('knows who is in doubt, and since when', () => {
    const doubts = createDoubts();

    doubts.add('a', 5);
    doubts.add('a', 7);

    expect([doubts.has('a'), doubts.sinceMs('a')]).toEqual([true, 7]);
    expect([doubts.has('b'), doubts.sinceMs('b')]).toEqual([false, Number.NEGATIVE_INFINITY]);
  });

  it('forgets who is cleared', () => {
    const doubts = createDoubts();
    doubts.add('a', 5);

    doubts.clear('a');

    expect(doubts.has('a')).toBe(false);
  });

  it('forgets the oldest rather than growing without end', () => {
    const doubts = createDoubts();
    for (let key = 0; key < 10_000; key += 1) doubts.add(`${key}`, key);

    doubts.add('0', 10_000);
    doubts.add('one more', 10_001);

    expect(['0', '1', '2', 'one more'].map((key) => doubts.has(key))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});
