import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectOthersUnharmed, someTrouble } from './spoilt-queries.ts';

describe('5.1 applications that spoil the queries of NerdGraph, up to half of them', () => {
  it('take the values of no other, and leave no trace ten minutes after their end', async () => {
    const tried = fc.assert(fc.asyncProperty(someTrouble, expectOthersUnharmed), {
      numRuns: 2,
      endOnFailure: true,
    });

    await expect(tried).resolves.toBeUndefined();
  });
});

describe('5.1 every second application of 400 that spoils the queries of NerdGraph', () => {
  it.each([60, 800])(
    'takes the values of no other with %i calls a minute',
    async (requestsPerMinute) => {
      const bad = new Set(Array.from({ length: 200 }, (_, at) => 2 * at));
      const trouble = { count: 400, bad, requestsPerMinute, second: 20, minutes: 14 };
      const how = { operation: 'host_metrics', errorClass: 'TIMEOUT' } as const;

      await expect(expectOthersUnharmed({ ...trouble, ...how })).resolves.toBeUndefined();
    },
  );
});
