import { describe, expect, it } from 'vitest';
import type { Query } from '../../src/model/config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aGauge, anEntry, aQuery } from '../support/builders.ts';
import { accountOne, aRunningDaemon } from '../support/running-daemon.ts';

const many = 200;
const budget = 240;

const queries = Array.from({ length: many }, (_, index): Query => {
  const name = `calls_${index}`;
  // No text is asked twice a minute.
  const nrql = `SELECT count(*) AS calls FROM Transaction WHERE appId = ${index + 1} FACET appName`;
  return { ...aQuery, account: 'one', name, nrql, gauges: [aGauge(name, { member: 'calls' })] };
});

describe('2.1 200 queries beside 10,000 hosts', () => {
  it('stay in the same budget, all of them fresh, spread over the minute', async () => {
    const applications = Array.from({ length: 500 }, (_, index) => ({
      id: index + 1,
      name: `app-${index + 1}`,
      kind: 'web' as const,
      webRpm: 60,
      hosts: 20,
    }));
    const source = { kind: 'nerdgraph', accountId: 1_234_567 } as const;
    const account = accountOne({ source, requestsPerMinute: budget, concurrency: 5 });
    const bench = await aRunningDaemon(
      {
        accounts: [account],
        apps: [anEntry({ account: 'one', poll: { staleAfterMs: 5 * minuteMs } })],
        queries,
      },
      { latencyMs: 200, fleet: { traffic: 'flat', applications } },
    );
    await bench.platform.clock.advance(12 * minuteMs);
    const sentMs = bench.simulator.journal
      .entries(({ monotonicMs }) => monotonicMs >= 8 * minuteMs)
      .map(({ monotonicMs }) => monotonicMs);
    const busiest = Math.max(
      ...sentMs.map(
        (atMs) => sentMs.filter((other) => other >= atMs && other < atMs + minuteMs).length,
      ),
    );
    const busiestTenSeconds = Math.max(
      ...sentMs.map(
        (atMs) => sentMs.filter((other) => other >= atMs && other < atMs + 10_000).length,
      ),
    );
    const [status] = bench.daemon.status();
    const nowMs = bench.platform.clock.wallMs();
    const text = await bench.page();

    expect(busiest).toBeLessThanOrEqual(budget);
    expect(busiest).toBeGreaterThan(many);
    expect(busiestTenSeconds).toBeLessThan(many / 2);
    expect(status).toMatchObject({ state: 'up', failing: [], hosts: 10_000 });
    expect(status?.queries).toHaveLength(many);
    for (const { state, lastPollMs = 0 } of status?.queries ?? []) {
      expect(state).toBe('up');
      expect(nowMs - lastPollMs).toBeLessThan(2 * minuteMs);
    }
    expect(text.match(/^calls_\d+\{account="one",app_name="app-\d+"\} 300$/gmu)).toHaveLength(many);
    expect(text.match(/^newrelic_application_host_requests_per_minute\{/gmu)).toHaveLength(10_000);
    expect(bench.simulator.violations()).toBe(0);
  });
});
