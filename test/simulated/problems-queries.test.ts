import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { configOf, surfaces } from '../support/problem-bench.ts';
import { answered, faulty, statusSourceOf } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

const text =
  'accounts: [{ name: one, source: nerdgraph, account_id: 1234567, api_key_env: KEY_A }]\nqueries:\n  - { as: a, nrql: "SELECT count(*) FROM Transaction" }\n  - { as: b, nrql: "SELECT max(duration) FROM Transaction" }';

describe('an account with queries alone whose key is refused', () => {
  async function refused() {
    let calls = 0;
    const bench = await aRunningDaemon(
      await configOf(text),
      faulty({
        answer: () => {
          if (bench.platform.clock.monotonicMs() < 3 * minuteMs) return undefined;
          calls += 1;
          return answered('{}', 401);
        },
      }),
    );
    await bench.platform.clock.advance(10 * minuteMs);
    const before = calls;
    await bench.platform.clock.advance(10 * minuteMs);
    return { bench, polled: calls - before };
  }

  it('does not say that nothing is polled while queries are', async () => {
    const { bench, polled } = await refused();
    const remedies = surfaces(bench).accounts.flatMap(({ problems }) =>
      problems.map(({ remedy }) => remedy),
    );

    expect(polled > 4 && remedies.join().includes('nothing is polled until then')).toBe(false);
  });

  it('has no state that speaks of a discovery', async () => {
    const { bench } = await refused();
    const source = statusSourceOf(bench);
    const html = statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' });

    expect(html).not.toContain('The last discovery failed');
  });
});
