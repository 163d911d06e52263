import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { eachAfter, slow } from '../support/slow.ts';
import { type TimedBench, type VendorOptions, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { sources } from './sources.ts';
import {
  beforeDiscoveryMs,
  betweenDiscoveriesMs,
  everyone,
  expectSameRhythm,
  pollTimes,
} from './wall-clock.ts';

const production = { account: 'production' };

describe.each(sources)('$name', (source) => {
  describe('a wall clock that jumps', () => {
    eachAfter(1, [
      { hours: 1, jumpAtMs: beforeDiscoveryMs },
      { hours: -1, jumpAtMs: betweenDiscoveriesMs },
    ])(
      'by $hours h at $jumpAtMs ms changes neither the rhythm of the polls nor what is held',
      async (jump) => {
        await expect(expectSameRhythm(source, jump)).resolves.toBeUndefined();
      },
    );
  });

  describe('a Date of the vendor that is wrong', () => {
    const yearMs = 365 * 24 * hourMs;
    const differ = "New Relic's clock and this machine's differ";
    const agree = "New Relic's clock and this machine's agree again";
    /** How long before the vendor's time the windows end that were asked for since the third minute. */
    const windowAgesMs = ({ faulty }: TimedBench): readonly number[] =>
      source
        .allWindows(faulty.simulator.journal.entries())
        .filter(({ atMonotonicMs }) => atMonotonicMs > 3 * minuteMs)
        .map(({ ageMs }) => ageMs);

    /** Everything else about the answers is right. */
    const dated =
      (aheadMsAt: (nowMs: number) => number): NonNullable<VendorOptions['network']> =>
      (wire, clock) => ({
        ...wire,
        send: async (...call) => {
          const answer = await wire.send(...call);
          const dateMs = clock.wallMs() + aheadMsAt(clock.monotonicMs());
          return {
            ...answer,
            headers: { ...answer.headers, date: new Date(dateMs).toUTCString() },
          };
        },
      });

    eachAfter(1, [{ aheadMs: yearMs }, { aheadMs: -yearMs }])(
      'by a year moves no window, and is warned of once: $aheadMs ms',
      async ({ aheadMs }) => {
        await withTimedFaults(
          { source: source.account, network: dated(() => aheadMs) },
          async (bench) => {
            await bench.advance(10 * minuteMs);
            const page = await bench.scrape();

            const ages = windowAgesMs(bench);
            expect(freshness(page, bench.clock)).toEqual(everyone);
            expect(ages.length).toBeGreaterThan(12);
            expect(Math.min(...ages)).toBeGreaterThanOrEqual(3 * minuteMs);
            expect(Math.max(...ages)).toBeLessThanOrEqual(5 * minuteMs);
            expect(bench.logs(differ)).toMatchObject([
              {
                level: 'warn',
                problem: expect.stringContaining(
                  `365 d ${aheadMs > 0 ? 'ahead' : 'behind'}`,
                ) as unknown,
              },
            ]);
            expect(bench.daemon.status()[0]?.clockSkew?.isBelieved).toBe(false);
          },
        );
      },
    );

    it('and another one on every answer moves no window', slow, async () => {
      // Months apart.
      const network = dated(
        (nowMs) => (((Math.floor(nowMs / 100) * 7) % 23) - 11) * 30 * 24 * hourMs,
      );
      await withTimedFaults(
        { source: source.account, network, simulator: { latencyMs: [80, 400] } },
        async (bench) => {
          await bench.advance(10 * minuteMs);
          const page = await bench.scrape();

          const ages = windowAgesMs(bench);
          expect(Math.min(...ages)).toBeGreaterThanOrEqual(3 * minuteMs);
          expect(Math.max(...ages)).toBeLessThanOrEqual(5 * minuteMs);
          expect(freshness(page, bench.clock)).toEqual(everyone);
        },
      );
    });

    it(
      'by a difference that grows slowly is warned of once, when it begins to matter',
      slow,
      async () => {
        const network = dated((nowMs) => -26_000 - nowMs / 450);
        const simulator = { latencyMs: [80, 1500] as const };
        await withTimedFaults({ source: source.account, network, simulator }, async (bench) => {
          await bench.advance(60 * minuteMs);

          expect(bench.logs(differ)).toHaveLength(1);
          expect(bench.logs(agree)).toEqual([]);
        });
      },
    );

    it('by an hour is followed, warned of once and shown', async () => {
      await withTimedFaults({ source: source.account, clockOffsetMs: hourMs }, async (bench) => {
        await bench.advance(10 * minuteMs);
        const page = await bench.scrape();

        const ages = windowAgesMs(bench);
        expect(Math.min(...ages)).toBeGreaterThanOrEqual(3 * minuteMs);
        expect(Math.max(...ages)).toBeLessThanOrEqual(5 * minuteMs);
        expect(freshness(page, bench.clock)).toEqual(everyone);
        expect(bench.logs(differ)).toHaveLength(1);
        const { ms = 0, isBelieved } = bench.daemon.status()[0]?.clockSkew ?? {};
        expect([ms / 1000, isBelieved]).toEqual([expect.closeTo(3600, -1), true]);
        expect(bench.daemon.status()[1]?.clockSkew).toBeUndefined();
      });
    });
  });

  describe('a clock of this machine that is wrong from the start', () => {
    it.each([
      { clockOffsetMs: 3 * minuteMs },
      { clockOffsetMs: -3 * minuteMs },
      { clockOffsetMs: -hourMs },
      { clockOffsetMs: 0 },
    ])('cuts no window, not even the first: by $clockOffsetMs ms', async ({ clockOffsetMs }) => {
      await withTimedFaults({ source: source.account, clockOffsetMs }, async (bench) => {
        await bench.advance(30_000);
        const page = await bench.scrape();

        const { journal } = bench.faulty.simulator;
        const ages = source.allWindows(journal.entries()).map(({ ageMs }) => ageMs);
        expect(ages.length).toBeGreaterThan(0);
        expect(Math.min(...ages)).toBeGreaterThanOrEqual(3 * minuteMs);
        expect(Math.max(...ages)).toBeLessThanOrEqual(5 * minuteMs);
        expect(freshness(page, bench.clock)).toEqual(everyone);
        const listCalls = page.value('newrelic_exporter_api_requests_total', {
          ...production,
          operation: 'list_applications',
          code: '200',
        });
        expect(listCalls).toBe(1);
      });
    });

    it('is believed within two polls when only the first answer contradicts it', async () => {
      let answers = 0;
      const network: VendorOptions['network'] = (wire, clock) => ({
        ...wire,
        send: async (...call) => {
          const answer = await wire.send(...call);
          answers += 1;
          const dateMs = clock.wallMs() - (answers === 1 ? hourMs : 0);
          const date = new Date(dateMs).toUTCString();
          return { ...answer, headers: { ...answer.headers, date } };
        },
      });
      await withTimedFaults({ source: source.account, network }, async (bench) => {
        await bench.advance(3 * minuteMs);

        const { journal } = bench.faulty.simulator;
        const ages = source
          .allWindows(journal.entries())
          .filter(({ atMonotonicMs }) => atMonotonicMs > 50_000)
          .map(({ ageMs }) => ageMs);
        expect(ages.length).toBeGreaterThan(3);
        expect(Math.min(...ages)).toBeGreaterThanOrEqual(3 * minuteMs);
        expect(Math.max(...ages)).toBeLessThanOrEqual(5 * minuteMs);
      });
    });
  });

  describe('a machine that sleeps for an hour', () => {
    it('polls each application when it wakes, not once for each minute missed', async () => {
      await withTimedFaults({ source: source.account }, async (bench) => {
        await bench.advance(5 * minuteMs);
        bench.suspend(hourMs);
        const wokeAtMs = bench.clock.monotonicMs();
        await bench.advance(2 * minuteMs);
        const page = await bench.scrape();

        expect(pollTimes(source, bench, wokeAtMs).length).toBeGreaterThanOrEqual(2);
        expect(pollTimes(source, bench, wokeAtMs).length).toBeLessThanOrEqual(3);
        expect(freshness(page, bench.clock)).toEqual(everyone);
        expect(bench.logs('poll failed')).toEqual([]);
      });
    });

    it('keeps the values of a poll that was under way, and does not count it as late once it has ended', async () => {
      const simulator = { latencyMs: 4000 };
      await withTimedFaults({ source: source.account, simulator }, async (bench) => {
        await bench.advance(5 * minuteMs);
        const askedMs = bench.clock.monotonicMs();
        const isAsked = (): boolean => pollTimes(source, bench, askedMs).length > 0;
        for (let step = 0; step < 60 && !isAsked(); step += 1) await bench.advance(1000);
        bench.suspend(hourMs);
        await bench.advance(2 * minuteMs);
        const page = await bench.scrape();

        const dropped = bench.logs('values dropped').map((line) => [line.account, line.app_id]);
        expect(dropped).not.toContainEqual(['production', '101']);
        expect(freshness(page, bench.clock)).toEqual(everyone);
      });
    });
  });

  describe('what is asked of the vendor', () => {
    it(
      'is a whole window of complete minutes, one for all calls of a poll, however slow they are',
      slow,
      async () => {
        const simulator = { latencyMs: [15_000, 28_000] as const };
        await withTimedFaults({ source: source.account, simulator }, async (bench) => {
          await bench.advance(20 * minuteMs);

          const calls = source.allWindows(bench.faulty.simulator.journal.entries());
          expect(calls.length).toBeGreaterThan(35);
          expect(calls.filter(({ toMs }) => toMs % minuteMs !== 0)).toEqual([]);
          expect(calls.filter(({ fromMs, toMs }) => toMs - fromMs !== 5 * minuteMs)).toEqual([]);
          expect(Math.min(...calls.map(({ ageMs }) => ageMs))).toBeGreaterThanOrEqual(3 * minuteMs);
          expect(Math.max(...calls.map(({ ageMs }) => ageMs))).toBeLessThan(5 * minuteMs);
        });
      },
    );
  });

  describe('a poll that takes longer than the interval', () => {
    it('is never doubled: the ones between are left out and counted', async () => {
      const options = {
        source: source.account,
        simulator: { latencyMs: 25_000 },
        account: { concurrency: 1 },
        entries: [{ selector: { kind: 'id', id: '101' }, poll: { intervalMs: 20_000 } }],
      } as const;
      await withTimedFaults(options, async (bench) => {
        await bench.advance(12 * minuteMs);
        const page = await bench.scrape();

        const times = pollTimes(source, bench, 0);
        const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
        expect(times.length).toBeGreaterThan(6);
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(source.calls.poll * 25_000);
        expect(page.total('newrelic_exporter_polls_skipped_total', production)).toBeGreaterThan(10);
        expect(page.value('newrelic_application_poll_success', production)).toBe(1);
      });
    });
  });
});

describe('an account that changes under a poll of the REST API', () => {
  const slowVendor = { simulator: { latencyMs: 8000 } } as const;

  it('never shows an application under two names', async () => {
    await withTimedFaults(slowVendor, async (bench) => {
      const names: (string | undefined)[][] = [];
      let shown: unknown;
      for (let step = 0; step < 60; step += 1) {
        if (step === 20) bench.faulty.simulator.fleet.renameApplication(101, 'store');
        await bench.advance(5000);
        const now = await bench.daemon.store.page();
        // The same object while nothing changes.
        if (now === shown) continue;
        shown = now;
        const page = await bench.scrape();
        const series = [
          ...page.series('newrelic_application_requests_per_minute', {
            ...production,
            app_id: '101',
          }),
          ...page.series('newrelic_application_info', { ...production, app_id: '101' }),
        ];
        names.push([...new Set(series.map(({ app_name: name }) => name))]);
      }

      const seen = names.filter((one) => one.length > 0);
      expect(seen.every((one) => one.length === 1)).toBe(true);
      expect([...new Set(seen.flat())]).toEqual(['shop', 'store']);
      expect(bench.faulty.simulator.fleet.application(101)?.name).toBe('store');
    });
  });

  it('drops an application and a host that vanish while they are asked for', async () => {
    await withTimedFaults(slowVendor, async (bench) => {
      const { fleet, journal } = bench.faulty.simulator;
      await bench.advance(3 * minuteMs);
      for (let waited = 0; bench.faulty.simulator.inFlight() === 0 && waited < 120; waited += 1) {
        await bench.advance(1000);
      }
      const inFlight = bench.faulty.simulator.inFlight();
      fleet.removeApplication(102);
      fleet.removeHost(101, 1012, 0);
      await bench.advance(3 * minuteMs);
      const page = await bench.scrape();

      const hosts = page.series('newrelic_application_host_requests_per_minute', production);
      expect(inFlight).toBeGreaterThan(0);
      expect(journal.count()).toBeGreaterThan(20);
      expect(page.series('newrelic_application_info', { ...production, app_id: '102' })).toEqual(
        [],
      );
      expect(new Set(hosts.map(({ host_id: id }) => id))).toEqual(new Set(['1011']));
      expect(freshness(page, bench.clock)).toContain('production 101');
    });
  });

  it('lets a large application wait for its share, and no small one', slow, async () => {
    const simulator = {
      fleet: {
        applications: [
          { id: 101, name: 'large', kind: 'web' as const, webRpm: 50_000, hosts: 200 },
          { id: 102, name: 'small', kind: 'web' as const, webRpm: 100, hosts: [{ id: 1 }] },
        ],
      },
      latencyMs: 100,
    };
    await withTimedFaults({ simulator, account: { requestsPerMinute: 100 } }, async (bench) => {
      await bench.advance(9 * minuteMs);
      const page = await bench.scrape();

      const small = bench.faulty.simulator.journal
        .entries(({ path }) => path === '/v2/applications/102/metrics/data.json')
        .map(({ monotonicMs }) => monotonicMs);
      const gaps = small.slice(1).map((time, index) => time - (small[index] ?? 0));
      const demand =
        page.value('newrelic_exporter_api_demand_requests_per_minute', production) ?? 0;
      expect(demand).toBeGreaterThan(200);
      expect(Math.max(...gaps)).toBeLessThan((1.2 * minuteMs * demand) / 100);
      expect(
        page.series('newrelic_application_host_requests_per_minute', {
          ...production,
          app_id: '101',
        }),
      ).toHaveLength(200);
    });
  });
});
