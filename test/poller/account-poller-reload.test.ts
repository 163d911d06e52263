import { describe, expect, it } from 'vitest';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, type PollerBench, rest, unlikeEntries } from '../support/poller-bench.ts';

const minuteMs = 60_000;
const never = async (): Promise<never> => new Promise(() => undefined);

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

    it('starts polls at once that are due by a shorter interval', async () => {
      const bench = aBench(api, [anEntry({ poll: { intervalMs: 60 * minuteMs } })]);
      bench.source.list(anApplication({ id: '1' }));
      bench.source.answer('1', webOf(1));
      bench.start();
      await bench.clock.advance(10 * minuteMs);
      bench.source.hangDiscovery();

      await bench.poller.reconfigure({ account: anAccount(), entries: [anEntry()] });
      await bench.clock.advance(minuteMs / 2);

      expect(callsOf(bench, 'app 1')).toBe(2);
    });

    it('ends the poll of an application that is no longer wanted, and starts a poll again that asks for something else', async () => {
      const bench = aBench(api, undefined, { requestsPerMinute: 60 });
      bench.source.list(anApplication({ id: '1', hostIds: hostsOf(bench, 500) }));
      bench.start();
      await bench.clock.advance(minuteMs);
      const entry = anEntry({ hosts: false, poll: { discoveryIntervalMs: 60 * minuteMs } });

      await bench.poller.reconfigure({ account: anAccount(), entries: [entry] });
      const before = callsOf(bench, 'host');
      await bench.clock.advance(1000);
      const shown = bench.sink.apps.get('1')?.reading;
      const gone = anEntry({ selector: { kind: 'id', id: '2' } });
      await bench.poller.reconfigure({ account: anAccount(), entries: [gone] });
      await bench.clock.advance(5 * minuteMs);

      expect(before).toBeGreaterThan(30);
      expect(callsOf(bench, 'host')).toBe(before);
      expect(shown?.application).toEqual(webOf(1));
      expect(callsOf(bench, 'app 1')).toBe(2);
      expect(bench.sink.apps.size).toBe(0);
    });

    it('ignores a discovery that looked for something else', async () => {
      const bench = aBench(api, [anEntry({ selector: { kind: 'id', id: '1' } })]);
      bench.source.list(anApplication({ id: '1' }));
      for (const id of ['1', '2']) bench.source.answer(id, webOf(1));
      const late = bench.source.holdDiscovery();
      bench.start();
      await bench.clock.advance(1000);
      const entries = ['1', '2'].map((id) => anEntry({ selector: { kind: 'id', id } }));

      const reconfigured = bench.poller.reconfigure({ account: anAccount(), entries });
      late();
      bench.source.list(anApplication({ id: '1' }), anApplication({ id: '2' }));
      await reconfigured;
      await bench.clock.advance(1000);

      expect([...bench.sink.apps.keys()]).toEqual(['1', '2']);
      const messages = bench.logger.lines.map(({ message }) => message);
      expect(messages).toEqual(['account discovered']);
    });

    it('follows another limit and concurrency', async () => {
      const ids = Array.from({ length: 99 }, (_, index) => `${index}`);
      const entries = unlikeEntries(ids);
      const bench = aBench(api, entries, { requestsPerMinute: 10 });
      bench.source.list(...ids.map((id) => anApplication({ id })));
      for (const id of ids) bench.source.answer(id, webOf(1));
      bench.start();
      await bench.clock.advance(minuteMs);
      const before = bench.poller.plan.stretch;
      bench.limit.resize(800);

      await bench.poller.reconfigure({
        account: anAccount({ requestsPerMinute: 800 }),
        entries,
      });

      expect(before).toBeGreaterThan(10);
      expect(bench.poller.plan).toMatchObject({ budgetPerMinute: 800, stretch: 1 });
      await bench.clock.advance(2 * minuteMs);
      const shown = [...bench.sink.apps.values()].filter(({ reading }) => reading !== undefined);
      expect(shown).toHaveLength(99);
    });
  });

  describe('an application with many hosts in an account that is reconfigured every ten minutes', () => {
    /** About thirteen minutes of polling: more than the time between two changes. */
    const run = async (hostsAnswer: boolean): Promise<PollerBench> => {
      const poll = { discoveryIntervalMs: 10 * minuteMs };
      const account = anAccount({ requestsPerMinute: 80 });
      const bench = aBench(api, [anEntry({ poll })], account);
      const hostIds = hostsOf(bench, 1000);
      bench.source.list(anApplication({ id: '1', hostIds }));
      bench.start();
      await bench.clock.advance(40 * minuteMs);
      bench.sink.published.splice(0);
      if (!hostsAnswer) for (const id of hostIds) bench.source.answer(`1/${id}`, never());
      for (let change = 0; change < 9; change += 1) {
        const entry = anEntry({ poll, labels: { change: `${change}` } });
        await bench.poller.reconfigure({ account, entries: [entry] });
        await bench.clock.advance(10 * minuteMs);
      }
      return bench;
    };

    it('is polled to the end again and again, and shown with new values', async () => {
      const bench = await run(true);

      const snapshot = bench.sink.apps.get('1');
      const readings = new Set(bench.sink.published.map(({ reading }) => reading));
      expect(snapshot).toMatchObject({ pollSucceeded: true, labels: { change: '8' } });
      expect(snapshot?.reading?.hosts.size).toBe(1000);
      expect(readings.size).toBeGreaterThanOrEqual(6);
    });

    it('does not show the values of hosts forever if they are not renewed', async () => {
      const bench = await run(false);

      const snapshot = bench.sink.apps.get('1');
      expect(snapshot?.pollSucceeded).toBe(false);
      expect(snapshot?.reading?.hosts.size ?? 0).toBe(0);
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
      const { pollIntervalSeconds } = bench.poller.status();
      await bench.clock.advance(minuteMs);

      expect(pollIntervalSeconds).toBe(60);
      expect(bench.poller.status().polledApplications).toBe(20);
    });

    it('ends the poll of an application that it no longer lists', async () => {
      const bench = aBench(api);
      const other = anApplication({ id: '2' });
      bench.source.answer('2', webOf(1));
      bench.source.list(anApplication({ id: '1', hostIds: hostsOf(bench, 5000) }), other);
      bench.start();
      await bench.clock.advance(90_000);
      const before = callsOf(bench, 'host 1/');

      bench.source.list(other);
      await bench.clock.advance(32_000);
      const after = callsOf(bench, 'host 1/');
      await bench.clock.advance(5 * minuteMs);

      expect(before).toBeGreaterThan(800);
      expect(callsOf(bench, 'host 1/')).toBe(after);
    });
  });
});

describe('a discovery that shrinks the account, by the REST API', () => {
  it('ends the calls for hosts that it no longer lists, and the poll succeeds', async () => {
    const bench = aBench(rest);
    const hostIds = hostsOf(bench, 5000);
    bench.source.list(anApplication({ id: '1', hostIds }));
    bench.start();
    await bench.clock.advance(90_000);
    const shownBefore = bench.sink.apps.get('1')?.reading;

    bench.source.list(anApplication({ id: '1', hostIds: hostIds.slice(0, 10) }));
    await bench.clock.advance(40_000);

    expect(shownBefore).toBeUndefined();
    expect(callsOf(bench, 'host 1/')).toBeLessThan(2500);
    expect(bench.sink.apps.get('1')?.pollSucceeded).toBe(true);
    expect(bench.sink.apps.get('1')?.reading?.hosts.size).toBe(10);
  });
});
