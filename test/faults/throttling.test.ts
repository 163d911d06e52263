import { describe, expect, it } from 'vitest';
import type { ThrottleHint } from '../../src/simulator/fault.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { sources } from './sources.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const reset = 'X-RateLimit-Reset';
const legacy = 'NewRelic-OverloadProtection-Reset';
const retryAfter = 'Retry-After';

interface Row {
  readonly what: string;
  readonly hints: readonly ThrottleHint[];
  readonly pauseMs: number;
  readonly body?: string;
  readonly clockOffsetMs?: number;
}

const rows: readonly Row[] = [
  { what: 'no header', hints: [], pauseMs: 60_000 },
  { what: 'no header and a page', hints: [], pauseMs: 60_000, body: '<html>busy</html>' },
  { what: reset, hints: [{ header: reset, inSeconds: 30 }], pauseMs: 30_500 },
  {
    what: `${reset}, on a clock an hour ahead`,
    hints: [{ header: reset, inSeconds: 30 }],
    pauseMs: 30_500,
    clockOffsetMs: hourMs,
  },
  {
    what: `${reset}, on a clock two minutes behind`,
    hints: [{ header: reset, inSeconds: 30 }],
    pauseMs: 30_500,
    clockOffsetMs: -2 * minuteMs,
  },
  { what: 'a reset that has passed', hints: [{ header: reset, inSeconds: -50 }], pauseMs: 1000 },
  {
    what: 'a reset in milliseconds',
    hints: [{ header: reset, text: '1788256800000' }],
    pauseMs: 60_000,
  },
  { what: 'a reset that is a word', hints: [{ header: reset, text: 'soon' }], pauseMs: 60_000 },
  { what: 'an endless reset', hints: [{ header: reset, text: '1e999' }], pauseMs: 60_000 },
  { what: 'a reset in two hours', hints: [{ header: reset, inSeconds: 7200 }], pauseMs: 300_000 },
  {
    what: `${retryAfter} in seconds`,
    hints: [{ header: retryAfter, inSeconds: 20, form: 'seconds' }],
    pauseMs: 20_500,
  },
  {
    what: `${retryAfter} with a date`,
    hints: [{ header: retryAfter, inSeconds: 40, form: 'date' }],
    pauseMs: 40_500,
  },
  {
    what: `${retryAfter} with a date, on a clock an hour ahead`,
    hints: [{ header: retryAfter, inSeconds: 40, form: 'date' }],
    pauseMs: 40_500,
    clockOffsetMs: hourMs,
  },
  { what: `${retryAfter} of 0`, hints: [{ header: retryAfter, text: '0' }], pauseMs: 1000 },
  { what: `${retryAfter} below 0`, hints: [{ header: retryAfter, text: '-5' }], pauseMs: 1000 },
  {
    what: `${retryAfter} of a day`,
    hints: [{ header: retryAfter, text: '86400' }],
    pauseMs: 300_000,
  },
  { what: 'the older header', hints: [{ header: legacy, inSeconds: 45 }], pauseMs: 45_500 },
  {
    what: 'all three, the first of which is no use',
    hints: [
      { header: reset, text: '' },
      { header: retryAfter, inSeconds: 15, form: 'seconds' },
      { header: legacy, inSeconds: 45 },
    ],
    pauseMs: 15_500,
  },
];

