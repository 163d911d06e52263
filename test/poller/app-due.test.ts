import { describe, expect, it } from 'vitest';
import { stretched } from '../../src/poller/app-due.ts';
import { handOverWithinMs, newAppState } from '../../src/poller/app-state.ts';
import { aSelected } from '../support/builders.ts';

describe('stretched', () => {
  it('moves what is still to come, keeps its order, and leaves what is due alone', () => {
    const states = new Map(
      [500, 1000, 1100, 1400].map((nextDueMs, index) => [
        String(index),
        { ...newAppState(aSelected(), index, 0), nextDueMs, overdueMs: nextDueMs + 1000 },
      ]),
    );

    const moved = [...stretched(states, 1000, 2).values()];

    expect(moved.map(({ nextDueMs }) => nextDueMs)).toEqual([500, 1000, 1200, 1800]);
    expect(moved.map(({ overdueMs }) => overdueMs)).toEqual([2000, 3000, 3200, 3800]);
  });
});

describe('handOverWithinMs', () => {
  it.each([
    { intervalMs: 60_000, staleAfterMs: 900_000, withinMs: 195_000 },
    { intervalMs: 600_000, staleAfterMs: 700_000, withinMs: 700_000 },
  ])(
    'gives the next owner an interval and its admission, $withinMs ms, but nothing becomes stale',
    ({ intervalMs, staleAfterMs, withinMs }) => {
      const state = newAppState(aSelected({}, { poll: { staleAfterMs } }), 0, 0);

      expect(handOverWithinMs(state, intervalMs)).toBe(withinMs);
    },
  );
});
