import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { sleep } from '../../src/model/clock.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aThrottled } from '../newrelic/calls/call-fakes.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { webOf } from '../support/fake-source.ts';
import { slow } from '../support/slow.ts';
import { aBatchBench, type BatchBench, expectFewBatches, idsOf, list } from './batch-bench.ts';

/** The batches that were sent from now on, in a while. */
async function batchesIn({ clock, source }: BatchBench, ms: number): Promise<readonly number[]> {
  const before = source.sentBatches.length;
  await clock.advance(ms);
  return source.sentBatches.slice(before).map(({ length }) => length);
}

describe('batches', () => {
  it('are full, however many turns it takes to find out what is due', slow, async () => {
    const bench = aBatchBench();
    list(bench, idsOf(950));
    bench.start();

    expect(await batchesIn(bench, 1000)).toEqual([200, 200, 200, 200, 150]);
    expect(bench.sink.apps.size).toBe(950);
  });

  it('are full of each kind that is not asked for with the others', async () => {
    const window = { kind: 'range', lengthMs: 7 * minuteMs } as const;
    const even = anEntry({ selector: { kind: 'match', pattern: /[02468]$/u }, poll: { window } });
    const bench = aBatchBench([even, anEntry()]);
    list(bench, idsOf(800));
    bench.start();

    expect(await batchesIn(bench, 1000)).toEqual([200, 200, 200, 200]);
  });

  it('are few, as many as planned within 5 %, and none is too early or late', slow, async () => {
    const growth = { everyMs: 60_000, each: 400, all: 400 };

    await expect(expectFewBatches(growth)).resolves.toBeUndefined();
  });

  it('include what falls due soon, so that it shares a batch from then on', async () => {
    const bench = aBatchBench([anEntry({ poll: { discoveryIntervalMs: 40_000 } })]);
    list(bench, idsOf(10));
    bench.start();
    await bench.clock.advance(39_000);
    list(bench, idsOf(11));

    const sizes = await batchesIn(bench, 5 * minuteMs);

    // The new one comes 20 seconds before the others, which go with it.
    expect(sizes[0]).toBe(11);
    expect(new Set(sizes)).toEqual(new Set([11]));
    expect(sizes.length).toBeLessThanOrEqual(6);
  });
});

describe('the applications of a batch', () => {
  it('have outcomes of their own: one fails, one is gone, the others are shown', async () => {
    const bench = aBatchBench();
    list(bench, idsOf(4));
    bench.source.answer('1', new ApiError('server', 'no', { status: 500 }));
    bench.source.answer('2', new ApiError('not_found', 'gone', { status: 404 }));
    bench.start();

    await bench.clock.advance(1000);

    expect(bench.source.sentBatches).toEqual([['1', '2', '3', '4']]);
    expect([...bench.sink.apps.keys()]).toEqual(['1', '3', '4']);
    const succeeded = [...bench.sink.apps.values()].map(({ pollSucceeded }) => pollSucceeded);
    expect(succeeded).toEqual([false, true, true]);
  });

  it('go on when one of them is refused, which brings a discovery forward', async () => {
    const bench = aBatchBench([anEntry({ poll: { discoveryIntervalMs: 60 * minuteMs } })]);
    list(bench, idsOf(3));
    bench.source.answer('2', new ApiError('auth', 'no', { status: 401 }));
    bench.start();

    await bench.clock.advance(10 * minuteMs);

    const shown = [...bench.sink.apps.values()].map(({ pollSucceeded }) => pollSucceeded);
    expect(shown).toEqual([true, false, true]);
    expect(bench.source.calls.filter((call) => call === 'list')).toHaveLength(2);
    expect(new Set(await batchesIn(bench, 3 * minuteMs))).toEqual(new Set([3]));
  });
});

