import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownerOf } from '../../src/model/shard.ts';

const manyIds = Array.from({ length: 3000 }, (_, index) => String(31_584_797 + index));

describe('ownerOf', () => {
  it('gives every key to one of the shards', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 40 }), (key, total) => {
        const owner = ownerOf(key, total);

        expect(Number.isInteger(owner) && owner >= 0 && owner < total).toBe(true);
      }),
    );
  });

  it.each([2, 3, 4, 10])('spreads the keys evenly over %d shards', (total) => {
    const counts = Array.from({ length: total }, () => 0);
    for (const id of manyIds) {
      const owner = ownerOf(id, total);
      counts[owner] = (counts[owner] ?? 0) + 1;
    }

    const even = manyIds.length / total;
    expect(Math.max(...counts)).toBeLessThan(1.2 * even);
    expect(Math.min(...counts)).toBeGreaterThan(0.8 * even);
  });

  it('moves only the keys that a new shard gets', () => {
    const moved = manyIds.filter((id) => ownerOf(id, 3) !== ownerOf(id, 4));

    expect(moved.every((id) => ownerOf(id, 4) === 3)).toBe(true);
    expect(moved.length / manyIds.length).toBeCloseTo(1 / 4, 1);
  });

  it('stays as it is from version to version, so that a rolling update moves nothing', () => {
    expect(manyIds.slice(0, 8).map((id) => ownerOf(id, 3))).toEqual([2, 0, 0, 2, 2, 0, 1, 0]);
  });
});