describe.each(sources)('$name', (source) => {
  const apart = { source: source.account, entries: source.apart };

  describe('a 429', () => {
    it.each(rows)('keeps the whole account away, and no other: $what', async (row) => {
      const { hints, pauseMs, body, clockOffsetMs = 0 } = row;
      const rule = {
        when: {
          ...source.pollsOf('102'),
          fromMs: 2 * minuteMs,
          calls: { last: 1 },
        },
        fault: { kind: 'throttled', hints, body },
      } satisfies FaultRule;
      await withTimedFaults(
        { ...apart, script: [rule], clockOffsetMs, simulator: { ingestDelayMs: 0 } },
        async (bench) => {
          await bench.advance(12 * minuteMs);
          const page = await bench.scrape();

          const { faults, simulator } = bench.faulty;
          const hitMs = faults.hits()[0]?.request.monotonicMs ?? NaN;
          const later = simulator.journal.entries(({ monotonicMs }) => monotonicMs > hitMs);
          const others = bench.vendors[1]?.simulator.journal.count(
            ({ monotonicMs }) => monotonicMs > hitMs && monotonicMs < hitMs + 2 * minuteMs,
          );
          expect(faults.hits()).toHaveLength(1);
          expect(Math.abs((later[0]?.monotonicMs ?? NaN) - hitMs - pauseMs)).toBeLessThanOrEqual(1);
          expect(others).toBeGreaterThanOrEqual(4);
          expect(
            page.value('newrelic_exporter_api_throttled_total', { account: 'production' }),
          ).toBe(1);
          expect(freshness(page, bench.clock)).toEqual(everyone);
        },
      );
    });

    it('is shown while it lasts, and holds the values', async () => {
      const hints: readonly ThrottleHint[] = [
        { header: retryAfter, inSeconds: 240, form: 'seconds' },
      ];
      const rule = {
        when: { fromMs: 2 * minuteMs, calls: { last: 1 } },
        fault: { kind: 'throttled', hints },
      } as const;
      await withTimedFaults({ ...apart, script: [rule] }, async (bench) => {
        const production = { account: 'production' };
        const backoff = 'newrelic_exporter_api_backoff_until_timestamp_seconds';
        const rpm = 'newrelic_application_requests_per_minute';

        await bench.advance(4 * minuteMs);
        const during = await bench.scrape();
        await bench.advance(5 * minuteMs);
        const after = await bench.scrape();

        const [hit] = bench.faulty.faults.hits();
        expect(during.value(backoff, production)).toBeCloseTo(
          (hit?.request.wallMs ?? 0) / 1000 + 240.5,
          2,
        );
        expect(during.series(rpm, production)).toHaveLength(3);
        expect(after.value(backoff, production)).toBe(0);
        expect(freshness(after, bench.clock)).toEqual(everyone);
      });
    });
  });
});

describe('somebody else who uses up the quota of the REST API', () => {
  it('draws a handful of refusals, and the account is well again two minutes after', async () => {
    const hints: readonly ThrottleHint[] = [{ header: reset, inSeconds: 60 }];
    const rule = {
      when: { fromMs: 2 * minuteMs, untilMs: 5 * minuteMs },
      fault: { kind: 'throttled', hints },
    } as const;
    const simulator = { fleet: { applications: 20, hosts: 60 }, latencyMs: [80, 400] as const };
    await withTimedFaults({ script: [rule], simulator }, async (bench) => {
      await bench.advance(7 * minuteMs);
      const page = await bench.scrape();

      const hits = bench.faulty.faults.hits().map(({ request }) => request.monotonicMs);
      const fresh = freshness(page, bench.clock).filter((name) => name.startsWith('production'));
      expect(hits.length).toBeGreaterThanOrEqual(3);
      expect(hits.length).toBeLessThanOrEqual(3 * 8);
      expect(
        bench.faulty.simulator.journal.count(
          ({ monotonicMs }) => monotonicMs > 3 * minuteMs && monotonicMs < 5 * minuteMs,
        ),
      ).toBeLessThanOrEqual(2 * 8);
      expect(fresh).toHaveLength(20);
    });
  });

  it('leaves us what is left, without a storm, for as long as it takes', async () => {
    const simulator = {
      fleet: { applications: 10, hosts: 50 },
      latencyMs: [80, 400] as const,
      quotaPerMinute: 40,
    };
    await withTimedFaults({ simulator, quotaIsShared: true }, async (bench) => {
      await bench.advance(30 * minuteMs);
      const page = await bench.scrape();

      const { journal } = bench.faulty.simulator;
      const refused = journal.count(({ status }) => status === 429);
      const served = journal.count(({ status }) => status === 200);
      expect(refused).toBeGreaterThan(0);
      expect(refused).toBeLessThanOrEqual(30 * 8);
      expect(served).toBeGreaterThan(30 * 40 * 0.8);
      expect(page.value('newrelic_up', { account: 'production' })).toBe(1);
      expect(
        page.series('newrelic_application_requests_per_minute', { account: 'production' }).length,
      ).toBeGreaterThan(9);
    });
  });
});

describe('a short spell of 429s of the REST API without a shortage', () => {
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
      // Short pauses: three lines, then one a minute.
      const pauses = bench.logs('rate limited by the vendor, pausing the account');
      expect(pauses.length).toBeLessThanOrEqual(3 + 3);
      expect(bench.logs('the full limit of the key is in force again')).toHaveLength(1);
    });
  });
});
