import { describe, expect, it } from 'vitest';
import {
  formatTimestamp,
  parseTimeRange,
  slicesOf,
  type TimeRange,
} from '../../src/simulator/time-range.ts';

const nowMs = Date.parse('2016-01-28T18:36:06Z');
const minuteMs = 60_000;

function parsed(from: string | undefined, to: string | undefined): readonly string[] | undefined {
  const range = parseTimeRange(from, to, nowMs);
  return range === undefined
    ? undefined
    : [range.requestedFromMs, range.requestedToMs, range.fromMs, range.toMs].map(formatTimestamp);
}

describe('parseTimeRange', () => {
  it('takes the data of the default range from some minutes earlier, as in the documented sample', () => {
    expect(parsed(undefined, undefined)).toEqual([
      '2016-01-28T18:06:06+00:00',
      '2016-01-28T18:36:06+00:00',
      '2016-01-28T18:03:00+00:00',
      '2016-01-28T18:33:00+00:00',
    ]);
  });

  it.each([
    { from: '2016-01-28T18:00:00Z', to: '2016-01-28T18:05:00Z' },
    { from: '2016-01-28T18:00:00+00:00', to: '2016-01-28T18:05:00+00:00' },
    { from: '2016-01-28T20:00:00+02:00', to: '2016-01-28T16:05:00-02:00' },
    { from: '2016-01-28T18:00:00', to: '2016-01-28T18:05' },
  ])('takes $from to $to as it is, and answers in UTC', ({ from, to }) => {
    expect(parsed(from, to)).toEqual([
      '2016-01-28T18:00:00+00:00',
      '2016-01-28T18:05:00+00:00',
      '2016-01-28T18:00:00+00:00',
      '2016-01-28T18:05:00+00:00',
    ]);
  });

  it('ends now when only the start is given', () => {
    expect(parsed('2016-01-28T18:00:00Z', undefined)?.at(1)).toBe('2016-01-28T18:36:06+00:00');
  });

  it('starts half an hour before the end when only the end is given', () => {
    expect(parsed(undefined, '2016-01-28T18:30:00Z')?.at(0)).toBe('2016-01-28T18:00:00+00:00');
  });

  it.each([
    { why: 'under 60 seconds', from: '2016-01-28T18:00:00Z', to: '2016-01-28T18:00:59Z' },
    { why: 'reversed', from: '2016-01-28T18:05:00Z', to: '2016-01-28T18:00:00Z' },
    { why: 'with a plus that became a space', from: '2016-01-28T18:00:00 00:00', to: undefined },
    { why: 'not a timestamp', from: 'yesterday', to: undefined },
    { why: 'not a date', from: '2016-13-28T18:00:00Z', to: undefined },
  ])('refuses a range that is $why', ({ from, to }) => {
    expect(parsed(from, to)).toBeUndefined();
  });
});

function rangeOf(lengthMs: number, ageMs = lengthMs): TimeRange {
  const fromMs = nowMs - ageMs;
  const toMs = fromMs + lengthMs;
  return { requestedFromMs: fromMs, requestedToMs: toMs, fromMs, toMs, explicit: true };
}

describe('slicesOf', () => {
  it.each([
    { hours: 3, sliceMinutes: 1 },
    { hours: 6, sliceMinutes: 2 },
    { hours: 14, sliceMinutes: 5 },
    { hours: 24, sliceMinutes: 10 },
    { hours: 4 * 24, sliceMinutes: 30 },
    { hours: 7 * 24, sliceMinutes: 60 },
    { hours: 21 * 24, sliceMinutes: 180 },
    { hours: 42 * 24, sliceMinutes: 360 },
    { hours: 63 * 24, sliceMinutes: 720 },
    { hours: 90 * 24, sliceMinutes: 4320 },
  ])('divides $hours hours into slices of $sliceMinutes minutes', ({ hours, sliceMinutes }) => {
    const slices = slicesOf(rangeOf(hours * 60 * minuteMs), nowMs);

    expect(slices).toHaveLength((hours * 60) / sliceMinutes);
    expect(slices.map((slice) => slice.toMs - slice.fromMs)).toEqual(
      slices.map(() => sliceMinutes * minuteMs),
    );
  });

  it('covers the range without a gap, with a shorter last slice if necessary', () => {
    const range = rangeOf(3.5 * minuteMs);

    const slices = slicesOf(range, nowMs);

    expect(slices.map((slice) => (slice.toMs - slice.fromMs) / minuteMs)).toEqual([1, 1, 1, 0.5]);
    expect(slices.at(-1)?.toMs).toBe(range.toMs);
  });

  it('gives ten even slices if the one-minute data is gone', () => {
    const slices = slicesOf(rangeOf(60 * minuteMs, 9 * 24 * 60 * minuteMs), nowMs);

    expect(slices).toHaveLength(10);
    expect(slices.map((slice) => slice.toMs - slice.fromMs)).toEqual(
      slices.map(() => 6 * minuteMs),
    );
  });
});
