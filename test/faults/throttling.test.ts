import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import type { ThrottleHint } from '../../src/simulator/fault.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { manyApplications, type VendorOptions, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { sources } from './sources.ts';

const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const reset = 'X-RateLimit-Reset';
const failureInfo = 'newrelic_application_poll_failure_info';
const legacy = 'NewRelic-OverloadProtection-Reset';
const retryAfter = 'Retry-After';

interface Row {
  readonly what: string;
  readonly hints: readonly ThrottleHint[];
  readonly pauseMs: number;
  readonly body?: string;
  readonly clockOffsetMs?: number;
  /** How long the 429 is on its way. */
  readonly lateMs?: number;
  /** Whether it lowers what is sent afterwards. Default: false. */
  readonly isReduced?: boolean;
}

/** A network on which a 429 takes so long to arrive. */
function slowTo429(lateMs: number): NonNullable<VendorOptions['network']> {
  return (wire, clock) => ({
    ...wire,
    send: async (request, headers, signal) => {
      const answer = await wire.send(request, headers, signal);
      if (answer.status === 429) await sleep(clock, lateMs, signal);
      return answer;
    },
  });
}

/** What other headers mean is the matter of `pauseOf`. */
const rows: readonly Row[] = [
  { what: 'no header and a page', hints: [], pauseMs: 60_000, body: '<html>busy</html>' },
  {
    what: `${reset}, on a clock two minutes behind`,
    hints: [{ header: reset, inSeconds: 30 }],
    pauseMs: 30_500,
    clockOffsetMs: -2 * minuteMs,
    isReduced: true,
  },
  {
    what: `${reset}, in an answer that arrives 20 seconds late`,
    hints: [{ header: reset, inSeconds: 30 }],
    pauseMs: 30_500,
    lateMs: 20_000,
    isReduced: true,
  },
  {
    what: `${retryAfter} with a date, on a clock an hour ahead`,
    hints: [{ header: retryAfter, inSeconds: 40, form: 'date' }],
    pauseMs: 40_500,
    clockOffsetMs: hourMs,
  },
  { what: `${retryAfter} of 0`, hints: [{ header: retryAfter, text: '0' }], pauseMs: 1000 },
  {
    what: `${retryAfter} of a day`,
    hints: [{ header: retryAfter, text: '86400' }],
    pauseMs: 300_000,
  },
  { what: 'the older header', hints: [{ header: legacy, inSeconds: 45 }], pauseMs: 45_500 },
];

describe.each(sources)('$name', (source) => {
  const apart = { source: source.account, entries: source.apart };

  describe('4.1 a 429', () => {
    it.each(rows)('keeps the whole account away, and no other: $what', async (row) => {
      const { hints, pauseMs, body, clockOffsetMs = 0, lateMs = 0, isReduced = false } = row;
      const rule = {
        when: {
          ...source.pollsOf('102'),
          fromMs: 2 * minuteMs,
          calls: { last: 1 },
        },
        fault: { kind: 'throttled', hints, body },
      } satisfies FaultRule;
      await withTimedFaults(
        {
          ...apart,
          script: [rule],
          clockOffsetMs,
          network: slowTo429(lateMs),
          simulator: { ingestDelayMs: 0 },
        },
        async (bench) => {
          await bench.advance(3 * minuteMs);
          const during = bench.daemon.status().find(({ name }) => name === 'production');
          const sinceMs = bench.clock.wallMs() - (during?.refusals?.lastMs ?? NaN);
          await bench.advance(9 * minuteMs);
          const page = await bench.scrape();

          const { faults, simulator } = bench.faulty;
          expect(during).toMatchObject({
            state: 'degraded',
            refusals: { calls: 1 },
            isReduced,
          });
          expect(sinceMs).toBeGreaterThanOrEqual(0);
          expect(sinceMs).toBeLessThanOrEqual(minuteMs);
          expect(bench.daemon.status().map(({ state }) => state)).toEqual(['up', 'up']);
          const hitMs = faults.hits()[0]?.request.monotonicMs ?? NaN;
          const later = simulator.journal.entries(
            ({ monotonicMs }) => monotonicMs > hitMs + lateMs,
          );
          const others = bench.vendors[1]?.simulator.journal.count(
            ({ monotonicMs }) => monotonicMs > hitMs && monotonicMs < hitMs + 2 * minuteMs,
          );
          expect(faults.hits()).toHaveLength(1);
          expect(Math.abs((later[0]?.monotonicMs ?? NaN) - hitMs - pauseMs)).toBeLessThanOrEqual(1);
          expect(others).toBeGreaterThan(source.calls.poll);
          expect(
            page.value('newrelic_exporter_api_throttled_total', { account: 'production' }),
          ).toBe(1);
          expect(freshness(page, bench.clock)).toEqual(everyone);
        },
      );
    });

    it('that comes back again and again is the reason of every poll that waits', async () => {
      const script: readonly FaultRule[] = [
        {
          when: { fromMs: 3 * minuteMs, period: { everyMs: 30_000, lengthMs: 20_000 } },
          fault: { kind: 'throttled', hints: [{ header: reset, inSeconds: 20 }] },
        },
      ];
      const fleet = { applications: manyApplications(12, 4) };
      const simulator = { ingestDelayMs: 0, fleet, latencyMs: 500 };
      await withTimedFaults({ ...apart, script, simulator }, async (bench) => {
        const reasons = new Set<string | undefined>();
        for (let seconds = 0; seconds < 900; seconds += 5) {
          await bench.advance(5000);
          for (const { failure } of bench.daemon.applications()) reasons.add(failure?.reason);
        }

        // NerdGraph asks so rarely that no poll has to wait.
        const isWaiting = source.account.kind === 'rest';
        expect([...reasons]).toEqual(isWaiting ? [undefined, 'throttled'] : [undefined]);
      });
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
        await bench.advance(1.75 * minuteMs);
        const late = await bench.scrape();
        await bench.advance(3.25 * minuteMs);
        const after = await bench.scrape();

        const [hit] = bench.faulty.faults.hits();
        expect(during.value(backoff, production)).toBeCloseTo(
          (hit?.request.wallMs ?? 0) / 1000 + 240.5,
          2,
        );
        expect(during.series(rpm, production)).toHaveLength(3);
        // Polls that were due wait for the end of the pause.
        const reasons = late.series(failureInfo, production).map(({ reason }) => reason);
        expect(reasons).toEqual(['throttled', 'throttled']);
        expect(after.series(failureInfo)).toEqual([]);
        expect(after.value(backoff, production)).toBe(0);
        expect(freshness(after, bench.clock)).toEqual(everyone);
      });
    });
  });
});

describe('4.2 somebody else who uses up the quota of the REST API', () => {
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
