import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { ThrottleHint } from '../../src/simulator/fault.ts';
import { withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { byNerdGraph } from './sources.ts';
import { expectPaused, pauseRows } from './throttled-accounts.ts';

const reset = 'X-RateLimit-Reset';
const legacy = 'NewRelic-OverloadProtection-Reset';
const retryAfter = 'Retry-After';

describe('4.2 a short spell of 429s of the REST API without a shortage', () => {
  const budgetOf = 'newrelic_exporter_api_budget_requests_per_minute';
  const production = { account: 'production' };
  const fleet = { applications: 20, hosts: 400 };
  const fromMs = 3 * minuteMs;

  it.each<{ hint: ThrottleHint; budget: number; every: number; minutes: number }>([
    { hint: { header: retryAfter, text: '0' }, budget: 800, every: 5, minutes: 3 },
    { hint: { header: retryAfter, text: '1' }, budget: 800, every: 20, minutes: 1 },
    { hint: { header: retryAfter, text: '1' }, budget: 500, every: 8, minutes: 2 },
    { hint: { header: retryAfter, text: '30' }, budget: 800, every: 5, minutes: 1 },
    { hint: { header: legacy, inSeconds: -10 }, budget: 800, every: 3, minutes: 1 },
    { hint: { header: 'X-Request-Id', text: '7' }, budget: 800, every: 5, minutes: 1 },
  ])(
    'costs nothing beyond its pauses unless it names the limit of the key: $hint, $budget',
    async ({ hint, budget, every, minutes }) => {
      const untilMs = fromMs + minutes * minuteMs;
      const rule = {
        when: { fromMs, untilMs, calls: { every } },
        fault: { kind: 'throttled', hints: [hint] },
      } as const;
      const account = { requestsPerMinute: budget };
      await withTimedFaults({ script: [rule], simulator: { fleet }, account }, async (bench) => {
        const budgets = new Set<number | undefined>();
        await bench.advance(fromMs);
        for (let second = 0; second < minutes * 60; second += 5) {
          await bench.advance(5000);
          budgets.add((await bench.scrape()).value(budgetOf, production));
        }
        await bench.advance(3 * minuteMs);
        const page = await bench.scrape();

        expect(bench.faulty.faults.hits().length).toBeGreaterThan(0);
        expect([...budgets]).toEqual([budget]);
        expect(freshness(page, bench.clock)).toHaveLength(20 + 2);
      });
    },
  );

  it('that names the limit of the key costs a part of it for five minutes, whatever came before', async () => {
    const untilMs = fromMs + 3 * minuteMs;
    const rule = {
      when: { fromMs, untilMs, calls: { every: 5 } },
      fault: { kind: 'throttled', hints: [{ header: reset, inSeconds: -20 }] },
    } as const;
    await withTimedFaults({ script: [rule], simulator: { fleet } }, async (bench) => {
      await bench.advance(untilMs);
      const least = (await bench.scrape()).value(budgetOf, production);
      const last = bench.faulty.faults.hits().at(-1)?.request.monotonicMs ?? NaN;
      await bench.advance(last + 5 * minuteMs - untilMs - 1000);
      const before = (await bench.scrape()).value(budgetOf, production);
      await bench.advance(2000);
      const after = (await bench.scrape()).value(budgetOf, production);

      expect(bench.faulty.faults.hits().length).toBeGreaterThan(11);
      expect(least).toBe(80);
      expect([before, after]).toEqual([656, 800]);
      const pauses = bench.logs('rate limited by New Relic');
      expect(pauses).toHaveLength(1);
      expect(bench.logs('no longer rate limited by New Relic')).toHaveLength(1);
    });
  });
});

describe('4.1 a 429 of NerdGraph', () => {
  it.each(pauseRows.slice(2))('keeps the whole account away, and no other: $what', async (row) => {
    await expect(expectPaused(byNerdGraph, row)).resolves.toBeUndefined();
  });
});
