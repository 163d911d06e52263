import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { CustomMetric } from '../../src/model/polled-series.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import type { JournalEntry } from '../../src/simulator/journal.ts';
import { aMetric } from '../support/builders.ts';
import { slow } from '../support/slow.ts';
import { type FaultBench, manyApplications, withTimedFaults } from './fault-bench.ts';

const staleMinutes = 15;
const rpm = 'newrelic_application_requests_per_minute';
const hostRpm = 'newrelic_application_host_requests_per_minute';
const success = 'newrelic_application_poll_success';
const lastSuccess = 'newrelic_application_last_success_timestamp_seconds';
const windowEnd = 'newrelic_application_window_end_timestamp_seconds';
const app = { account: 'production', app_id: '1000' };
const hosts = Array.from({ length: 10 }, (_, index) => `${10_000 + index}`);
const broken = '10002';

describe('5.1 11.2 a host that fails for good', () => {
  it('leaves the application and its other hosts fresh, and is held for stale_after alone', async () => {
    const rule = {
      when: { hostId: broken, fromMs: 5 * minuteMs },
      fault: { kind: 'status', status: 500 },
    } as const;
    // So many calls that hardly two windows have the same number.
    const applications = manyApplications(1, 10).map((one) => ({ ...one, webRpm: 6_000_000 }));
    const simulator = { fleet: { applications } };
    await withTimedFaults({ simulator, script: [rule] }, async (bench) => {
      await bench.advance(5 * minuteMs - 1000);
      let before = await bench.scrape();
      const lastMs = before.value(lastSuccess, app);
      const brokenValue = before.value(hostRpm, { ...app, host_id: broken });
      const heldMinutes: number[] = [];
      const unchanged: string[] = [];
      for (let minute = 1; minute <= 2 * staleMinutes; minute += 1) {
        await bench.advance(minuteMs);
        const page = await bench.scrape();
        const shownOf = (host: string): number | undefined =>
          page.value(hostRpm, { ...app, host_id: host });
        if (page.value(rpm, app) === before.value(rpm, app)) unchanged.push('application');
        for (const host of hosts.filter((one) => one !== broken)) {
          const isSame = shownOf(host) === before.value(hostRpm, { ...app, host_id: host });
          if (isSame) unchanged.push(host);
        }
        expect(page.value(success, app)).toBe(0);
        expect(page.value(lastSuccess, app)).toBe(lastMs);
        const isHeld = shownOf(broken) !== undefined;
        if (isHeld) heldMinutes.push(minute);
        expect([undefined, brokenValue]).toContain(shownOf(broken));
        const ageMinutes = bench.clock.wallMs() / minuteMs - (page.value(windowEnd, app) ?? 0) / 60;
        expect(ageMinutes > 6, `window in minute ${minute}`).toBe(isHeld && minute > 2);
        before = page;
      }

      expect(unchanged).toEqual([]);
      expect(heldMinutes).toEqual(
        Array.from({ length: heldMinutes.length }, (_, index) => index + 1),
      );
      expect(Math.abs(heldMinutes.length - staleMinutes)).toBeLessThanOrEqual(1);
    });
  });
});

describe('5.1 hosts of which each third has no connection', () => {
  it('keep none of the others from being asked for, however many they are', async () => {
    const simulator = { latencyMs: 1000, fleet: { applications: manyApplications(1, 90) } };
    const isLost = (target: string): boolean =>
      Number(/hosts\/(\d+)/u.exec(target)?.[1] ?? 1) % 3 === 0;
    const network = (wire: RawTransport): RawTransport => ({
      ...wire,
      send: async (request, ...rest) => {
        if (isLost(request.target)) throw new ApiError('connect', 'no connection');
        return wire.send(request, ...rest);
      },
    });
    await withTimedFaults({ simulator, network }, async (bench) => {
      await bench.advance(50_000);
      const page = await bench.scrape();

      expect(page.series(hostRpm, app)).toHaveLength(60);
      expect(page.value(rpm, app)).toBeGreaterThan(0);
      expect(page.value(success, app)).toBe(0);
    });
  });
});

const shop = { account: 'production', app_id: '101' };

