import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { type FaultBench, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { sources } from './sources.ts';

const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const production = { account: 'production' };

/** Of how many subjects the lines with this message tell. */
function countedIn(bench: FaultBench, message: string): number {
  const counts = bench
    .logs(message)
    .filter(({ account }) => account === 'production')
    .map(({ count = 1, suppressed = 0 }) => Number(count) + Number(suppressed));
  return counts.reduce((sum, one) => sum + one, 0);
}

describe.each(sources)('$name', (source) => {
  describe('a vendor that fails for an hour', () => {
    const when = { fromMs: 5 * minuteMs, untilMs: 5 * minuteMs + hourMs };

    it.each([
      { what: '500', fault: { kind: 'status', status: 500 } },
      { what: '503 with a page', fault: { kind: 'status', status: 503, body: '<p>busy</p>' } },
      { what: 'silence', fault: { kind: 'silence' } },
    ] as const)(
      'is tried three times as often at most, and polled as ever a minute after: $what',
      async ({ fault }) => {
        await withTimedFaults(
          { source: source.account, script: [{ when, fault }] },
          async (bench) => {
            await bench.advance(5 * minuteMs);
            const { journal } = bench.faulty.simulator;
            const usual = journal.count(({ monotonicMs }) => monotonicMs >= minuteMs) / 4;
            // A poll that is due at the end finds everything well again.
            await bench.advance(hourMs - 1000);
            const during = await bench.scrape();
            const hits = bench.faulty.faults.hits().length;
            await bench.advance(1.25 * minuteMs + 1000);
            const after = await bench.scrape();
            const isAfter = ({ monotonicMs }: { readonly monotonicMs: number }): boolean =>
              monotonicMs >= when.untilMs;

            expect(hits).toBeGreaterThan(60);
            expect(hits).toBeLessThanOrEqual(3 * 60 * usual);
            expect(journal.maxInAnyWindow(minuteMs)).toBeLessThanOrEqual(4 * usual);
            expect(during.value('newrelic_up', production)).toBe(0);
            expect(during.series('newrelic_application_requests_per_minute', production)).toEqual(
              [],
            );
            // No poll that was missed is made up for.
            expect(journal.count(isAfter)).toBeLessThanOrEqual(4 * usual);
            expect(after.value('newrelic_up', production)).toBe(1);
            expect(freshness(after, bench.clock)).toEqual(everyone);
            // Of polls that fail as the list does, its line tells.
            expect(bench.logs('poll failed').length).toBeLessThanOrEqual(2);
            expect(countedIn(bench, 'values dropped')).toBe(2);
            expect(countedIn(bench, 'values are back')).toBe(2);
            expect(bench.logs('discovery failed')).toHaveLength(1);
            expect(bench.logs('discovery works again')).toHaveLength(1);
          },
        );
      },
    );
  });
});

describe('2.2 5.1 many applications that fail at once', () => {
  it('are some lines, which count all of them, and so is their recovery', async () => {
    const when = { fromMs: 5 * minuteMs, untilMs: 8 * minuteMs };
    const endpoints = ['application_metrics', 'host_metrics'] as const;
    const rule = { when: { ...when, endpoints }, fault: { kind: 'status', status: 500 } } as const;
    const simulator = { fleet: { applications: 50, hosts: 50 } };
    await withTimedFaults({ simulator, script: [rule] }, async (bench) => {
      await bench.advance(when.untilMs - 1000);
      const during = await bench.scrape();
      const polls = 'newrelic_application_poll_success';
      const failing = during.series(polls, production).length - during.total(polls, production);
      await bench.advance(4 * minuteMs);

      expect(failing).toBeGreaterThan(40);
      for (const message of ['poll failed', 'poll works again']) {
        const lines = bench.logs(message).filter(({ account }) => account === 'production');
        expect(lines.length).toBeLessThanOrEqual(5);
        expect(countedIn(bench, message)).toBe(failing);
      }
    });
  });
});

describe('two replicas with one key', () => {
  it('that have half of the budget each never draw a refusal', async () => {
    const simulator = { fleet: { applications: 30, hosts: 600 }, latencyMs: [80, 400] as const };
    const account = { requestsPerMinute: 490 };
    // The journal has the calls of both, which the check of one budget would refuse.
    await withTimedFaults({ simulator, account, replicas: 2 }, async (bench) => {
      const replica = await bench.startReplica();
      await bench.advance(12 * minuteMs);
      const page = await bench.scrape();
      const ofReplica = Buffer.concat((await replica.store.page()).identity).toString();

      const { journal } = bench.faulty.simulator;
      const perMinute = journal.count(({ monotonicMs }) => monotonicMs >= 2 * minuteMs) / 10;
      expect(
        page.value('newrelic_exporter_api_demand_requests_per_minute', production),
      ).toBeGreaterThan(490);
      expect(perMinute).toBeGreaterThan(900);
      expect(journal.count(({ status }) => status === 429)).toBe(0);
      expect(page.series('newrelic_application_info', production)).toHaveLength(30);
      expect(ofReplica.match(/^newrelic_application_info\{account="production"/gmu)).toHaveLength(
        30,
      );
    });
  });
});
