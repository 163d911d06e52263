import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextDue, phaseMs, pollDeadlineMs } from '../../src/poller/schedule.ts';

const intervalMs = 60_000;
/** Practically none, but the budget suffices. */
const hardlyHeadroom = { intervalMs, headroom: 1e-9, phaseIndex: 0 };
const noHeadroom = { intervalMs, headroom: 0, phaseIndex: 0 };

describe('nextDue', () => {
  it.each([
    {
      what: 'ended in time',
      nowMs: 5000,
      expected: { nextDueMs: 60_000, overdueMs: 60_000, skipped: 0 },
    },
    {
      what: 'took just longer than its interval',
      nowMs: 61_000,
      expected: { nextDueMs: 61_000, overdueMs: 61_000, skipped: 0 },
    },
    {
      what: 'took three and a half intervals',
      nowMs: 210_000,
      expected: { nextDueMs: 210_000, overdueMs: 210_000, skipped: 2 },
    },
  ])('keeps the interval when the poll $what', ({ nowMs, expected }) => {
    const next = nextDue({ dueMs: 0, startMs: 0, nowMs }, hardlyHeadroom);

    expect(next.skipped).toBe(expected.skipped);
    expect(next.nextDueMs).toBeCloseTo(expected.nextDueMs, 3);
    expect(next.overdueMs).toBe(expected.overdueMs);
  });

  it.each([
    { what: 'when it was due', dueMs: 0, startMs: 20, headroom: 0.5, expectedMs: 60_000 },
    { what: 'before it was due', dueMs: 25_000, startMs: 0, headroom: 0.5, expectedMs: 60_000 },
    {
      what: 'before, without headroom',
      dueMs: 25_000,
      startMs: 0,
      headroom: 0,
      expectedMs: 54_100,
    },
  ])('leaves an application in its batch, which began $what', (times) => {
    const timing = { intervalMs, headroom: times.headroom, phaseIndex: undefined };

    expect(nextDue({ ...times, nowMs: 100 }, timing).nextDueMs).toBe(times.expectedMs);
  });

  it('moves an application to its phase by polling it early, as far as the headroom allows', () => {
    const place = phaseMs(intervalMs, 0);
    const timing = { intervalMs, headroom: 0.1, phaseIndex: 0 };

    const due = [0];
    for (let poll = 0; poll < 12; poll += 1) {
      const last = due.at(-1) ?? 0;
      due.push(nextDue({ dueMs: last, startMs: last, nowMs: last }, timing).nextDueMs);
    }

    const gaps = due.slice(1).map((ms, index) => ms - (due[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(54_000 - 1);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(60_000 + 1);
    expect((due.at(-1) ?? 0) % intervalMs).toBeCloseTo(place, 3);
    expect(gaps.at(-1)).toBeCloseTo(60_000, 3);
  });

  it('does not make up for what was missed while the machine slept', () => {
    const times = { dueMs: 0, startMs: 3_600_000, nowMs: 3_601_000 };

    const { nextDueMs, skipped } = nextDue(times, hardlyHeadroom);

    expect(nextDueMs).toBeCloseTo(3_660_000, 3);
    expect(skipped).toBe(0);
  });

  it.each([
    {
      what: 'ended before its turn',
      nowMs: 2000,
      expected: { nextDueMs: 56_000, overdueMs: 62_000 },
    },
    { what: 'ended at its turn', nowMs: 6000, expected: { nextDueMs: 60_000, overdueMs: 66_000 } },
    { what: 'ended late', nowMs: 50_000, expected: { nextDueMs: 60_000, overdueMs: 66_000 } },
    { what: 'ended very late', nowMs: 59_000, expected: { nextDueMs: 60_000, overdueMs: 66_000 } },
  ])(
    'queues a poll a tenth of its interval early when there is no headroom: $what',
    ({ nowMs, expected }) => {
      const next = nextDue({ dueMs: 0, startMs: 0, nowMs }, noHeadroom);

      expect(next).toEqual({ ...expected, skipped: 0 });
    },
  );

  it('is never in the past, and never later than one interval after the poll was due', () => {
    fc.assert(
      fc.property(
        fc.nat(1e9),
        fc.integer({ min: 1000, max: 1e7 }),
        fc.nat(1e8),
        fc.double({ min: 0, max: 0.5, noNaN: true }),
        fc.nat(10_000),
        (dueMs, everyMs, tookMs, headroom, phaseIndex) => {
          const nowMs = dueMs + tookMs;

          const next = nextDue(
            { dueMs, startMs: dueMs, nowMs },
            { intervalMs: everyMs, headroom, phaseIndex },
          );

          expect(next.nextDueMs).toBeGreaterThanOrEqual(nowMs);
          expect(next.nextDueMs).toBeLessThanOrEqual(Math.max(dueMs + everyMs, nowMs));
          expect(next.overdueMs).toBeGreaterThanOrEqual(next.nextDueMs);
          expect(next.skipped).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});

describe('phaseMs', () => {
  it('spreads applications evenly over an interval, however many there are', () => {
    const places = Array.from({ length: 200 }, (_, phaseIndex) => phaseMs(intervalMs, phaseIndex));

    const perTenth = Array.from(
      { length: 10 },
      (_, tenth) => places.filter((ms) => Math.floor(ms / 6000) === tenth).length,
    );
    expect(Math.min(...perTenth)).toBeGreaterThanOrEqual(18);
    expect(Math.max(...perTenth)).toBeLessThanOrEqual(22);
  });
});

describe('pollDeadlineMs', () => {
  it.each([
    { intervalMs: 60_000, staleAfterMs: 900_000, stretch: 1, deadlineMs: 120_000 },
    { intervalMs: 60_000, staleAfterMs: 90_000, stretch: 1, deadlineMs: 90_000 },
    { intervalMs: 300_000, staleAfterMs: 900_000, stretch: 1, deadlineMs: 300_000 },
    { intervalMs: 60_000, staleAfterMs: 900_000, stretch: 1.5, deadlineMs: 180_000 },
  ])(
    'is $deadlineMs ms at $intervalMs ms, stretched by $stretch, stale after $staleAfterMs ms',
    (row) => {
      expect(pollDeadlineMs(row, row.stretch)).toBe(row.deadlineMs);
    },
  );
});

describe('nextDue, at its boundaries', () => {
  it.each([
    { what: 'started in time', dueMs: 600_000, startMs: 600_500, overdueMs: 660_000 },
    { what: 'not quite an interval late', dueMs: 600_000, startMs: 659_999, overdueMs: 660_000 },
    { what: 'an interval late', dueMs: 600_000, startMs: 660_000, overdueMs: 720_000 },
  ])(
    'counts an interval from the due time, or from a late start: $what',
    ({ dueMs, startMs, overdueMs }) => {
      const next = nextDue({ dueMs, startMs, nowMs: startMs }, hardlyHeadroom);

      expect(next.overdueMs).toBe(overdueMs);
      expect(next.nextDueMs).toBeCloseTo(overdueMs, 3);
      expect(next.skipped).toBe(0);
    },
  );

  it.each([
    { what: 'is in phase but for rounding', beforePhaseMs: 1e-7, earlyMs: 0 },
    { what: 'is after its phase', beforePhaseMs: -1000, earlyMs: 1000 },
    { what: 'is far after its phase', beforePhaseMs: -30_000, earlyMs: 6000 },
    { what: 'is before its phase', beforePhaseMs: 2, earlyMs: 6000 },
  ])('polls an application that $what $earlyMs ms early', ({ beforePhaseMs, earlyMs }) => {
    const timing = { intervalMs, headroom: 0.1, phaseIndex: 0 };
    const dueMs = phaseMs(intervalMs, timing.phaseIndex) - beforePhaseMs;

    const next = nextDue({ dueMs, startMs: dueMs, nowMs: dueMs }, timing);

    expect(next.nextDueMs).toBeCloseTo(dueMs + intervalMs - earlyMs, 3);
  });

  it.each([
    { what: 'ended at once', nowMs: 0, nextDueMs: 54_000, overdueMs: 60_000 },
    { what: 'ended within a tenth', nowMs: 6000, nextDueMs: 60_000, overdueMs: 66_000 },
    { what: 'took longer than that', nowMs: 30_000, nextDueMs: 60_000, overdueMs: 66_000 },
  ])('makes an application without headroom wait for its turn when a poll $what', (row) => {
    const next = nextDue(
      { dueMs: 0, startMs: 0, nowMs: row.nowMs },
      { intervalMs, headroom: 0, phaseIndex: 0 },
    );

    expect(next).toEqual({ nextDueMs: row.nextDueMs, overdueMs: row.overdueMs, skipped: 0 });
  });
});
