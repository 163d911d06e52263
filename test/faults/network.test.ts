import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/model/clock.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { apiErrorFrom } from '../../src/newrelic/calls/transport-errors.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { Readiness } from '../../src/web/routes.ts';
import { manyApplications, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { publishedOf } from './published-of.ts';
import { sources } from './sources.ts';

const inForce = { inForceSinceMs: 0, problem: undefined };
const everyone = ['neighbour 101', 'neighbour 102', 'production 101', 'production 102'];
const production = { account: 'production' };
const shop = { ...production, app_id: '101' };
const failures = 'newrelic_exporter_api_request_failures_total';
const retries = 'newrelic_exporter_api_request_retries_total';

const outages = [
  { code: 'ENOTFOUND', reason: 'dns' },
  { code: 'ECONNREFUSED', reason: 'connect' },
  { code: 'CERT_HAS_EXPIRED', reason: 'tls' },
  { code: 'EMFILE', reason: 'connect' },
] as const;

/** Fails each request of the time as Node.js would, and counts it. */
function outage(
  code: string,
  time: { readonly fromMs: number; readonly untilMs: number },
  failed: number[],
): (wire: RawTransport, clock: Clock) => RawTransport {
  return (wire, clock) => ({
    ...wire,
    send: async (request, headers, signal) => {
      const nowMs = clock.monotonicMs();
      if (nowMs < time.fromMs || nowMs >= time.untilMs) return wire.send(request, headers, signal);
      failed.push(nowMs);
      throw apiErrorFrom(
        Object.assign(new Error(`no way: ${code}`), { code }),
        'production.invalid',
      );
    },
  });
}

describe.each(sources)('$name', (source) => {
  describe('a network that is not there at the start', () => {
    it.each(outages)('delays the account and nothing else: $code', async ({ code, reason }) => {
      const failed: number[] = [];
      const network = outage(code, { fromMs: 0, untilMs: 5 * minuteMs }, failed);
      await withTimedFaults({ source: source.account, network }, async (bench) => {
        const readiness = new Readiness();
        const isReady = (): boolean =>
          readiness.answer(bench.daemon.status(), inForce).status === 200;

        await bench.advance(4 * minuteMs);
        const during = await bench.scrape();
        const readyDuring = isReady();
        const duringFresh = freshness(during, bench.clock);
        await bench.advance(3 * minuteMs);
        const after = await bench.scrape();

        expect(readyDuring).toBe(false);
        expect(during.value('newrelic_up', production)).toBe(0);
        expect(during.series('newrelic_application_info', production)).toEqual([]);
        expect(during.total(failures, { ...production, reason })).toBeGreaterThanOrEqual(7);
        // A bad certificate does not become better.
        const isRetried = during.total(retries, { ...production, reason }) > 0;
        expect(isRetried).toBe(reason !== 'tls');
        expect(duringFresh).toEqual(everyone.slice(0, 2));
        expect(failed.length).toBeLessThan(45);
        expect(isReady()).toBe(true);
        expect(freshness(after, bench.clock)).toEqual(everyone);
        expect(bench.logs('discovery failed')).toMatchObject([
          { ...production, error: { reason } },
        ]);
      });
    });

    it('is recovered from within seconds', async () => {
      const network = outage('ENOTFOUND', { fromMs: 0, untilMs: 3000 }, []);
      await withTimedFaults({ source: source.account, network }, async (bench) => {
        await bench.advance(10_000);

        expect(freshness(await bench.scrape(), bench.clock)).toEqual(everyone);
      });
    });
  });

  describe('5.1 a network that fails for five minutes', () => {
    it.each(outages)(
      'leaves the last good values and the other account alone: $code',
      async ({ code, reason }) => {
        const failed: number[] = [];
        const network = outage(code, { fromMs: 2 * minuteMs, untilMs: 7 * minuteMs }, failed);
        await withTimedFaults({ source: source.account, network }, async (bench) => {
          await bench.advance(1.9 * minuteMs);
          const before = await bench.scrape();
          await bench.advance(5 * minuteMs);
          const during = await bench.scrape();
          const duringFresh = freshness(during, bench.clock);
          await bench.advance(3 * minuteMs);
          const after = await bench.scrape();

          expect(during.value('newrelic_up', production)).toBe(0);
          expect(during.value('newrelic_application_poll_success', shop)).toBe(0);
          expect(publishedOf(during, shop)).toEqual(publishedOf(before, shop));
          expect(during.total(failures, { ...production, reason })).toBe(failed.length);
          expect(failed.length).toBeGreaterThanOrEqual(15);
          expect(duringFresh).toEqual(everyone.slice(0, 2));
          expect(freshness(after, bench.clock)).toEqual(everyone);
          expect(bench.logs('discovery failed')).toHaveLength(1);
          // What a list that fails alike explains has its line; polls that fail before it have their own.
          const [list] = bench.logs('discovery failed');
          const polls = bench.logs('poll failed').map(({ time }) => String(time));
          expect([0, 2]).toContain(polls.length);
          expect(polls.filter((time) => time > String(list?.['time']))).toEqual([]);
        });
      },
    );
  });

  describe('5.2 7 a vendor that says nothing', () => {
    const silence = {
      source: source.account,
      script: [{ fault: { kind: 'silence' } }],
    } as const;

    it('keeps no scrape waiting, and a scrape asks it nothing', async () => {
      await withTimedFaults(silence, async (bench) => {
        await bench.advance(10_000);
        const asked = bench.faulty.simulator.journal.count();
        const page = await bench.scrape();

        expect(asked).toBe(1);
        expect(bench.faulty.simulator.journal.count()).toBe(asked);
        expect(page.value('newrelic_exporter_api_requests_in_flight', production)).toBe(1);
        expect(page.value('newrelic_up', production)).toBe(0);
      });
    });

    it('does not keep the daemon from stopping at once', async () => {
      await withTimedFaults(silence, async (bench) => {
        await bench.advance(10_000);
        const inFlight = bench.faulty.simulator.inFlight();
        const stoppedAtMs = bench.clock.monotonicMs();
        await bench.stop();

        expect(inFlight).toBe(1);
        expect(bench.clock.monotonicMs()).toBe(stoppedAtMs);
        expect(bench.faulty.simulator.inFlight()).toBe(0);
        expect(bench.platform.clock.pendingTimers()).toBe(0);
      });
    });

    it('is given up after the timeout of the account, to the millisecond', async () => {
      await withTimedFaults({ ...silence, account: { timeoutMs: 7000 } }, async (bench) => {
        await bench.advance(6999);
        const before = bench.faulty.simulator.inFlight();
        await bench.advance(1);

        expect([before, bench.faulty.simulator.inFlight()]).toEqual([1, 0]);
      });
    });
  });
});

describe('5.1 an application whose calls hung for some minutes', () => {
  it('is asked with several calls at a time again once it is answered', async () => {
    const rule: FaultRule = {
      when: { applicationId: '1000', fromMs: 3 * minuteMs, untilMs: 6 * minuteMs },
      fault: { kind: 'silence' },
    };
    const simulator = { latencyMs: 1000, fleet: { applications: manyApplications(1, 12) } };
    const entries = [{ poll: { discoveryIntervalMs: 60 * minuteMs } }];
    await withTimedFaults({ script: [rule], simulator, entries }, async (bench) => {
      await bench.advance(12 * minuteMs);

      const mostAtOnce = (fromMinute: number, untilMinute: number): number =>
        bench.faulty.simulator.journal
          .entries(
            ({ monotonicMs: atMs }) =>
              atMs >= fromMinute * minuteMs && atMs < untilMinute * minuteMs,
          )
          .reduce((most, { inFlight }) => Math.max(most, inFlight), 0);
      expect(bench.faulty.faults.hits(rule).length).toBeGreaterThan(2);
      expect(mostAtOnce(5, 6)).toBe(1);
      expect(mostAtOnce(9, 12)).toBeGreaterThan(4);
    });
  });
});
