import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../../src/model/time.ts';
import { pollWindow } from '../../../src/model/window.ts';
import { type Slice, slicesNow, slicesOf, windowsOf } from '../../../src/tools/backfill/slices.ts';
import { eachAfter } from '../../support/slow.ts';

const nowMs = Date.UTC(2026, 10, 1, 12, 34, 56);
const poll = (lengthMs: number, delayMs: number) =>
  ({
    window: { kind: 'range', lengthMs },
    delayMs,
    intervalMs: minuteMs,
    staleAfterMs: 1,
  }) as const;

interface Case {
  readonly days: number;
  readonly stepMinutes: number;
  readonly windowMinutes: number;
  readonly delaySeconds: number;
  readonly rows: number;
  readonly hasRollups: boolean;
}

function slicesIn({ days, stepMinutes, windowMinutes, delaySeconds, rows, hasRollups }: Case) {
  const range = {
    fromMs: nowMs - days * 86_400_000,
    toMs: nowMs,
    stepMs: stepMinutes * minuteMs,
    nowMs,
  };
  return slicesOf(range, poll(windowMinutes * minuteMs, delaySeconds * 1000), rows, hasRollups);
}

/** The end of the window that a poll asks for when the sample is taken; of old data, of its last whole hours. */
function polledEnd(
  { windowMinutes, delaySeconds, hasRollups }: Case,
  timeMs: number,
  hoursMs: number,
) {
  const { fromMs, toMs } = pollWindow(poll(windowMinutes * minuteMs, delaySeconds * 1000), timeMs);
  const isOld = hasRollups && fromMs < nowMs - (8 * 24 - 3) * hourMs;
  return isOld ? Math.floor(toMs / hoursMs) * hoursMs : toMs;
}

const usual = {
  days: 1,
  stepMinutes: 1,
  windowMinutes: 5,
  delaySeconds: 180,
  rows: 1,
  hasRollups: true,
};

describe('the slices of a backfill', () => {
  it.each<Case>([
    usual,
    { ...usual, days: 20 },
    { ...usual, days: 20, hasRollups: false },
    { ...usual, days: 9, stepMinutes: 60, windowMinutes: 60, delaySeconds: 90 },
    { ...usual, days: 12, stepMinutes: 90, windowMinutes: 180 },
    { ...usual, rows: 2500 },
    { ...usual, windowMinutes: 366 },
    { ...usual, days: 9, stepMinutes: 30, windowMinutes: 1440, delaySeconds: 0 },
  ])(
    'have each moment once, in order, in queries of at most 366 windows and some rows: %o',
    (one) => {
      const slices = slicesIn(one);
      const times = slices.flatMap((slice) =>
        windowsOf(slice).map(({ toMs }) => slice.timeOf(toMs)),
      );
      const stepsOf = (slice: Slice): readonly number[] => {
        const windows = windowsOf(slice);
        return windows.slice(1).map(({ toMs }, index) => toMs - (windows[index]?.toMs ?? 0));
      };
      const lengthOf = (slice: Slice): number => {
        const windows = windowsOf(slice);
        return ((windows.at(-1)?.toMs ?? 0) - (windows[0]?.fromMs ?? 0)) / slice.stepMs;
      };

      expect(times).toEqual([...new Set(times)].toSorted((left, right) => left - right));
      expect(times.every((timeMs) => timeMs % (one.stepMinutes * minuteMs) === 0)).toBe(true);
      for (const slice of slices) {
        expect(new Set(stepsOf(slice)).size).toBeLessThan(2);
        expect(stepsOf(slice)[0] ?? slice.stepMs).toBe(slice.stepMs);
        expect(lengthOf(slice)).toBeLessThanOrEqual(366);
        expect(slice.windows * one.rows).toBeLessThanOrEqual(Math.max(5000, one.rows));
        // One assertion for each of thirty thousand windows would take most of the time.
        const wrong = windowsOf(slice).filter(
          ({ fromMs, toMs }) =>
            toMs - fromMs !== slice.lengthMs ||
            slice.timeOf(toMs) - toMs < one.delaySeconds * 1000 ||
            toMs !== polledEnd(one, slice.timeOf(toMs), slice.stepMs),
        );
        expect(wrong).toEqual([]);
      }
    },
  );

  it('are as few as fit: thirteen months are a thousand of them', () => {
    const slices = slicesIn({ ...usual, days: 390, hasRollups: false });

    expect(slices.length).toBe(Math.ceil((390 * 1440 + 1) / 362));
    expect(slices.reduce((sum, { windows }) => sum + windows, 0)).toBe(390 * 1440);
  });

  const timesOf = (slices: readonly Slice[]): readonly number[] =>
    slices.flatMap((slice) => windowsOf(slice).map(({ toMs }) => slice.timeOf(toMs)));

  eachAfter(1, [
    usual,
    { ...usual, days: 9, stepMinutes: 5 },
    { ...usual, days: 12, stepMinutes: 30, windowMinutes: 90, delaySeconds: 0 },
    { ...usual, days: 12, stepMinutes: 90, windowMinutes: 180 },
    { ...usual, days: 7, rows: 2500 },
  ])(
    'of which some are too old when they are asked are asked by the hour for these: %o',

    (one) => {
      const planned = slicesIn(one);
      for (const laterMs of [30 * minuteMs, 3 * hourMs, dayMs, 4.3 * dayMs, 9 * dayMs]) {
        const askedMs = nowMs + laterMs;
        const asked = planned.map((slice) => slicesNow(slice, askedMs));
        const all = asked.flat();
        const young = all.filter(({ lengthMs }) => lengthMs < hourMs || lengthMs % hourMs > 0);
        const times = timesOf(all);
        const hourlyMs = Math.ceil(one.stepMinutes / 60) * hourMs;
        const gaps = times.slice(1).map((timeMs, index) => timeMs - (times[index] ?? 0));

        const edgeMs = askedMs - (8 * 24 - 2) * hourMs;
        expect(young.filter(({ endMs, lengthMs }) => endMs - lengthMs < edgeMs)).toEqual([]);
        expect(times).toEqual([...new Set(times)].toSorted((left, right) => left - right));
        expect(Math.max(...gaps)).toBeLessThanOrEqual(hourlyMs + one.stepMinutes * minuteMs);
        for (const [index, slices] of asked.entries()) {
          const known = new Set(timesOf(planned.slice(index, index + 1)));
          expect(timesOf(slices).every((timeMs) => known.has(timeMs))).toBe(true);
        }
      }
    },
  );

  it('are just those of the plan for an hour', () => {
    for (const slice of slicesIn({ ...usual, days: 9 })) {
      expect(slicesNow(slice, nowMs + hourMs - minuteMs)).toEqual([slice]);
    }
  });
});
