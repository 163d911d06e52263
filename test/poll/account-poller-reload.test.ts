import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, type PollerBench, unlikeEntries } from '../support/poller-bench.ts';

function callsOf({ source }: PollerBench, prefix: string): number {
  return source.calls.filter((call) => call.startsWith(prefix)).length;
}

/** Hosts `from`, `from + 1`, and so on, of application 1, which all answer. */
function hostsOf({ source }: PollerBench, count: number, from = 1_000_000): readonly string[] {
  source.answer('1', webOf(1));
  return Array.from({ length: count }, (_, index) => {
    const id = `${from + index}`;
    source.answer(`1/${id}`, webOf(1));
    return id;
  });
}

describe.each(apis)('$name', (api) => {
  describe('reconfigure', () => {
    it('does not interrupt polling while the discovery that it brings hangs', async () => {
      const poll = { intervalMs: minuteMs / 2, discoveryIntervalMs: 5 * minuteMs };
      const bench = aBench(api, [anEntry({ poll })]);
      bench.source.list(anApplication({ id: '1' }));
      bench.source.answer('1', webOf(1));
      bench.start();
      await bench.clock.advance(9 * minuteMs);
      bench.source.hangDiscovery();

      await bench.poller.reconfigure({
        account: anAccount(),
        entries: [anEntry({ poll, labels: { a: 'b' } })],
      });
      const before = callsOf(bench, 'app 1');
      await bench.clock.advance(4 * minuteMs);

      expect(callsOf(bench, 'list')).toBe(3);
      expect(callsOf(bench, 'app 1') - before).toBeGreaterThanOrEqual(8);
      expect(bench.sink.apps.get('1')?.labels).toEqual({ a: 'b' });
    });

    it('makes a discovery only when other applications may be found', async () => {
      const bench = aBench(api, [anEntry({ poll: { discoveryIntervalMs: 60 * minuteMs } })]);
      bench.source.list(anApplication({ id: '1' }));
      bench.source.answer('1', webOf(1));
      bench.start();
      await bench.clock.advance(minuteMs);
      const listed: number[] = [];

      for (const entry of [
        anEntry({ labels: { a: 'b' }, poll: { discoveryIntervalMs: 60 * minuteMs } }),
        anEntry({
          selector: { kind: 'id', id: '1' },
          poll: { discoveryIntervalMs: 60 * minuteMs },
        }),
        anEntry({ selector: { kind: 'id', id: '1' }, poll: { discoveryIntervalMs: 5 * minuteMs } }),
      ]) {
        await bench.poller.reconfigure({ account: anAccount(), entries: [entry] });
        await bench.clock.advance(2 * minuteMs);
        listed.push(callsOf(bench, 'list'));
      }
      await bench.clock.advance(2 * minuteMs);

      expect(listed).toEqual([1, 2, 2]);
      expect(callsOf(bench, 'list')).toBe(3);
    });
  });

  describe('a reload', () => {
    const ids = Array.from({ length: 30 }, (_, index) => `${index + 1}`);
    const idsAsked = ({ source }: PollerBench): readonly string[] =>
      source.calls.flatMap((call) => /^app (\d+)/u.exec(call)?.[1] ?? []);
    function aLargeBench(
      entries: Parameters<typeof aBench>[1],
      requestsPerMinute: number,
    ): PollerBench {
      const bench = aBench(api, entries, { requestsPerMinute });
      bench.source.list(...ids.map((id) => anApplication({ id })));
      for (const id of ids) bench.source.answer(id, webOf(1));
      return bench;
    }

    it('that looks for other applications gives up the discovery that asks for the old ones', async () => {
      const bench = aBench(api, [anEntry({ selector: { kind: 'id', id: '1' } })]);
      bench.source.hangDiscovery();
      bench.start();
      await bench.clock.advance(1000);
      const before = callsOf(bench, 'list');

      await bench.poller.reconfigure({ account: anAccount(), entries: [anEntry()] });
      await bench.clock.advance(0);

      expect([before, callsOf(bench, 'list')]).toEqual([1, 2]);
    });

    it('with other labels lets a poll under way go on', async () => {
      const bench = aBench(api);
      let answer = (): void => undefined;
      const later = new Promise<ReturnType<typeof webOf>>((resolve) => {
        answer = () => resolve(webOf(7));
      });
      bench.source.list(anApplication({ id: '1' }));
      bench.source.answer('1', later);
      bench.start();
      await bench.clock.advance(1000);

      const entries = [anEntry({ labels: { a: 'b' } })];
      await bench.poller.reconfigure({ account: anAccount(), entries });
      answer();
      await bench.clock.advance(1000);

      const { labels, reading } = bench.sink.apps.get('1') ?? {};
      expect(callsOf(bench, 'app 1')).toBe(1);
      expect([labels, reading?.application[0]]).toEqual([{ a: 'b' }, 7]);
    });

    it('that takes out applications whose calls wait leaves none of these calls', async () => {
      const kept = ids.slice(0, 5);
      const unlike = unlikeEntries(ids);
      const bench = aLargeBench(unlike, 10);
      bench.start();
      await bench.clock.advance(1000);
      const entries = unlike.slice(0, kept.length);
      const before = new Set(idsAsked(bench));
      await bench.poller.reconfigure({ account: anAccount(), entries });
      bench.source.calls.length = 0;
      await bench.clock.advance(10 * minuteMs);

      expect(before.size).toBeLessThan(ids.length);
      expect(new Set(idsAsked(bench))).toEqual(new Set(kept));
    });

    it('with a shorter interval makes no crowd', async () => {
      const every = (intervalMs: number) =>
        unlikeEntries(ids, { intervalMs, discoveryIntervalMs: 60 * minuteMs });
      const bench = aLargeBench(every(60 * minuteMs), 100_000);
      bench.start();
      await bench.clock.advance(1000);
      bench.source.calls.length = 0;

      await bench.poller.reconfigure({ account: anAccount(), entries: every(minuteMs) });
      const most: number[] = [];
      for (let second = 0; second < 60; second += 1) {
        const before = idsAsked(bench).length;
        await bench.clock.advance(1000);
        most.push(idsAsked(bench).length - before);
      }

      expect(new Set(idsAsked(bench)).size).toBe(ids.length);
      expect(Math.max(...most)).toBeLessThan(4);
    });
  });

  describe('a discovery that shrinks the account', () => {
    it('polls small applications at once that waited beside a large one', async () => {
      const bench = aBench(api);
      const small = Array.from({ length: 20 }, (_, index) =>
        anApplication({ id: `${100 + index}` }),
      );
      for (const { id } of small) bench.source.answer(id, webOf(1));
      bench.source.list(anApplication({ id: '1', hostIds: hostsOf(bench, 3000) }), ...small);
      bench.start();
      await bench.clock.advance(30_000);

      bench.source.list(...small);
      await bench.clock.advance(40_000);
      const { pollIntervalSeconds } = bench.poller.judge.status();
      await bench.clock.advance(minuteMs);

      expect(pollIntervalSeconds).toBe(60);
      expect(bench.poller.judge.status().polledApplications).toBe(20);
    });
  });
});
