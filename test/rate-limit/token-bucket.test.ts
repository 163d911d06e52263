import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../../src/rate-limit/token-bucket.ts';

describe('TokenBucket', () => {
  it('caps the debt at two seconds, so that a burst does not stop everything', () => {
    const bucket = new TokenBucket(60, 0, 1000);
    for (let token = 0; token < 1000; token += 1) bucket.take();

    expect(bucket.waitMs(3000)).toBe(0);
  });

  it.each([
    { what: 'two batches', perMinute: 120, most: 4 },
    { what: 'two tokens where a batch has less than one', perMinute: 5, most: 2 },
  ])('holds no more than $what', ({ perMinute, most }) => {
    const bucket = new TokenBucket(perMinute, 0, 1000);
    let taken = 0;
    for (; bucket.waitMs(3_600_000) === 0; taken += 1) bucket.take();

    expect(taken).toBe(most);
  });

  it('does not make a caller wait for another batch when its timer fired a little early', () => {
    const bucket = new TokenBucket(10, 0, 3000);
    bucket.restart(0);
    bucket.take();

    const waitMs = bucket.waitMs(0);

    expect(waitMs).toBe(6000);
    expect([5998.9, 5999.2, 6000].map((nowMs) => bucket.waitMs(nowMs))).toEqual([3000, 0, 0]);
  });

  it('fills at another rate from the moment it is resized, and keeps its tokens', () => {
    const bucket = new TokenBucket(60, 0, 1000);
    const takeAll = (nowMs: number): number => {
      let taken = 0;
      for (; bucket.waitMs(nowMs) === 0; taken += 1) bucket.take();
      return taken;
    };
    takeAll(0);

    bucket.resize(600, 1000);
    const atOnce = takeAll(1000);
    const aSecondLater = takeAll(2000);
    bucket.resize(60, 12_000);
    const afterShrinking = takeAll(12_000);

    expect([atOnce, aSecondLater, afterShrinking]).toEqual([1, 10, 2]);
  });

  it('never gives more than the rate and the tokens of two seconds, or two, in any period', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.array(fc.nat(5000), { maxLength: 60 }),
        (perMinute, gapsMs) => {
          const bucket = new TokenBucket(perMinute, 0, 1000);
          let nowMs = 0;
          let taken = 0;
          for (const gapMs of gapsMs) {
            nowMs += gapMs;
            while (bucket.waitMs(nowMs) === 0) {
              bucket.take();
              taken += 1;
            }
          }

          // A timer may be a millisecond early.
          const most = ((nowMs + 1) * perMinute) / 60_000 + Math.max(2, perMinute / 30);
          expect(taken).toBeLessThanOrEqual(most + 1e-6);
        },
      ),
    );
  });
});
