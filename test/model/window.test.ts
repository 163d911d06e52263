import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowAt } from '../../src/model/window.ts';

const at = (time: string): number => Date.parse(`2026-09-01T${time}Z`);

describe('windowAt', () => {
  it.each([
    { what: 'a delay of whole minutes', now: '10:00:30', delay: 180, from: '09:52', to: '09:57' },
    {
      what: 'the very end of a minute',
      now: '10:00:59.999',
      delay: 180,
      from: '09:52',
      to: '09:57',
    },
    { what: 'the very start of a minute', now: '10:01:00', delay: 180, from: '09:53', to: '09:58' },
    { what: 'a delay between minutes', now: '10:00:30', delay: 90, from: '09:54', to: '09:59' },
    { what: 'no delay', now: '10:00:30', delay: 0, from: '09:55', to: '10:00' },
  ])('covers five whole minutes with $what', ({ now, delay, from, to }) => {
    const window = windowAt(at(now), { kind: 'range', lengthMs: 300_000 }, delay * 1000);

    expect(window).toEqual({ fromMs: at(`${from}:00`), toMs: at(`${to}:00`) });
  });

  it("is left to the vendor if the vendor's own window is configured", () => {
    expect(windowAt(at('10:00:30'), { kind: 'vendor_default' }, 180_000)).toBeUndefined();
  });

  it('is always made of whole minutes, at least one, and ends at least the delay ago', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e12 }),
        fc.integer({ min: 1, max: 1e8 }),
        fc.integer({ min: 0, max: 1e8 }),
        (nowMs, lengthMs, delayMs) => {
          const window = windowAt(nowMs, { kind: 'range', lengthMs }, delayMs);

          const { fromMs, toMs } = window ?? { fromMs: Number.NaN, toMs: Number.NaN };
          expect(Math.abs(fromMs % 60_000)).toBe(0);
          expect(Math.abs(toMs % 60_000)).toBe(0);
          expect(toMs - fromMs).toBeGreaterThanOrEqual(Math.max(60_000, lengthMs));
          expect(nowMs - toMs).toBeGreaterThanOrEqual(delayMs);
          expect(nowMs - toMs).toBeLessThan(delayMs + 60_000);
        },
      ),
    );
  });
});
