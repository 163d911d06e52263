import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fairShares } from '../../src/rate-limit/rate-limiters.ts';

describe('fairShares', () => {
  it.each([
    { what: 'all of it to one alone', limit: 800, demands: [20], shares: [800] },
    {
      what: 'equal parts to who wants all',
      limit: 90,
      demands: [800, 500, 100],
      shares: [30, 30, 30],
    },
    {
      what: 'the small ones what they want',
      limit: 100,
      demands: [10, 500, 20],
      shares: [10, 70, 20],
    },
    { what: 'what is left over to all alike', limit: 100, demands: [10, 30], shares: [40, 60] },
    {
      what: 'equal parts while nothing is known',
      limit: 100,
      demands: [Infinity, Infinity],
      shares: [50, 50],
    },
    {
      what: 'what others leave to one that is not known',
      limit: 100,
      demands: [Infinity, 10],
      shares: [90, 10],
    },
    { what: 'nothing to nobody', limit: 100, demands: [], shares: [] },
  ])('gives $what', ({ limit, demands, shares }) => {
    expect(fairShares(limit, demands)).toEqual(shares);
  });

  it('divides exactly the limit, gives nobody less than an equal part or the demand, and treats equals alike', () => {
    const demand = fc.oneof(fc.nat(1000), fc.constant(Number.POSITIVE_INFINITY));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.array(demand, { minLength: 1, maxLength: 8 }),
        (limit, demands) => {
          const shares = fairShares(limit, demands);

          expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(limit);
          for (const [index, share] of shares.entries()) {
            const own = demands[index] ?? 0;
            expect(share).toBeGreaterThan(Math.min(own, limit / demands.length) - 1e-6);
            for (const [other, otherShare] of shares.entries()) {
              const isNoSmaller = (demands[other] ?? 0) >= own;
              expect(isNoSmaller ? otherShare : limit).toBeGreaterThan(share - 1e-6);
            }
          }
        },
      ),
    );
  });
});
