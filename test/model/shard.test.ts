import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOwnerOf, createOwns } from '../../src/model/shard.ts';

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

describe('createOwns', () => {
  it('leaves everything to a single process', () => {
    expect(manyIds.every(createOwns(undefined))).toBe(true);
  });

  it('gives each shard what it owns', () => {
    const parts = [0, 1, 2].map((ordinal) => createOwns({ ordinal, total: 3 }));

    const owners = manyIds.map((id) => parts.findIndex((owns) => owns(id)));
    expect(owners).toEqual(manyIds.map(createOwnerOf(3)));
  });
});
