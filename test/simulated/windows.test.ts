import { describe, expect, it } from 'vitest';
import type { AccountSource, AppEntry, PollConfig } from '../../src/model/config.ts';
import { seriesOf } from '../../src/model/polled-series.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aMetric, anEntry } from '../support/builders.ts';
import { accountOne, aRunningDaemon, type RunningDaemon } from '../support/running-daemon.ts';

describe('a silent application', () => {
  it.each([
    { windowMinutes: 7, delayMinutes: 3, isPolled: false },
    { windowMinutes: 8, delayMinutes: 3, isPolled: true },
    { windowMinutes: 3, delayMinutes: 8, isPolled: true },
  ])(
    'is asked for as long as its window may have what it last reported, ten minutes ago: $windowMinutes m, $delayMinutes m ago',
    async ({ windowMinutes, delayMinutes, isPolled }) => {
      const poll = {
        window: { kind: 'range', lengthMs: windowMinutes * minuteMs },
        delayMs: delayMinutes * minuteMs,
      } as const;
      const config = { accounts: [accountOne()], apps: [anEntry({ account: 'one', poll })] };
      const { platform, simulator } = await aRunningDaemon(config, {
        fleet: { applications: [{ id: 101, name: 'shop', kind: 'not_reporting', hosts: 1 }] },
      });
      await platform.clock.advance(5 * minuteMs);

      const polls = simulator.journal.count(({ path }) => path.endsWith('/metrics/data.json'));
      expect(polls > 0).toBe(isPolled);
    },
  );
});

describe('two applications of one account with other', () => {
  const seven = { kind: 'range', lengthMs: 7 * minuteMs } as const;
  const sources: readonly AccountSource[] = [
    { kind: 'rest', accountId: undefined },
    { kind: 'nerdgraph', accountId: 1_234_567 },
  ];
  it.each(
    sources.flatMap((source) => [
      { of: source.kind, what: 'delays', source, poll: { delayMs: 8 * minuteMs }, shown: [300, 5] },
      { of: source.kind, what: 'windows', source, poll: { window: seven }, shown: [0, 7] },
    ]),
  )('$what have values of their own window each, by $of', async ({ source, poll, shown }) => {
    const metrics = seriesOf([aMetric('HttpDispatcher', { value: 'call_count', as: 'calls' })], []);
    const entry = (name: string, own: Partial<PollConfig> = {}): AppEntry =>
      anEntry({
        account: 'one',
        selector: { kind: 'name', name },
        series: metrics,
        poll: own,
      });
    const { platform, page } = await aRunningDaemon(
      { accounts: [accountOne({ source })], apps: [entry('shop'), entry('cart', poll)] },
      {
        fleet: {
          traffic: 'flat',
          applications: [
            { id: 101, name: 'shop', kind: 'web', webRpm: 60, hosts: 1 },
            { id: 102, name: 'cart', kind: 'web', webRpm: 60, hosts: 1 },
          ],
        },
      },
    );
    await platform.clock.advance(30_000);
    const text = await page();
    const valueOf = (metric: string, name: string): number =>
      Number(new RegExp(`^${metric}\\{.*app_name="${name}".*\\} (.*)$`, 'mu').exec(text)?.[1]);
    const end = 'newrelic_application_window_end_timestamp_seconds';

    expect(valueOf('calls', 'shop')).toBe(5 * 60);
    expect([valueOf(end, 'shop') - valueOf(end, 'cart'), valueOf('calls', 'cart') / 60]).toEqual(
      shown,
    );
  });
});

describe("a poll of New Relic's own last half hour", () => {
  const poll = {
    window: { kind: 'vendor_default' },
    metrics: ['throughput', 'apdex'],
  } as const;
  const config = {
    accounts: [accountOne({ concurrency: 1 })],
    apps: [anEntry({ account: 'one', poll })],
  };
  const fleet = { applications: [{ id: 101, name: 'shop', kind: 'web', hosts: 2 }] } as const;
  const windowEndOf = async ({ page }: RunningDaemon): Promise<string | undefined> =>
    /_window_end_timestamp_seconds\{.* (\d+)$/mu.exec(await page())?.[1];

  it('is said to be of the earliest of the windows of its calls', async () => {
    const ends = new Set<number>();
    const bench = await aRunningDaemon(config, {
      // One call after the other, and slowly: a minute ends meanwhile.
      latencyMs: 28_000,
      fleet,
      wire: (wire) => ({
        ...wire,
        send: async (...call) => {
          const answer = await wire.send(...call);
          const [, to] = /"timeslices".*?"to":"([^"]*)"/u.exec(answer.body) ?? [];
          // New Relic writes a second less.
          if (to !== undefined) ends.add(Math.round(Date.parse(to) / minuteMs) * 60);
          return answer;
        },
      }),
    });
    for (let step = 0; step < 60 && (await windowEndOf(bench)) === undefined; step += 1) {
      await bench.platform.clock.advance(5000);
    }

    expect(ends.size).toBeGreaterThan(1);
    expect(Number(await windowEndOf(bench))).toBe(Math.min(...ends));
  });

  it('is said to be of the earliest of the windows of its metrics', async () => {
    const endMs = Date.UTC(2026, 8, 1, 9, 40);
    let asked = 0;
    const bench = await aRunningDaemon(config, {
      fleet,
      wire: (wire) => ({
        ...wire,
        send: async (...call) => {
          const answer = await wire.send(...call);
          if (call[0].operation !== 'application_metrics') return answer;
          const body = JSON.parse(answer.body) as MetricBody;
          for (const [index, { timeslices }] of body.metric_data.metrics.entries()) {
            const to = new Date(endMs + index * minuteMs).toISOString();
            for (const slice of timeslices) slice.to = to;
            asked = Math.max(asked, index + 1);
          }
          return { ...answer, body: JSON.stringify(body) };
        },
      }),
    });
    await bench.platform.clock.advance(minuteMs);

    expect(asked).toBeGreaterThan(1);
    expect(Number(await windowEndOf(bench))).toBe(endMs / 1000);
  });
});

/** As much of an answer for values as is changed here. */
interface MetricBody {
  readonly metric_data: { readonly metrics: readonly { readonly timeslices: { to: string }[] }[] };
}
