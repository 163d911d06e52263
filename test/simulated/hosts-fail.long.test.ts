import { expect, it } from 'vitest';
import {
  expectFoundAlone,
  expectUnimpressed,
  hostsFailWith,
  type Story,
  told,
} from './spoilt-bench.ts';

it.each([
  {
    what: '300 applications with five hosts each',
    story: {
      count: 300,
      hosts: 5,
      limits: { requestsPerMinute: 100 },
      spoil: hostsFailWith('TIMEOUT'),
    },
  },
  {
    what: 'a thousand applications',
    story: { count: 1000, hosts: 2, spoil: hostsFailWith('INTERNAL_SERVER_ERROR') },
  },
  {
    what: 'an interval of ten seconds',
    story: { count: 200, hosts: 5, intervalMs: 10_000, spoil: hostsFailWith('TIMEOUT') },
  },
] satisfies readonly { what: string; story: Story }[])(
  'queries about hosts that all fail multiply no calls, and delay nothing: $what',
  async ({ story }) => {
    const seen = await told(story);

    expect(Math.max(...seen.failing)).toBeGreaterThan(seen.usual);
    expectUnimpressed(seen, story);
  },
);

it('one application of 200 that spoils the queries about hosts costs up to sixteen calls more an interval until it is found, and one afterwards', async () => {
  await expect(expectFoundAlone(200, 16)).resolves.toBeUndefined();
});
