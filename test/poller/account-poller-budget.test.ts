import { describe, expect, it } from 'vitest';
import { anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, type PollerBench, unlikeEntries } from '../support/poller-bench.ts';

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
  });
});
