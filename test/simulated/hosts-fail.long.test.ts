import { expect, it } from 'vitest';
import { expectUnimpressed, hostsFailWith, type Story, told } from './spoilt-bench.ts';

it.each([
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
