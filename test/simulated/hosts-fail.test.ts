import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { answered, type Fault, faulty, linesOf, queryConfig } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { eachAfter, slow } from '../support/slow.ts';
import {
  expectFoundAlone,
  expectUnimpressed,
  hostsFailWith,
  nothingIsWhole,
  type Story,
  told,
} from './spoilt-bench.ts';

describe('what fails in all queries about something', () => {
  eachAfter(0, [
    {
      what: 'queries about hosts that take too long',
      story: {
        count: 100,
        hosts: 2,
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

describe('one application of 50 that spoils the queries about hosts', () => {
  it(
    'costs up to seven calls more an interval until it is found, and one afterwards',
    slow,
    async () => {
      await expect(expectFoundAlone(50, 7)).resolves.toBeUndefined();
    },
  );
});

describe('one application that spoils the first of two queries about the same', () => {
  it('is found: after some minutes all others have all their values', async () => {
    const metrics = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(
      (letter) =>
        `{ metric: Custom/${letter.repeat(180)}, value: average_value, as: ${letter}, for: applications }`,
    );
    const spoilt = answered({
      data: { actor: { account: { nrql: null } } },
      errors: [{ message: 'no', extensions: { errorClass: 'INVALID_INPUT' } }],
    });
    const queries = new Set<boolean>();
    const fault: Fault = {
      answer: ({ operation, body = '' }) => {
        if (operation !== 'application_metrics') return undefined;
        const isFirst = body.includes('Custom/aaa');
        queries.add(isFirst);
        return isFirst && /appId IN \([^)]*\b7\b/u.test(body) ? spoilt : undefined;
      },
    };
    const applications = Array.from({ length: 16 }, (_, index) => {
      return { id: index + 1, name: `app-${index}`, kind: 'web', hosts: 1 } as const;
    });
    const poll = `poll: { metrics: [${metrics.join(', ')}] }`;
    const bench = await aRunningDaemon(await queryConfig({ poll }), {
      fleet: { applications },
      ...faulty(fault),
    });
    await bench.platform.clock.advance(8 * minuteMs);

    const failing = await linesOf(bench, /^newrelic_application_poll_success.* 0$/u);
    expect(queries.size).toBe(2);
    expect(failing.map((line) => /app_id="(\d+)"/u.exec(line)?.[1])).toEqual(['7']);
  });
});
