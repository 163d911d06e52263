import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../../src/model/time.ts';
import { settle } from '../../support/fake-clock.ts';
import { slow } from '../../support/slow.ts';
import { aCallsBench, aThrottled, type CallsBench, permitsOf } from './call-fakes.ts';
import { neverAborted } from './fakes.ts';

describe('requests that hang', () => {
  /** Makes jobs hang one after the other: a call of each is not answered. */
  async function hang({ clock, add, endRound }: CallsBench, ...keys: readonly string[]) {
    for (const key of keys) {
      void add({ key, dueMs: -1e6 });
      await clock.advance(1000);
      await endRound(false);
    }
  }

  it.each([
    { what: 'a second without an answer', tookMs: 1000, isAnswered: false, most: 1 },
    { what: 'less than a second', tookMs: 999, isAnswered: false, most: 2 },
    { what: 'an answer, however late', tookMs: 30_000, isAnswered: true, most: 4 },
  ])('are those with $what: $most at a time', async ({ tookMs, isAnswered, most }) => {
    const { clock, inFlight, add, endRound } = aCallsBench();
    void add({ key: 'a', size: 10 });
    await clock.advance(tookMs);
    await endRound(isAnswered);

    expect(inFlight()).toHaveLength(most);
  });

  it('share one place, each job in turn, until one of them is answered', async () => {
    const bench = aCallsBench({ concurrency: 8 });
    await hang(bench, 'c', 'a', 'b');
    bench.calls.key.throttled(aThrottled(bench.clock.monotonicMs() + 1));
    for (const key of ['a', 'b', 'c']) void bench.add({ key, size: 5 });
    void bench.add({ key: 'other', size: 2, dueMs: -1 });
    await bench.clock.advance(100);
    const seen = [bench.inFlight().toSorted().join(' ')];
    for (const isAnswered of [false, false, true, true]) {
      await bench.clock.advance(1000);
      await bench.endRound(isAnswered);
      seen.push(bench.inFlight().toSorted().join(' '));
    }

    expect(seen).toEqual(['a other other', 'b', 'c', 'a b', 'a b c c']);
  });

  it('are none of a job that was answered since, whatever else hangs', async () => {
    const bench = aCallsBench({ concurrency: 8 });
    await hang(bench, 'a');
    void bench.add({ key: 'a' });
    await bench.clock.advance(0);
    await bench.endRound();
    await hang(bench, 'b');
    for (const key of ['a', 'b']) void bench.add({ key, size: 5 });
    await settle();

    expect(bench.inFlight().toSorted()).toEqual(['a', 'a', 'b']);
  });

  it('are remembered of ten thousand jobs, the latest ones', slow, async () => {
    const bench = aCallsBench({ concurrency: 20_000 });
    for (let key = 0; key < 10_000; ) {
      const next = key + 1000;
      for (; key < next; key += 1) void bench.add({ key: `${key}` });
      await bench.clock.advance(1000);
      await bench.endRound(false);
      await bench.clock.advance(minuteMs);
    }
    await hang(bench, '0', 'one more');
    for (const key of ['0', '1', '2', 'one more']) void bench.add({ key, size: 5 });
    await settle();

    expect(bench.inFlight().toSorted()).toEqual(['0', '1', '1']);
  });

  it('are none that their caller gave up after a while', async () => {
    const { clock, calls, inFlight, add } = aCallsBench({ concurrency: 8 });
    for (const key of ['a', 'b']) {
      const job = { key, size: 1, dueMs: 0, periodMs: minuteMs };
      const { release } = await calls.take(job, neverAborted);
      await clock.advance(1500);
      release('aborted');
    }
    for (const key of ['a', 'b']) void add({ key });
    await clock.advance(0);

    expect(inFlight()).toEqual(['a', 'b']);
  });
});

describe('what an account knows of its requests', () => {
  it('is how many were in flight or ended in the last 60 seconds, with whatever key', async () => {
    const { clock, calls } = aCallsBench({ requestsPerMinute: 10 });
    const permits = await permitsOf(calls, 2);
    calls.rekey('key-2');
    permits.unshift(...(await permitsOf(calls, 1)));
    const seen = [calls.requestsLastMinute()];
    for (const waitMs of [30_000, 30_001, 29_999, minuteMs]) {
      // The second one stays in flight until the last minute.
      const isHeld = waitMs === 29_999;
      if (!isHeld) permits.shift()?.release('answered');
      await clock.advance(waitMs);
      seen.push(calls.requestsLastMinute());
    }

    expect(seen).toEqual([3, 3, 2, 1, 0]);
  });

  const many = (count: number, ms: number): readonly number[] => Array<number>(count).fill(ms);
  it.each<[string, readonly number[], usualMs: number, hanging?: number]>([
    ['before any answer', [], 0],
    ['fast answers', many(3, 100), 100],
    ['slow ones of a few, which do not count', [...many(9, 100), ...many(10, 1001)], 100],
    ['slow ones of a few that are all', many(24, 2000), 0],
    ['slow ones when it is known that all are', many(25, 2000), 2000],
    ['those up to a second', [...many(15, 100), ...many(5, 1000)], 325],
    ['those up to four times the median', [...many(20, 500), ...many(5, 2000)], 800],
    ['none that are slower', [...many(20, 500), ...many(5, 2001)], 500],
    ['the last hundred', [...many(100, 500), ...many(100, 200)], 200],
    ['none without an answer', many(20, 200), 200, 20],
  ])('is what its places carry: %s', async (_, tookMs, usualMs, hanging = 0) => {
    const { clock, calls } = aCallsBench({ concurrency: 8 });
    const request = async (ms: number, isAnswered: boolean): Promise<void> => {
      const [permit] = await permitsOf(calls, 1);
      await clock.advance(ms);
      permit?.release(isAnswered ? 'answered' : 'failed');
    };
    for (const ms of tookMs) await request(ms, true);
    for (let one = 0; one < hanging; one += 1) await request(30_000, false);

    expect(calls.carriedPerMinute()).toBeCloseTo((8 * minuteMs) / usualMs, 6);
  });
});
