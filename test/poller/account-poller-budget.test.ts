import { describe, expect, it } from 'vitest';
import { anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, type PollerBench, rest, unlikeEntries } from '../support/poller-bench.ts';

const minuteMs = 60_000;

const idsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${index + 1}`);

/** This many applications without hosts, which all answer. */
function listed({ source }: PollerBench, count: number): void {
  const ids = idsOf(count);
  source.list(...ids.map((id) => anApplication({ id, name: `app ${id}` })));
  for (const id of ids) source.answer(id, webOf(1));
}

describe.each(apis)('$name', (api) => {
  describe('a change of the limit', () => {
    it('reschedules polls that waited for a small limit by the larger one', async () => {
      const discoveryIntervalMs = 60 * minuteMs;
      const entries = unlikeEntries(idsOf(10), { discoveryIntervalMs });
      const bench = aBench(api, entries, { requestsPerMinute: 1 });
      listed(bench, 10);
      bench.start();
      await bench.clock.advance(30 * minuteMs);
      const before = bench.source.sent();
      bench.limit.resize(800);
      const { pollIntervalSeconds } = bench.poller.status();
      await bench.clock.advance(minuteMs);
      const after = bench.source.sent();

      expect(pollIntervalSeconds).toBe(60);
      expect(before).toBeLessThan(40);
      expect(after - before).toBeGreaterThanOrEqual(10);
      expect(bench.poller.stalled()).toBeUndefined();
    });

    it('brings forward a poll that a short fall of the limit had moved far away', async () => {
      const entries = unlikeEntries(idsOf(101), { discoveryIntervalMs: 60 * minuteMs });
      const bench = aBench(api, entries);
      listed(bench, 101);
      bench.start();
      await bench.clock.advance(90_000);
      const polls = (): number => bench.source.calls.filter((call) => call === 'app 1').length;
      const before = polls();

      const stretches: number[] = [];
      for (const perMinute of [5, 800]) {
        bench.limit.resize(perMinute);
        stretches.push(Math.round(bench.poller.plan.stretch));
        await bench.clock.advance(minuteMs);
      }

      expect(stretches).toEqual([21, 1]);
      expect(polls() - before).toBeGreaterThanOrEqual(1);
    });

    it('starts nothing before the account is started', async () => {
      const bench = aBench(api);

      bench.limit.resize(800);
      await bench.clock.advance(minuteMs);

      expect(bench.source.calls).toEqual([]);
      expect(bench.clock.pendingTimers()).toBe(0);
    });
  });

  describe('the demand', () => {
    it('is what is really sent while hosts come and go, within 5 %', async () => {
      const bench = aBench(api, [anEntry({ poll: { hostNames: true } })]);
      let host = 0;
      const minute = async (): Promise<void> => {
        const applications = Array.from({ length: 50 }, (_, index) => {
          host += 1;
          bench.source.answer(`${index + 1}`, webOf(1));
          bench.source.answer(`${index + 1}/${host}`, webOf(1));
          bench.source.names(`${index + 1}`, new Map([[`${host}`, `ip-${host}`]]));
          return anApplication({ id: `${index + 1}`, name: `app ${index}`, hostIds: [`${host}`] });
        });
        bench.source.list(...applications);
        await bench.clock.advance(minuteMs);
      };
      await minute();
      bench.start();
      for (let passed = 0; passed < 12; passed += 1) await minute();
      const before = bench.source.sent();
      for (let passed = 0; passed < 10; passed += 1) await minute();

      const sentPerMinute = (bench.source.sent() - before) / 10;
      const { demandRequestsPerMinute = 0 } = bench.poller.status();
      const least = { 'by the REST API': 145, 'in batches': 1.9 }[api.name];
      expect(sentPerMinute).toBeGreaterThan(least);
      expect(sentPerMinute / demandRequestsPerMinute).toBeGreaterThan(0.95);
      expect(sentPerMinute / demandRequestsPerMinute).toBeLessThan(1.05);
    });

    it('does not include host names that are asked for once, at the start', async () => {
      const bench = aBench(api, [anEntry({ poll: { hostNames: true } })], {
        requestsPerMinute: 105,
      });
      const ids = Array.from({ length: 50 }, (_, index) => `${index + 1}`);
      bench.source.list(...ids.map((id) => anApplication({ id, hostIds: ['1'] })));
      for (const id of ids) {
        bench.source.names(id, new Map([['1', `ip-${id}`]]));
        for (const subject of [id, `${id}/1`]) bench.source.answer(subject, webOf(1));
      }
      bench.start();

      await bench.clock.advance(5 * minuteMs);

      expect(bench.source.calls.filter((call) => call.startsWith('names'))).toHaveLength(50);
      const demand = { 'by the REST API': 101, 'in batches': 2 }[api.name];
      expect(bench.poller.status().demandRequestsPerMinute).toBe(demand);
      expect(bench.poller.status().pollIntervalSeconds).toBe(60);
    });

    it('includes the retries of the last ten minutes', async () => {
      const bench = aBench(api);
      listed(bench, 10);
      bench.start();
      const seen: number[] = [];

      for (const perMinute of [0, 30, 0]) {
        for (let passed = 0; passed < 12; passed += 1) {
          bench.retried.total += perMinute;
          await bench.clock.advance(minuteMs);
        }
        seen.push(bench.poller.status().demandRequestsPerMinute ?? 0);
      }

      const ownCalls = { 'by the REST API': 11, 'in batches': 2 }[api.name];
      expect(seen[0]).toBe(ownCalls);
      expect(seen[1]).toBeGreaterThan(ownCalls + 27);
      expect(seen[1]).toBeLessThan(ownCalls + 34);
      expect(seen[2]).toBe(ownCalls);
    });
  });
});

describe('a change of the limit, by the REST API', () => {
  it('spaces the waiting polls for a smaller limit', async () => {
    const bench = aBench(rest, [anEntry({ poll: { discoveryIntervalMs: 60 * minuteMs } })]);
    listed(bench, 100);
    bench.start();
    await bench.clock.advance(5 * minuteMs);
    bench.limit.resize(10);
    const before = bench.source.sent();
    await bench.clock.advance(5 * minuteMs);

    expect(bench.poller.status().pollIntervalSeconds).toBeGreaterThan(600);
    const perMinute = (bench.source.sent() - before) / 5;
    expect(perMinute).toBeGreaterThan(8);
    expect(perMinute).toBeLessThan(12);
  });
});
