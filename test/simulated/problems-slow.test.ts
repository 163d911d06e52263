import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { configOf, told } from '../support/problem-bench.ts';
import { answered, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';
import { anAccountDetails, aStatusSource, statusNowMs } from '../support/status-source.ts';

describe('an application alone that is answered with 429', () => {
  it('does not flap', slow, async () => {
    const bench = await aRunningDaemon(
      await configOf(
        'accounts: [{ name: one, api_key_env: KEY_A }]\napps: [{ name: cart, interval: 15m }, { name: shop }]',
      ),
      faulty({
        answer: ({ operation, target }) =>
          bench.platform.clock.monotonicMs() > 3 * minuteMs &&
          operation.endsWith('_metrics') &&
          target.includes('102')
            ? answered('{}', 429)
            : undefined,
      }),
    );
    await bench.platform.clock.advance(120 * minuteMs);
    const lines = told(bench.logger);
    const ends = lines.filter((one) => one === 'no longer rate limited by New Relic').length;

    expect(ends).toBeLessThan(2);
  });
});

describe('applications that are all deleted at New Relic', () => {
  it('give no metric a value', async () => {
    let isEmpty = false;
    const bench = await aRunningDaemon(
      await configOf(
        'accounts: [{ name: one, api_key_env: KEY_A }]\napps: [{ match: ., discovery_interval: 60s, metrics: [throughput, { metric: Custom/Qeue, value: call_count, as: shop_queue }] }]',
      ),
      faulty({
        answer: ({ operation }) =>
          isEmpty && operation === 'list_applications' ? answered({ applications: [] }) : undefined,
      }),
    );
    await bench.platform.clock.advance(10 * minuteMs);
    expect(told(bench.logger)).toContain('metric never has a value');
    isEmpty = true;
    await bench.platform.clock.advance(3 * minuteMs);

    expect(bench.daemon.applications()).toEqual([]);
    expect(told(bench.logger)).not.toContain('metric has a value');
  });
});

describe('the page of an account with ten thousand that fail', () => {
  it('is made within a second', () => {
    const failing = Array.from({ length: 10_000 }, (_, id) => ({
      account: 'production',
      id: `${id}`,
      name: `shop ${id}`,
      state: 'failing' as const,
      failure: { reason: 'server' as const, message: 'status 500', sinceMs: statusNowMs },
      isHeld: false,
      dropMs: undefined,
      lastPollMs: statusNowMs,
    }));
    const account = anAccountDetails({ state: 'degraded', failing });
    const source = { ...aStatusSource({}), accounts: () => [account] };
    const startMs = performance.now();
    statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' });
    expect(performance.now() - startMs).toBeLessThan(1000);
  });
});
