import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createPlanBench } from './plan-bench.ts';

const minuteMs = 60_000;
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
