import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCallRate } from '../../src/poller/account-plan.ts';

const minuteMs = 60_000;

/** What the rate is by its definition: counted anew each time, from a list of all calls. */
function rateOf(
  calls: readonly { readonly atMs: number; readonly count: number }[],
  nowMs: number,
): number {
  const minute = Math.floor(nowMs / minuteMs);
  const sinceMs = (minute - 9) * minuteMs;
  const lately = calls.filter(({ atMs }) => atMs >= sinceMs);
  const sum = lately.reduce((total, { count }) => total + count, 0);
  return (sum * minuteMs) / (nowMs - sinceMs);
}

describe('createCallRate', () => {
  it('is the mean of the last nine whole minutes and of what has passed of the present one', () => {
    fc.assert(
      fc.property(
        fc.nat(20 * minuteMs),
        fc.array(
          fc.record({
            afterMs: fc.oneof(fc.nat(1000), fc.nat(3 * minuteMs), fc.nat(30 * minuteMs)),
            count: fc.nat(500),
            isAdded: fc.boolean(),
          }),
          { maxLength: 40 },
        ),
        (startMs, steps) => {
          const rate = createCallRate();
          const calls: { atMs: number; count: number }[] = [];
          let nowMs = startMs;
          for (const { afterMs, count, isAdded } of steps) {
            nowMs += afterMs;
            if (isAdded) {
              rate.add(count, nowMs);
              calls.push({ atMs: nowMs, count });
            }
            expect(rate.perMinute(nowMs)).toBeCloseTo(rateOf(calls, nowMs), 9);
          }
        },
      ),
      { examples: [[0, [{ afterMs: 0, count: 3, isAdded: true }]]] },
    );
  });

  it.each([
    { what: 'is steady where the calls are', perMinute: 30, minutes: 30, expected: 30 },
    { what: 'forgets what was ten minutes ago', perMinute: 0, minutes: 10, expected: 0 },
  ])('$what', ({ perMinute, minutes, expected }) => {
    const rate = createCallRate();
    for (let minute = 0; minute < 20; minute += 1) rate.add(30, minute * minuteMs);

    for (let minute = 20; minute < 20 + minutes; minute += 1) {
      rate.add(perMinute, minute * minuteMs + 1);
    }

    expect(rate.perMinute((20 + minutes) * minuteMs)).toBe(expected);
  });
});
