import { describe, expect, it } from 'vitest';
import { kindsOfProblems } from '../../src/model/problem-kinds.ts';
import { eachAfter } from '../support/slow.ts';
import { expectSaidEverywhere } from './situation-bench.ts';
import { moreSituations, situations } from './situation-rows.ts';

describe('what is wrong', () => {
  eachAfter(1, situations)('is the same everywhere: $what', async (situation) => {
    await expect(expectSaidEverywhere(situation)).resolves.toBeUndefined();
  });

  it('is another situation in each of at least forty rows, and each kind is in one', () => {
    const all = [...situations, ...moreSituations];
    const kinds = new Set(all.flatMap(({ own = [], ofProcess = [] }) => [...own, ...ofProcess]));

    expect(all.length).toBeGreaterThanOrEqual(40);
    expect(new Set(all.map(({ what }) => what)).size).toBe(all.length);
    expect(kindsOfProblems.filter((kind) => !kinds.has(kind))).toEqual([]);
  });
});
