import { describe, expect, it } from 'vitest';
import { dueAfter, phaseOf } from '../../src/poll/schedule.ts';

const intervalMs = 60_000;
/** Practically none, but the budget suffices. */
const hardlyHeadroom = { intervalMs, headroom: 1e-9, phase: 0 };
const noHeadroom = { intervalMs, headroom: 0, phase: 0 };

/** When the next poll is due after one that was due at `dueMs`. */
function next(
  { dueMs, ...times }: { dueMs: number; startMs: number; nowMs: number },
  timing: Parameters<typeof dueAfter>[2],
): { dueMs: number; skipped: number } {
  return dueAfter(dueMs, times, timing);
}

describe('dueAfter', () => {
  it.each([
    { what: 'ended in time', nowMs: 5000, dueMs: 60_000, skipped: 0 },
    { what: 'took just longer than its interval', nowMs: 61_000, dueMs: 61_000, skipped: 0 },
    { what: 'took three and a half intervals', nowMs: 210_000, dueMs: 210_000, skipped: 2 },
  ])('keeps the interval when the poll $what', ({ nowMs, dueMs, skipped }) => {
    const times = { dueMs: 0, startMs: 0, nowMs };

    const after = next(times, hardlyHeadroom);

    expect(after.skipped).toBe(skipped);
    expect(after.dueMs).toBeCloseTo(dueMs, 3);
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
  ])('leaves an application in its batch, which began $what', ({ headroom, ...row }) => {
    const timing = { intervalMs, headroom, phase: undefined };

    expect(next({ ...row, nowMs: 100 }, timing).dueMs).toBe(row.expectedMs);
  });

  it('moves an application to its phase by polling it early, as far as the headroom allows', () => {
    const timing = { intervalMs, headroom: 0.1, phase: 0.618 };

    const due = [0];
    for (let poll = 0; poll < 12; poll += 1) {
      const dueMs = due.at(-1) ?? 0;
      due.push(next({ dueMs, startMs: dueMs, nowMs: dueMs }, timing).dueMs);
    }

    const gaps = due.slice(1).map((ms, index) => ms - (due[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(54_000 - 1);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(60_000 + 1);
    expect((due.at(-1) ?? 0) % intervalMs).toBeCloseTo(0.618 * intervalMs, 3);
    expect(gaps.at(-1)).toBeCloseTo(60_000, 3);
  });

  it('does not make up for what was missed while the machine slept', () => {
    const times = { dueMs: 0, startMs: 3_600_000, nowMs: 3_601_000 };

    const after = next(times, hardlyHeadroom);

    expect(after.dueMs).toBeCloseTo(3_660_000, 3);
    expect(after.skipped).toBe(0);
  });

  it.each([
    { what: 'began in time', startMs: 600_500, dueMs: 660_000 },
    { what: 'began not quite an interval late', startMs: 659_999, dueMs: 660_000 },
    { what: 'began an interval late', startMs: 660_000, dueMs: 720_000 },
  ])('counts from when the poll was due, unless it began very late: $what', (row) => {
    const times = { dueMs: 600_000, startMs: row.startMs, nowMs: row.startMs };

    const after = next(times, hardlyHeadroom);

    expect(after.dueMs).toBeCloseTo(row.dueMs, 3);
  });

  it.each([
    { what: 'ended before its turn', nowMs: 2000, dueMs: 56_000 },
    { what: 'ended at its turn', nowMs: 6000, dueMs: 60_000 },
    { what: 'ended late', nowMs: 50_000, dueMs: 60_000 },
    { what: 'ended very late', nowMs: 59_000, dueMs: 60_000 },
    { what: 'took longer than its interval', nowMs: 63_000, dueMs: 63_000 },
  ])('queues the next poll a tenth early when there is no headroom: $what', ({ dueMs, nowMs }) => {
    expect(next({ dueMs: 0, startMs: 0, nowMs }, noHeadroom).dueMs).toBeCloseTo(dueMs, 6);
  });
});

describe('phaseOf', () => {
  it('spreads applications evenly over an interval, however many there are', () => {
    const phases = Array.from({ length: 200 }, (_, index) => phaseOf(index));

    const perTenth = Array.from(
      { length: 10 },
      (_, tenth) => phases.filter((phase) => Math.floor(phase * 10) === tenth).length,
    );
    expect(Math.min(...perTenth)).toBeGreaterThanOrEqual(18);
    expect(Math.max(...perTenth)).toBeLessThanOrEqual(22);
  });
});
