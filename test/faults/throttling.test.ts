import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { ThrottleHint } from '../../src/simulator/fault.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { slow } from '../support/slow.ts';
import { manyApplications, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { sources } from './sources.ts';
import { expectPaused, pauseRows } from './throttled-accounts.ts';

const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const reset = 'X-RateLimit-Reset';
const failureInfo = 'newrelic_application_poll_failure_info';
const retryAfter = 'Retry-After';

describe.each(sources)('$name', (source) => {
  const apart = { source: source.account, entries: source.apart };

  describe('4.1 a 429', () => {
    it.each(source.account.kind === 'rest' ? pauseRows : pauseRows.slice(0, 2))(
      'keeps the whole account away, and no other: $what',
      async (row) => {
        await expect(expectPaused(source, row)).resolves.toBeUndefined();
      },
    );

    it('that comes back again and again is the reason of every poll that waits', slow, async () => {
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

    it('is shown while it lasts, and holds the values', slow, async () => {
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
  it(
    'draws a handful of refusals, and the account is well again two minutes after',
    slow,
    async () => {
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
    },
  );

  it('leaves us what is left, without a storm, for as long as it takes', slow, async () => {
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
