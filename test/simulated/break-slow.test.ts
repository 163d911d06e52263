import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { configOf, surfaces, told } from '../support/break-bench.ts';
import { answered, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { anAccountDetails, aStatusSource, statusNowMs } from '../support/status-source.ts';

describe('polls that take longer than two intervals while nothing is throttled', () => {
  it('are red with a line in the log, or not red', async () => {
    const bench = await aRunningDaemon(
      await configOf(
        'accounts: [{ name: one, api_key_env: KEY_A, concurrency: 50, timeout: 60s }]\napps: [{ match: ., interval: 10s }]',
      ),
      { latencyMs: 25_000 },
    );
    await bench.platform.clock.advance(3 * minuteMs);
    const seen = new Map<string, number>();
    let changes = 0;
    let before = '';
    for (let second = 0; second < 20 * 60; second += 1) {
      await bench.platform.clock.advance(1000);
      const { state, stretch } = bench.daemon.status()[0] ?? {};
      const now = `${state} stretch ${stretch?.toFixed(1)} failing ${bench.daemon.status()[0]?.failing.length}`;
      if (now !== before) changes += 1;
      before = now;
      seen.set(now, (seen.get(now) ?? 0) + 1);
    }
    const lines = told(bench.logger);
    expect(changes).toBeGreaterThan(0);
    const isRed = [...seen.keys()].some((one) => !one.endsWith('failing 0'));

    expect(isRed).toBe(true);
    expect(lines.join()).toMatch(/poll failed|too slowly|rate limited|values dropped/u);
  });
});

describe('two accounts that share a key whose half is too small for one of them', () => {
  it('still need more than there is when New Relic answers 429 once', async () => {
    let is429 = false;
    const bench = await aRunningDaemon(
      await configOf(
        'accounts: [{ name: one, api_key_env: KEY_A, requests_per_minute: 40 }, { name: two, api_key_env: KEY_A, requests_per_minute: 40 }]\napps: [{ match: ., account: one, interval: 10s }, { match: ., account: two, interval: 5m }]',
      ),
      faulty({
        answer: () => {
          const answer = is429 ? answered('{}', 429, { 'retry-after': '1' }) : undefined;
          is429 = false;
          return answer;
        },
      }),
    );
    await bench.platform.clock.advance(5 * minuteMs);
    expect(told(bench.logger)).toContain('demand exceeds the budget: intervals are stretched');
    is429 = true;
    await bench.platform.clock.advance(3 * minuteMs);

    const own = surfaces(bench).accounts[0]?.problems.map(({ kind }) => kind);
    expect(own).toContain('throttled');
    expect(told(bench.logger)).not.toContain('demand fits the budget again');
    expect(own).toContain('budget_too_small');
  });
});

describe('an application alone that is answered with 429', () => {
  it('does not flap', async () => {
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

describe('polls that failed a moment before the list did', () => {
  it('are not reminded of beside their cause, and not with a wrong number', async () => {
    const bench = await aRunningDaemon(
      await configOf('accounts: [{ name: one, api_key_env: KEY_A }]\napps: [{ match: . }]'),
      faulty({
        answer: () =>
          bench.platform.clock.monotonicMs() < 3.5 * minuteMs
            ? undefined
            : new ApiError('dns', 'the host name cannot be resolved'),
      }),
    );
    await bench.platform.clock.advance(17 * minuteMs);
    const reminded = bench.logger.lines.filter(({ message }) => message === 'still: poll failed');

    expect(surfaces(bench).headline).toMatch(/account unreachable, 2 applications failing/iu);
    expect(told(bench.logger)).toContain('still: discovery failed');
    expect(reminded.map(({ fields }) => fields['count'])).toEqual([]);
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
