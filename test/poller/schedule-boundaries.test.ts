import { describe, expect, it } from 'vitest';
import { nextDue, phaseMs } from '../../src/poller/schedule.ts';

const intervalMs = 60_000;
/** As good as none, but the budget suffices. */
const hardlyHeadroom = { intervalMs, headroom: 1e-9, phaseIndex: 0 };

describe('nextDue, at its edges', () => {
  it.each([
    { what: 'in time', dueMs: 600_000, startMs: 600_500, overdueMs: 660_000 },
    { what: 'just not an interval late', dueMs: 600_000, startMs: 659_999, overdueMs: 660_000 },
    { what: 'an interval late', dueMs: 600_000, startMs: 660_000, overdueMs: 720_000 },
  ])('counts from the turn of a poll that began $what', ({ dueMs, startMs, overdueMs }) => {
    const next = nextDue({ dueMs, startMs, nowMs: startMs }, hardlyHeadroom);

    expect(next.overdueMs).toBe(overdueMs);
    expect(next.nextDueMs).toBeCloseTo(overdueMs, 3);
    expect(next.skipped).toBe(0);
  });

  it.each([
    { what: 'is at its place but for rounding', beforePlaceMs: 1e-7, earlyMs: 0 },
    { what: 'is after its place', beforePlaceMs: -1000, earlyMs: 1000 },
    { what: 'is far after its place', beforePlaceMs: -30_000, earlyMs: 6000 },
    { what: 'is before its place', beforePlaceMs: 2, earlyMs: 6000 },
  ])('polls an application that $what $earlyMs ms early', ({ beforePlaceMs, earlyMs }) => {
    const timing = { intervalMs, headroom: 0.1, phaseIndex: 0 };
    const dueMs = phaseMs(timing.intervalMs, timing.phaseIndex) - beforePlaceMs;

    const next = nextDue({ dueMs, startMs: dueMs, nowMs: dueMs }, timing);

    expect(next.nextDueMs).toBeCloseTo(dueMs + intervalMs - earlyMs, 3);
  });

  it.each([
    { what: 'ended at once', nowMs: 0, nextDueMs: 54_000, overdueMs: 60_000 },
    { what: 'ended within a tenth', nowMs: 6000, nextDueMs: 60_000, overdueMs: 66_000 },
    { what: 'took longer than that', nowMs: 30_000, nextDueMs: 60_000, overdueMs: 66_000 },
  ])('lets an application without headroom wait for its turn when a poll $what', (row) => {
    const next = nextDue(
      { dueMs: 0, startMs: 0, nowMs: row.nowMs },
      { intervalMs, headroom: 0, phaseIndex: 0 },
    );

    expect(next).toEqual({ nextDueMs: row.nextDueMs, overdueMs: row.overdueMs, skipped: 0 });
  });
});