describe('5.1 values for which an application takes several calls', () => {
  it('stay as they were together when one of the calls fails', async () => {
    const metric = (name: string, as: string): CustomMetric =>
      aMetric(name, { value: 'call_count', as });
    // So long that not all of them fit into one call.
    const between = Array.from({ length: 30 }, (_, at) =>
      metric(`Custom/${at}${'x'.repeat(150)}`, `between_${at}`),
    );
    const metrics = [
      metric('HttpDispatcher', 'first'),
      ...between,
      metric('OtherTransaction/all', 'last'),
    ];
    const rule: FaultRule = {
      when: { applicationId: '101', queryIncludes: 'OtherTransaction/all', fromMs: 3 * minuteMs },
      fault: { kind: 'status', status: 500 },
    };
    const entries = [{ hosts: false, poll: { metrics } }];
    await withTimedFaults({ script: [rule], entries }, async (bench) => {
      await bench.advance(2.9 * minuteMs);
      const before = await bench.scrape();
      await bench.advance(3 * minuteMs);
      const during = await bench.scrape();

      const values = ['first', 'last'].map((name) => before.value(name, shop));
      const { journal } = bench.faulty.simulator;
      const isAnswered = ({ monotonicMs, applicationId, status }: JournalEntry): boolean =>
        monotonicMs > 3 * minuteMs && applicationId === '101' && status === 200;
      expect(journal.count(isAnswered)).toBeGreaterThanOrEqual(3);
      expect(values).not.toContain(undefined);
      expect(['first', 'last'].map((name) => during.value(name, shop))).toEqual(values);
      expect(during.value(success, shop)).toBe(0);
    });
  });
});

describe('11.2 values that are polled every ten minutes', () => {
  const poll = { intervalMs: 10 * minuteMs } as const;
  const failingFrom = (hostId: string, fromMs: number): FaultRule => ({
    when: { hostId, fromMs },
    fault: { kind: 'status', status: 500 },
  });
  const firstHitMs = ({ faulty }: FaultBench, rule: FaultRule): number =>
    faulty.faults.hits(rule)[0]?.request.monotonicMs ?? Number.NaN;

  it(
    'of a host go stale_after its own first failure, though another one fails later',
    slow,
    async () => {
      const script = [failingFrom('1011', 5 * minuteMs), failingFrom('1012', 12 * minuteMs)];
      await withTimedFaults({ script, entries: [{ poll }] }, async (bench) => {
        const heldUntilMs = new Map<string, number>();
        while (bench.clock.monotonicMs() < 40 * minuteMs) {
          await bench.advance(minuteMs);
          for (const { host_id: id = '' } of (await bench.scrape()).series(hostRpm, shop)) {
            heldUntilMs.set(id, bench.clock.monotonicMs());
          }
        }

        const [first = 0, second = 0] = script.map((rule) => firstHitMs(bench, rule) / minuteMs);
        const held = ['1011', '1012'].map((id) => (heldUntilMs.get(id) ?? 0) / minuteMs);
        expect(second - first).toBeGreaterThan(5);
        expect(held).toEqual([first, second].map((minute) => Math.floor(minute + staleMinutes)));
      });
    },
  );

  it('of all hosts are dropped, and said to be, where nothing else is shown', slow, async () => {
    const script = ['1011', '1012'].map((id) => failingFrom(id, 5 * minuteMs));
    const entry = { selector: { kind: 'id', id: '101' }, application: false, poll } as const;
    await withTimedFaults({ script, entries: [entry] }, async (bench) => {
      const isShown = async (): Promise<boolean> =>
        (await bench.scrape()).series(hostRpm, shop).length > 0;
      await bench.advance(5 * minuteMs);
      for (let step = 0; step < 40 && (await isShown()); step += 1) await bench.advance(minuteMs);

      const [failedMs = 0] = script.map((rule) => firstHitMs(bench, rule));
      const heldMs = bench.clock.monotonicMs() - failedMs;
      expect(heldMs).toBeLessThan((staleMinutes + 1) * minuteMs);
      expect(bench.logs('values dropped')).toMatchObject([{ app_id: '101', reason: 'server' }]);
      expect(bench.daemon.applications()).toMatchObject([
        { account: 'production', state: 'dropped' },
        { account: 'neighbour' },
        { account: 'neighbour' },
      ]);
    });
  });
});