describe('an application that leaves its batch', () => {
  /** Three applications in a batch that waits for the third one. */
  async function aWaitingBatch(): Promise<{
    readonly bench: BatchBench;
    readonly answer: () => void;
  }> {
    const bench = aBatchBench([anEntry({ poll: { discoveryIntervalMs: 20_000 } })]);
    list(bench, idsOf(3));
    let answer = (): void => undefined;
    const later = new Promise<ReturnType<typeof webOf>>((resolve) => {
      answer = () => {
        resolve(webOf(3));
      };
    });
    bench.source.answer('3', later);
    bench.start();
    await bench.clock.advance(1000);
    return { bench, answer };
  }

  it('because a reload asks for something else is polled again, with one outcome', async () => {
    const { bench, answer } = await aWaitingBatch();
    const poll = { discoveryIntervalMs: 20_000 };
    const other = anEntry({
      selector: { kind: 'id', id: '1' },
      poll: { ...poll, window: { kind: 'range', lengthMs: 600_000 } },
    });

    await bench.poller.reconfigure({ account: anAccount(), entries: [other, anEntry({ poll })] });
    await bench.clock.advance(1000);
    const anew = [...bench.polls];
    answer();
    await bench.clock.advance(1000);

    expect(bench.source.sentBatches).toEqual([['1', '2', '3'], ['1']]);
    expect(anew).toEqual([true]);
    expect(bench.polls).toEqual([true, true, true]);
    expect(bench.sink.apps.get('3')?.reading?.application[0]).toBe(3);
  });

  it('because a discovery no longer lists it leaves the others alone', async () => {
    const { bench, answer } = await aWaitingBatch();

    bench.source.list(anApplication({ id: '2' }), anApplication({ id: '3' }));
    await bench.clock.advance(20_000);
    const whileWaiting = [...bench.polls];
    answer();
    await bench.clock.advance(1000);

    expect(whileWaiting).toEqual([]);
    expect(bench.polls).toEqual([true, true]);
    expect([...bench.sink.apps.keys()]).toEqual(['2', '3']);
  });
});

describe('batches that wait in a pause', () => {
  it('are gone with their account, even if it is stopped in the turn in which the pause ends', async () => {
    const bench = aBatchBench();
    const { clock, calls, poller, sink } = bench;
    list(bench, idsOf(250));
    calls.key.throttled(aThrottled(10_000));
    const stop = new AbortController();
    clock.after(10_000, () => stop.abort(new Error('the account is stopped')));
    const done = poller.run(stop.signal);
    // The discovery is not made to wait.
    await clock.advance(10_000);
    await done;
    calls.leave();
    sink.apps.clear();
    const timers = clock.pendingTimers();

    await clock.advance(minuteMs);

    expect([timers, sink.apps.size, bench.polls.length]).toEqual([0, 0, 0]);
  });

  it('become one, in which each is asked for once, if others appear meanwhile', async () => {
    const bench = aBatchBench([anEntry({ poll: { discoveryIntervalMs: 5000 } })]);
    const { clock, calls, source } = bench;
    list(bench, idsOf(10));
    calls.key.throttled(aThrottled(20_000));
    bench.start();
    await clock.advance(4000);
    list(bench, idsOf(15));

    await clock.advance(25_000);

    expect(source.sentBatches).toEqual([idsOf(15)]);
    expect(bench.polls).toHaveLength(15);
  });

  it('leave no application unasked that is polled once, and ask for none of them twice', async () => {
    const window = { kind: 'range', lengthMs: 7 * minuteMs } as const;
    const others = Array.from({ length: 50 }, (_, index) => `${1001 + index}`);
    const apart = others.map((id) => anEntry({ selector: { kind: 'id', id }, poll: { window } }));
    const bench = aBatchBench([...apart, anEntry()], { concurrency: 1 });
    const { clock, calls, poller, source } = bench;
    list(bench, [...idsOf(250), ...others]);
    const { signal } = new AbortController();
    source.answer(
      '1',
      sleep(clock, 1000, signal).then(() => webOf(1)),
    );
    const whole = poller.runOnce(signal);
    await settle();
    calls.key.throttled(aThrottled(clock.monotonicMs() + 60_500));
    await clock.advance(5 * minuteMs);

    expect(await whole).toBe(true);
    const asked = source.sentBatches.flat();
    expect([asked.length, new Set(asked).size]).toEqual([300, 300]);
  });

  it(
    'are asked for in full ones afterwards, each of two thousand applications once',
    slow,
    async () => {
      const bench = aBatchBench([anEntry()], { requestsPerMinute: 3000, concurrency: 50 });
      const { clock, calls, source } = bench;
      list(bench, idsOf(2000));
      bench.start();
      calls.key.throttled(aThrottled(10_000));
      await clock.advance(15_000);

      expect(new Set(source.sentBatches.flat()).size).toBe(2000);
      expect(source.sentBatches.flat()).toHaveLength(2000);
      expect(source.sentBatches).toHaveLength(10);
    },
  );
});
