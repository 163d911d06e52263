import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { createPlanBench } from './plan-bench.ts';

const config = `
accounts: [{ name: main, base_url: "http://127.0.0.1/main", api_key_env: MAIN_KEY }]
poll: { metrics: [throughput, response_time, errors, apdex, memory, cpu] }
apps: [{ match: "." }]`;
const fleets = { main: { applications: 8, hosts: 30, kinds: ['both'], traffic: 'flat' } } as const;

const isPolled = (line: string): boolean => /^newrelic_application_(?:host_)?[a-z]/u.test(line);

/** The names and labels of all series of New Relic, some minutes after the start. */
async function seriesWith(
  rules: readonly FaultRule[],
  minutes: number,
): Promise<readonly string[]> {
  const bench = createPlanBench(config, fleets, 100, rules);
  let lines: readonly string[] = [];
  await bench.daemon(async (daemon) => {
    await daemon.advance(minutes * minuteMs);
    lines = await daemon.series();
  });
  return lines
    .filter(isPolled)
    .map((line) => line.slice(0, line.lastIndexOf(' ')))
    .toSorted();
}

describe('an account that answers for the first of several metrics only', () => {
  it.each([
    { what: 'always', others: 'without_values', when: {} },
    { what: 'always, and does not mention the others', others: 'missing', when: {} },
    { what: 'every other time', others: 'missing', when: { calls: { every: 2 } } },
    { what: 'every seventh time', others: 'without_values', when: { calls: { every: 7 } } },
    { what: 'of hosts', others: 'missing', when: { endpoints: ['host_metrics'] } },
  ] as const)('shows the same as one that answers for all: $what', async ({ others, when }) => {
    const healthy = await seriesWith([], 5);

    const throttled: FaultRule = {
      when: { calls: { first: 40, last: 48, every: 4 } },
      fault: { kind: 'throttled', hints: [] },
    };
    const trapped = await seriesWith(
      [throttled, { when, fault: { kind: 'first_metric_only', others } }],
      20,
    );

    expect(healthy.length).toBeGreaterThan(300);
    expect(trapped).toEqual(healthy);
  });
});

const small = `
accounts: [{ name: main, base_url: "http://127.0.0.1/main", api_key_env: MAIN_KEY, requests_per_minute: 40 }]
poll: { metrics: [memory, errors, apdex, throughput, response_time], interval: 30s, discovery_interval: 1h, host_names: false }
apps: [{ match: "." }]`;
const three: FleetOptions = {
  applications: [2, 1, 11].map((hosts, at) => ({
    id: 101 + at,
    name: `app-${at}`,
    kind: 'both',
    hosts,
  })),
};

describe('a small budget in an account that answers for the first of several metrics only', () => {
  const parts = 3 + 2 + 1 + 11;
  const perMinute = (parts * 4 * minuteMs) / 30_000;
  const discoveries = 1 / 60;

  it('is planned with what polls cost as soon as that is known, long before the next discovery', async () => {
    const trap: FaultRule = { fault: { kind: 'first_metric_only', others: 'missing' } };
    const bench = createPlanBench(small, { main: three }, 100, [trap]);
    let demand: number | undefined;
    let lines: readonly string[] = [];
    let most: number | undefined;
    await bench.daemon(async (daemon) => {
      await daemon.advance(minuteMs);
      demand = daemon.status()[0]?.demandRequestsPerMinute;
      await daemon.advance(5 * minuteMs);
      lines = await daemon.series();
      most = bench.vendors.get('main')?.journal.maxInAnyWindow(minuteMs);
    });

    expect(demand).toBeCloseTo(perMinute + discoveries, 5);
    expect(most).toBeLessThanOrEqual(40);
    const apdex = lines.filter((line) => /^newrelic_application_(?:host_)?apdex_score/u.test(line));
    expect(apdex).toHaveLength(parts);
  });

  it('does not flutter if values are left out now and then', async () => {
    const trap: FaultRule = {
      when: { calls: { every: 3 } },
      fault: { kind: 'first_metric_only', others: 'missing' },
    };
    const bench = createPlanBench(small, { main: three }, 100, [trap]);
    const demands = new Set<number | undefined>();
    await bench.daemon(async (daemon) => {
      await daemon.advance(5 * minuteMs);
      for (let minute = 0; minute < 300; minute += 1) {
        await daemon.advance(minuteMs);
        demands.add(daemon.status()[0]?.demandRequestsPerMinute);
      }
    });

    expect([...demands].map((demand) => demand?.toFixed(3))).toEqual([
      (perMinute + discoveries).toFixed(3),
    ]);
  });
});
