import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOwnerOf, sharesOf } from '../../src/model/shard.ts';

const manyIds = Array.from({ length: 3000 }, (_, index) => String(31_584_797 + index));

describe('ownerOf', () => {
  it('gives every key to one of the shards', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 40 }), (key, total) => {
        const owner = createOwnerOf(total)(key);

        expect(Number.isInteger(owner) && owner >= 0 && owner < total).toBe(true);
      }),
    );
  });

  it.each([2, 3, 4, 10])('spreads the keys evenly over %d shards', (total) => {
    const counts = Array.from({ length: total }, () => 0);
    for (const id of manyIds) {
      const owner = createOwnerOf(total)(id);
      counts[owner] = (counts[owner] ?? 0) + 1;
    }

    const even = manyIds.length / total;
    expect(Math.max(...counts)).toBeLessThan(1.2 * even);
    expect(Math.min(...counts)).toBeGreaterThan(0.8 * even);
  });

  it('moves only the keys that a new shard gets', () => {
    const moved = manyIds.filter((id) => createOwnerOf(3)(id) !== createOwnerOf(4)(id));

    expect(moved.every((id) => createOwnerOf(4)(id) === 3)).toBe(true);
    expect(moved.length / manyIds.length).toBeCloseTo(1 / 4, 1);
  });

  it('stays the same from version to version, so that a rolling update moves nothing', () => {
    expect(manyIds.slice(0, 8).map((id) => createOwnerOf(3)(id))).toEqual([2, 0, 0, 2, 2, 0, 1, 0]);
  });
});

describe('sharesOf', () => {
  it.each([
    {
      what: 'gives each what it needs and the rest evenly',
      budget: 300,
      polls: [100, 10, 0],
      discovery: 1,
      shares: [163, 73, 63],
    },
    {
      what: 'stretches all alike if the demand exceeds the budget',
      budget: 303,
      polls: [500, 250, 250],
      discovery: 1,
      shares: [151, 76, 76],
    },
    {
      what: 'divides evenly what nobody needs',
      budget: 300,
      polls: [0, 0, 0],
      discovery: 0,
      shares: [100, 100, 100],
    },
    {
      what: 'gives each its discoveries first',
      budget: 30,
      polls: [1000, 0, 0],
      discovery: 5,
      shares: [20, 5, 5],
    },
    {
      what: 'divides evenly what is not enough for the discoveries',
      budget: 9,
      polls: [1000, 0, 0],
      discovery: 5,
      shares: [3, 3, 3],
    },
    {
      what: 'gives each at least one',
      budget: 3,
      polls: [9, 0, 0],
      discovery: 0,
      shares: [1, 1, 1],
    },
  ])('$what', ({ budget, polls, discovery, shares }) => {
    expect(sharesOf(budget, { polls, discovery })).toEqual(shares);
  });

  it('never exceeds the budget, never gives less to a shard that needs more, and covers every need that fits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 40 }),
        fc.double({ min: 0, max: 50, noNaN: true }),
        fc.integer({ min: 0, max: 100_000 }),
        (polls, discovery, more) => {
          const budget = polls.length + more;

          const shares = sharesOf(budget, { polls, discovery });

          expect(shares.every((share) => Number.isInteger(share) && share >= 1)).toBe(true);
          expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(budget);
          const whole = polls.reduce((sum, one) => sum + one + discovery, 0);
          for (const [index, one] of polls.entries()) {
            const share = shares[index] ?? 0;
            const others = shares.filter((_, other) => (polls[other] ?? 0) <= one);
            expect(share).toBeGreaterThanOrEqual(whole <= more ? Math.floor(one + discovery) : 1);
            expect(Math.max(...others)).toBe(share);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
