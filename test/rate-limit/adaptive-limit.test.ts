import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdaptiveLimit } from '../../src/rate-limit/adaptive-limit.ts';

const minuteMs = 60_000;

/** A limit of 800 in each of the minutes after 429s, each for a call sent just before. */
function minutesAfter(...throttledMs: readonly number[]): readonly number[] {
  const limit = new AdaptiveLimit(800);
  for (const nowMs of throttledMs) limit.exceeded({ sentMs: nowMs - 200, nowMs, untilMs: nowMs });
  const lastMs = throttledMs.at(-1) ?? 0;
  return [0, 1, 2, 3, 4, 5].map((minute) => limit.perMinute(lastMs + minute * minuteMs));
}

describe('AdaptiveLimit', () => {
  it('is the full limit before the first 429', () => {
    const limit = new AdaptiveLimit(800);

    expect(limit.perMinute(0)).toBe(800);
    expect(limit.nextStepMs(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is halved by a 429, and full again after five equal steps of a minute', () => {
    expect(minutesAfter(0)).toEqual([400, 480, 560, 640, 720, 800]);
  });

  it('is halved again by a 429 while it recovers, and full again five minutes after that', () => {
    expect(minutesAfter(0, 2 * minuteMs)).toEqual([280, 384, 488, 592, 696, 800]);
  });

  it('is never less than a tenth, however many 429s come', () => {
    const throttledMs = Array.from({ length: 30 }, (_, index) => index * 10_000);

    expect(minutesAfter(...throttledMs)[0]).toBe(80);
  });

  it('is at least one call', () => {
    const limit = new AdaptiveLimit(1);

    limit.exceeded({ sentMs: 0, nowMs: 200, untilMs: 1000 });

    expect(limit.perMinute(200)).toBe(1);
  });

  it('counts the 429s of all calls that were sent before the pause ended as one', () => {
    const limit = new AdaptiveLimit(800);
    limit.exceeded({ sentMs: 0, nowMs: 200, untilMs: 20_000 });
    limit.exceeded({ sentMs: 100, nowMs: 300, untilMs: 30_000 });
    limit.exceeded({ sentMs: 29_999, nowMs: 30_100, untilMs: 25_000 });
    const afterOne = limit.perMinute(30_100);

    limit.exceeded({ sentMs: 30_000, nowMs: 30_200, untilMs: 31_000 });

    expect(afterOne).toBe(400);
    expect(limit.perMinute(30_200)).toBe(200);
  });

  it.each([
    { nowMs: 200, nextMs: 60_200 },
    { nowMs: 60_199, nextMs: 60_200 },
    { nowMs: 60_200, nextMs: 120_200 },
    { nowMs: 300_199, nextMs: 300_200 },
    { nowMs: 300_200, nextMs: Number.POSITIVE_INFINITY },
  ])('rises at $nextMs ms next when it is $nowMs ms', ({ nowMs, nextMs }) => {
    const limit = new AdaptiveLimit(800);

    limit.exceeded({ sentMs: 0, nowMs: 200, untilMs: 1000 });

    expect(limit.nextStepMs(nowMs)).toBe(nextMs);
  });

  it('keeps its proportion when the full limit changes', () => {
    const limit = new AdaptiveLimit(800);
    limit.exceeded({ sentMs: 0, nowMs: 200, untilMs: 1000 });

    limit.resize(100);

    expect([200, 60_200, 300_200].map((nowMs) => limit.perMinute(nowMs))).toEqual([50, 60, 100]);
  });

  it('is between a tenth and the full limit, only rises, and is full after five minutes', () => {
    const gaps = fc.array(fc.nat(3 * minuteMs), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), gaps, (full, gapsMs) => {
        const limit = new AdaptiveLimit(full);
        let nowMs = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          limit.exceeded({ sentMs: nowMs, nowMs, untilMs: nowMs + 1000 });
          expect(limit.perMinute(nowMs)).toBeGreaterThanOrEqual(Math.max(1, Math.floor(full / 10)));
        }

        const later = Array.from({ length: 61 }, (_, step) =>
          limit.perMinute(nowMs + (step * 5 * minuteMs) / 60),
        );
        expect(later).toEqual(later.toSorted((a, b) => a - b));
        expect(Math.max(...later)).toBe(full);
        expect(later.at(-1)).toBe(full);
      }),
    );
  });
});
