import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextDue } from '../../src/poller/schedule.ts';

const intervalMs = 60_000;

describe('nextDue', () => {
  it.each([
    { what: 'ended in time', dueMs: 0, nowMs: 5000, expected: { nextDueMs: 60_000, skipped: 0 } },
    {
      what: 'took just longer than its interval',
      dueMs: 0,
      nowMs: 61_000,
      expected: { nextDueMs: 61_000, skipped: 0 },
    },
    {
      what: 'took three and a half intervals',
      dueMs: 0,
      nowMs: 210_000,
      expected: { nextDueMs: 210_000, skipped: 2 },
    },
  ])('keeps its place when the poll $what', ({ dueMs, nowMs, expected }) => {
    expect(nextDue(dueMs, intervalMs, nowMs, undefined)).toEqual(expected);
  });

  it('spreads the second polls evenly over one interval, however many there are', () => {
    const due = Array.from(
      { length: 200 },
      (_, order) => nextDue(0, intervalMs, 0, { order }).nextDueMs,
    );

    const perTenth = Array.from(
      { length: 10 },
      (_, tenth) => due.filter((ms) => ms >= tenth * 6000 && ms < (tenth + 1) * 6000).length,
    );
    expect(Math.min(...perTenth)).toBeGreaterThanOrEqual(18);
    expect(Math.max(...perTenth)).toBeLessThanOrEqual(22);
  });

  it('is never in the past, and never later than one interval after the poll was due or ended', () => {
    fc.assert(
      fc.property(
        fc.nat(1e9),
        fc.integer({ min: 1000, max: 1e7 }),
        fc.nat(1e8),
        fc.option(fc.nat(10_000), { nil: undefined }),
        (dueMs, everyMs, tookMs, order) => {
          const nowMs = dueMs + tookMs;

          const next = nextDue(dueMs, everyMs, nowMs, order === undefined ? undefined : { order });

          expect(next.nextDueMs).toBeGreaterThanOrEqual(nowMs);
          expect(next.nextDueMs).toBeLessThanOrEqual(Math.max(dueMs + everyMs, nowMs));
          expect(next.skipped).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
