import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOwn, shareOf } from '../../src/model/shard.ts';

const members = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 12 });
const manyIds = Array.from({ length: 3000 }, (_, index) => String(31_584_797 + index));

function ownersOf(all: readonly string[], key: string): readonly string[] {
  return all.filter((self) => isOwn({ self, members: all }, key));
}

describe('isOwn', () => {
  it('gives every key to exactly one member', () => {
    fc.assert(
      fc.property(members, fc.string(), (all, key) => {
        expect(ownersOf(all, key)).toHaveLength(1);
      }),
    );
  });

  it('gives nothing to who is no member', () => {
    expect(isOwn({ self: 'new', members: ['a'] }, '1')).toBe(false);
    expect(isOwn({ self: 'new', members: [] }, '1')).toBe(false);
  });

  it.each([{ all: ['0', '1', '2'] }, { all: ['10.0.0.7', '10.0.0.8', '10.0.1.9', '10.0.1.10'] }])(
    'spreads the keys evenly over $all',
    ({ all }) => {
      const shares = all.map(
        (self) => manyIds.filter((id) => isOwn({ self, members: all }, id)).length,
      );

      const even = manyIds.length / all.length;
      expect(Math.max(...shares)).toBeLessThan(1.1 * even);
      expect(Math.min(...shares)).toBeGreaterThan(0.9 * even);
    },
  );

  it('moves only the keys that a new member gets', () => {
    const before = ['a', 'b', 'c'];
    const after = [...before, 'd'];

    const moved = manyIds.filter((id) => ownersOf(before, id)[0] !== ownersOf(after, id)[0]);

    expect(moved.every((id) => ownersOf(after, id)[0] === 'd')).toBe(true);
    expect(moved.length / manyIds.length).toBeCloseTo(1 / 4, 1);
  });

  it('stays as it is from version to version, so that a rolling update moves nothing', () => {
    const all = ['0', '1', '2'];

    expect(manyIds.slice(0, 8).map((id) => ownersOf(all, id)[0])).toEqual([
      '2',
      '0',
      '0',
      '2',
      '2',
      '0',
      '1',
      '0',
    ]);
  });
});

describe('shareOf', () => {
  it('divides the budget so that nothing is left and nothing is spent twice', () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 100_000 }), (all, budget) => {
        const shares = all.map((self) => shareOf({ self, members: all }, budget));

        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(budget);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('gives nothing to who is no member', () => {
    expect(shareOf({ self: 'new', members: ['a'] }, 800)).toBe(0);
  });
});
