import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectEqualSources, expectSameWithin, someLimit, someStory } from './both-sources.ts';

/** The long version of this file tries more. */
const numRuns = 10;

describe('NerdGraph and REST', () => {
  it('bring the same values, whatever happens to an account', async () => {
    const tried = fc.assert(fc.asyncProperty(someStory, expectEqualSources), { numRuns });

    await expect(tried).resolves.toBeUndefined();
  });
});

describe('the values of NerdGraph', () => {
  it('do not depend on how much it answers at once', async () => {
    const tried = fc.assert(fc.asyncProperty(someStory, someLimit, expectSameWithin), { numRuns });

    await expect(tried).resolves.toBeUndefined();
  });
});
