import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectEqualSources, expectSameWithin, someLimit, someStory } from './both-sources.ts';

/** `FC_RUNS=10000` for more of them; `FC_SEED` and `FC_PATH` for the run that a failure names. */
const { FC_RUNS, FC_SEED, FC_PATH } = process.env;
const numRuns = Number(FC_RUNS ?? 1000);
const begin = FC_SEED === undefined ? {} : { seed: Number(FC_SEED), path: FC_PATH ?? '' };

describe('NerdGraph and REST, in many stories', () => {
  it('bring the same values', async () => {
    const tried = fc.assert(fc.asyncProperty(someStory, expectEqualSources), { ...begin, numRuns });

    await expect(tried).resolves.toBeUndefined();
  });
});

describe('the values of NerdGraph, in many stories', () => {
  it('do not depend on how much it answers at once', async () => {
    // A story takes a second: its smallest form would take an hour.
    const tried = fc.assert(fc.asyncProperty(someStory, someLimit, expectSameWithin), {
      ...begin,
      numRuns,
      endOnFailure: true,
    });

    await expect(tried).resolves.toBeUndefined();
  });
});
