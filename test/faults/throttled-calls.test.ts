import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { slow } from '../support/slow.ts';
import { manyApplications, type VendorOptions, withTimedFaults } from './fault-bench.ts';

const production = { account: 'production' };

interface Refusal {
  /** How long the 429 takes. */
  readonly afterMs: number;
  readonly pauseSeconds: number;
  /** Whether it names the limit of the key. */
  readonly isOfKey?: boolean;
}

/** A network on which the first calls for values after two minutes are refused, and when each 429 arrived. */
function refusing(refusals: readonly Refusal[]): {
  readonly network: NonNullable<VendorOptions['network']>;
  readonly arrivedMs: readonly number[];
} {
  const arrivedMs: number[] = [];
  let sent = 0;
  return {
    arrivedMs,
    network: (wire, clock): RawTransport => ({
      ...wire,
      send: async (request, headers, signal) => {
        const isMeant =
          clock.monotonicMs() >= 2 * minuteMs && request.operation.endsWith('_metrics');
        const refusal = isMeant ? refusals[sent] : undefined;
        if (refusal === undefined) return wire.send(request, headers, signal);
        sent += 1;
        await sleep(clock, refusal.afterMs, signal);
        arrivedMs.push(clock.monotonicMs());
        const limit = refusal.isOfKey === true ? { 'x-ratelimit-remaining': '0' } : {};
        const asked = { 'retry-after': `${refusal.pauseSeconds}` };
        return { status: 429, headers: { ...limit, ...asked }, body: '' };
      },
    }),
  };
}

describe('4.1 a pause that a 429 asks for', () => {
  it('is not made shorter by a later 429 that asks for a shorter one', async () => {
    const { network, arrivedMs } = refusing([
      { afterMs: 100, pauseSeconds: 60 },
      { afterMs: 1000, pauseSeconds: 5 },
    ]);
    await withTimedFaults({ network }, async (bench) => {
      await bench.advance(3.5 * minuteMs);

      const [firstMs = Number.NaN, secondMs = Number.NaN] = arrivedMs;
      expect(secondMs - firstMs).toBeLessThan(5000);
      const { journal } = bench.faulty.simulator;
      const [next] = journal.entries(({ monotonicMs }) => monotonicMs > secondMs);
      expect((next?.monotonicMs ?? 0) - firstMs).toBe(60_500);
    });
  });

  it('4.3 keeps a poll waiting, which counts as failing when it is late', async () => {
    const { network, arrivedMs } = refusing([{ afterMs: 100, pauseSeconds: 240 }]);
    const entries = [{ hosts: false }];
    await withTimedFaults({ network, entries }, async (bench) => {
      await bench.advance(5 * minuteMs);
      const page = await bench.scrape();

      expect(arrivedMs).toHaveLength(1);
      expect(page.series('newrelic_application_poll_failure_info', production)).toMatchObject([
        { reason: 'throttled' },
        { reason: 'throttled' },
      ]);
    });
  });

  it(
    'ends with calls that go evenly, not with a burst of all that became due in it',
    slow,
    async () => {
      const { network, arrivedMs } = refusing([{ afterMs: 100, pauseSeconds: 60 }]);
      const simulator = { fleet: { applications: manyApplications(60, 1) } };
      await withTimedFaults({ network, simulator, entries: [{ hosts: false }] }, async (bench) => {
        await bench.advance(3.5 * minuteMs);

        const fromMs = (arrivedMs[0] ?? Number.NaN) + 60_500;
        const { journal } = bench.faulty.simulator;
        const within = (ms: number): number =>
          journal.count(({ monotonicMs }) => monotonicMs >= fromMs && monotonicMs < fromMs + ms);
        // 800 a minute.
        expect(within(1500)).toBeLessThanOrEqual(21);
        expect(within(20_000)).toBeGreaterThanOrEqual(60);
      });
    },
  );
});

describe('4.2 two 429s that name the limit of the key', () => {
  it('halve it once if both calls were sent before the pause: that is one trouble', async () => {
    const { network, arrivedMs } = refusing([
      { afterMs: 100, pauseSeconds: 1, isOfKey: true },
      { afterMs: 20_000, pauseSeconds: 1, isOfKey: true },
    ]);
    await withTimedFaults({ network }, async (bench) => {
      await bench.advance(2.75 * minuteMs);
      const [status] = bench.daemon.status();

      expect(arrivedMs).toHaveLength(2);
      expect(status).toMatchObject({ requestsPerMinute: 800, budgetRequestsPerMinute: 400 });
    });
  });
});
