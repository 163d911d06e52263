import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenBucket } from '../../src/model/token-bucket.ts';

describe('createTokenBucket', () => {
  it('fills evenly, and makes up for two seconds at most', () => {
    const bucket = createTokenBucket(60, 0);
    const takeAll = (nowMs: number): number => {
      let taken = 0;
      while (bucket.waitMs(nowMs) === 0) {
        bucket.take();
        taken += 1;
      }
      return taken;
    };

    const taken = [0, 1000, 2000, 2500, 100_000].map(takeAll);

    expect(taken).toEqual([2, 1, 1, 0, 2]);
  });

  it('lets the others pay for tokens that were taken although there were none', () => {
    const bucket = createTokenBucket(60, 0);
    for (let token = 0; token < 4; token += 1) bucket.take();

    const blocked = bucket.waitMs(2000);
    const free = bucket.waitMs(3000);

    expect(blocked).toBeGreaterThan(0);
    expect(free).toBe(0);
  });

  it('forgives what is owed beyond two seconds, so that a burst does not stop everything', () => {
    const bucket = createTokenBucket(60, 0);
    for (let token = 0; token < 1000; token += 1) bucket.take();

    expect(bucket.waitMs(3000)).toBe(0);
  });

  it('says how long a token takes, but wakes nobody more often than every second', () => {
    const waitAtRate = (perMinute: number): number => {
      const bucket = createTokenBucket(perMinute, 0);
      while (bucket.waitMs(0) === 0) bucket.take();
      return bucket.waitMs(0);
    };

    expect([6, 600].map(waitAtRate)).toEqual([10_000, 1000]);
  });

  it('starts anew with a single token', () => {
    const bucket = createTokenBucket(600, 0);

    bucket.restart(5000);
    const first = bucket.waitMs(5000);
    bucket.take();
    const second = bucket.waitMs(5000);

    expect(first).toBe(0);
    expect(second).toBeGreaterThan(0);
  });

  it('never gives more than the rate and two seconds worth in any time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.array(fc.nat(5000), { maxLength: 60 }),
        (perMinute, gapsMs) => {
          const bucket = createTokenBucket(perMinute, 0);
          let nowMs = 0;
          let taken = 0;
          for (const gapMs of gapsMs) {
            nowMs += gapMs;
            while (bucket.waitMs(nowMs) === 0) {
              bucket.take();
              taken += 1;
            }
          }

          const most = (nowMs * perMinute) / 60_000 + Math.max(1, perMinute / 30);
          expect(taken).toBeLessThanOrEqual(most + 1e-6);
        },
      ),
    );
  });
});
