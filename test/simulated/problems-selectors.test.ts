import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { configOf, told } from '../support/problem-bench.ts';
import { answered, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

describe('a query that is renamed while it fails', () => {
  it('does not work again', async () => {
    const of = (name: string): string =>
      `accounts: [{ name: one, source: nerdgraph, account_id: 1234567, api_key_env: KEY_A }]\nqueries:\n  - { as: ${name}, nrql: "SELECT count(*) FROM Transaction" }\n  - { as: other, nrql: "SELECT max(duration) FROM Transaction" }`;
    const bench = await aRunningDaemon(
      await configOf(of('calls')),
      faulty({
        answer: ({ operation, body = '' }) =>
          operation === 'query' && body.includes('count') ? answered('{}', 400) : undefined,
      }),
    );
    await bench.platform.clock.advance(3 * minuteMs);
    expect(told(bench.logger)).toContain('poll failed');
    await bench.daemon.apply(await configOf(of('all_calls')));
    await bench.platform.clock.advance(20_000);

    expect(told(bench.logger)).not.toContain('poll works again');
  });
});
