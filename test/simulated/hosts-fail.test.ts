import { describe, expect, it } from 'vitest';
import {
  expectUnimpressed,
  hostsFailWith,
  isPoisoned,
  nothingIsWhole,
  type Story,
  told,
} from './spoilt-bench.ts';

describe('what fails in all queries about something', () => {
  it.each([
    {
      what: 'queries about hosts that take too long',
      story: {
        count: 300,
        hosts: 5,
        limits: { requestsPerMinute: 100 },
        spoil: hostsFailWith('TIMEOUT'),
      },
    },
    { what: 'answers that are not whole', story: { count: 200, hosts: 2, spoil: nothingIsWhole } },
  ] satisfies readonly { what: string; story: Story }[])(
    'multiplies no calls, and delays nothing: $what',
    async ({ story }) => {
      const seen = await told(story);

      expect(Math.max(...seen.failing)).toBeGreaterThan(seen.usual);
      expectUnimpressed(seen, story);
    },
  );
});

describe('one application of 200 that spoils the queries about hosts', () => {
  it('costs a dozen calls more an interval until it is found, and one afterwards', async () => {
    const spoil = isPoisoned(77);
    const { usual, failing, intervals } = await told({
      count: 200,
      hosts: 2,
      spoil,
      failingMinutes: 50,
    });

    expect([...intervals]).toEqual([60]);
    // A query that fails is sent twice more.
    expect(Math.max(...failing)).toBeLessThanOrEqual(usual + 12 + 2);
    expect(failing.slice(-3)).toEqual([1, 1, 1].map((more) => usual + more + 2));
  });
});
