import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, type PollerBench } from '../support/poller-bench.ts';

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

  describe('a discovery that shrinks the account', () => {
    it('polls small applications at once that waited beside a large one', async () => {
      const bench = aBench(api);
      const small = Array.from({ length: 20 }, (_, index) =>
        anApplication({ id: `${100 + index}` }),
      );
      for (const { id } of small) bench.source.answer(id, webOf(1));
      bench.source.list(anApplication({ id: '1', hostIds: hostsOf(bench, 10_000) }), ...small);
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
