import fc from 'fast-check';
import { describe, it } from 'vitest';
import { expectEqualSources, expectSameWithin, someLimit, someStory } from './both-sources.ts';

/** The long version of this file tries more. */
const numRuns = 40;

describe('NerdGraph and REST', () => {
  it('bring the same values, whatever happens to an account', async () => {
    await fc.assert(fc.asyncProperty(someStory, expectEqualSources), { numRuns });
  });
});

describe('the values of NerdGraph', () => {
  it('do not depend on how much it answers at once', async () => {
    await fc.assert(fc.asyncProperty(someStory, someLimit, expectSameWithin), { numRuns });
  });
});
