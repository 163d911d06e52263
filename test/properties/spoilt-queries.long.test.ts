import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everySecondOf, expectOthersUnharmed, someTrouble } from './spoilt-queries.ts';

/** `FC_RUNS=1000` for more of them; `FC_SEED` and `FC_PATH` for the run that a failure names. */
const { FC_RUNS, FC_SEED, FC_PATH } = process.env;
const numRuns = Number(FC_RUNS ?? 40);
const begin = FC_SEED === undefined ? {} : { seed: Number(FC_SEED), path: FC_PATH ?? '' };

describe('5.1 applications that spoil the queries of NerdGraph, up to half of them, many times', () => {
  it('take the values of no other, and leave no trace ten minutes after their end', async () => {
    // A run takes seconds: its smallest form would take an hour.
    const tried = fc.assert(fc.asyncProperty(someTrouble, expectOthersUnharmed), {
      ...begin,
      numRuns,
      endOnFailure: true,
    });

    await expect(tried).resolves.toBeUndefined();
  });
});

describe('5.1 every second application of 400 that spoils the queries of NerdGraph', () => {
  it.each([60, 800])(
    'takes the values of no other with %i calls a minute',
    async (requestsPerMinute) => {
      const trouble = everySecondOf(400, requestsPerMinute);

      await expect(expectOthersUnharmed(trouble)).resolves.toBeUndefined();
    },
  );
});

/** Any half of 400 with 60 calls a minute: some that had failed alone took the calls of others. */
const anyHalf = { seed: -879221592, path: '3', numRuns: 1 };

describe('5.1 any half of 400 applications that spoils the queries of NerdGraph', () => {
  it.each(fc.sample(someTrouble, anyHalf))(
    'takes the values of $count no longer than one call for each of them takes',
    async (trouble) => {
      await expect(expectOthersUnharmed(trouble)).resolves.toBeUndefined();
    },
  );
});
