import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { sleep } from '../../../src/model/clock.ts';
import { minuteMs } from '../../../src/model/time.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';
import {
  type AddedJob,
  aCallsBench,
  accountCalls,
  aThrottled,
  type CallsBench,
  runJob,
} from './call-fakes.ts';
import { neverAborted } from './fakes.ts';

/** The jobs in the order of their calls, one after the other, when all of them have waited for a pause to end. */
async function orderOf(
  jobs: readonly AddedJob[],
  count: number,
  requestsPerMinute = 800,
): Promise<readonly string[]> {
  const { clock, calls, sent, add, endRound } = aCallsBench({ requestsPerMinute, concurrency: 1 });
  calls.key.throttled(aThrottled(1));
  for (const job of jobs) void add(job);
  while (sent.length < count) {
    await clock.advance(minuteMs / requestsPerMinute);
    await endRound();
  }
  return sent;
}

describe('the calls of an account, earliest deadline first', () => {
  const long = { periodMs: 600_000 };
  it.each<[string, Omit<AddedJob, 'key'>, Omit<AddedJob, 'key'>]>([
    ['of two that fell due together the small one', { size: 5 }, { size: 10_000 }],
    ['the one with a short interval', { periodMs: minuteMs }, { periodMs: 60 * minuteMs }],
    ['the older one', { dueMs: 0 }, { dueMs: 1 }],
    ['a large one that has waited long', { size: 10_000 }, { size: 5, dueMs: 11 * minuteMs }],
    [
      'the one whose interval has passed',
      { size: 20_000, periodMs: 10_000 },
      { size: 20_000, periodMs: minuteMs },
    ],
  ])('serve %s first', async (_, first, second) => {
    const jobs = [
      { key: 'second', ...long, ...second },
      { key: 'first', ...long, ...first },
    ];

    expect(await orderOf(jobs, 1)).toEqual(['first']);
  });

  it('finish small jobs one after the other rather than all of them late', async () => {
    const { sent, add, endRound } = aCallsBench({ requestsPerMinute: 1000, concurrency: 2 });
    const jobs = ['a', 'b', 'c', 'd', 'e', 'f'].map(async (key) => add({ key, size: 3 }));
    for (let round = 0; round < 20; round += 1) await endRound();
    await Promise.all(jobs);

    expect(sent.lastIndexOf('a')).toBeLessThan(9);
    expect(sent.lastIndexOf('f')).toBe(17);
  });

  it('let a small job overtake a large one that has already begun', async () => {
    const { sent, add, endRound } = aCallsBench();
    void add({ key: 'large', size: 2000 });
    for (let round = 0; round < 50; round += 1) await endRound();
    const before = sent.length;
    const small = add({ key: 'small', size: 5, dueMs: 100 });
    for (let round = 0; round < 3; round += 1) await endRound();
    await small;

    expect(sent.length - before).toBeLessThan(100);
  });
});

describe('the requests of lists', () => {
  /** Asks as often as it may. */
  async function asking({ calls, sent }: CallsBench, requests: number): Promise<void> {
    const all = Array.from({ length: requests }, async () => {
      const { release } = await calls.take(undefined, neverAborted);
      sent.push('list');
      release('answered');
    });
    await Promise.all(all);
  }

  it('go first, but for one request of ten', async () => {
    const bench = aCallsBench({ requestsPerMinute: 600, concurrency: 1 });
    bench.calls.key.throttled(aThrottled(1));
    const listed = asking(bench, 19);
    for (const dueMs of [599, 1801, 2999]) void bench.add({ key: `poll ${dueMs}`, dueMs });
    for (let second = 0; second < 30; second += 1) {
      await bench.clock.advance(1000);
      await bench.endRound();
    }
    await listed;

    const nine = 'list,'.repeat(9);
    expect(bench.sent.join()).toBe(`${nine}poll 599,${nine}poll 1801,list,poll 2999`);
  });

  it.each([1, 20])(
    'leave polls their turn with a budget of 1, however often %d of them are asked for',
    async (requests) => {
      const bench = aCallsBench({ requestsPerMinute: 1 });
      const listing = async (): Promise<void> => {
        for (;;) await asking(bench, requests);
      };
      void listing();
      const polling = async (): Promise<void> => {
        for (;;) {
          const dueMs = bench.clock.monotonicMs();
          await runJob(bench.calls, { key: 'poll', dueMs }, async () => {
            bench.sent.push('poll');
            return true;
          });
        }
      };
      void polling();
      await bench.clock.advance(200 * (minuteMs + 1));

      const polls = bench.sent.filter((key) => key === 'poll').length;
      expect(polls).toBeGreaterThanOrEqual(20);
      expect(bench.sent.length - polls).toBeGreaterThanOrEqual(80);
    },
  );
});

describe('the calls of a job', () => {
  it.each([
    ['two at first, and one more after each answer', true, [2, 4, 8, 8, 8]],
    ['two as long as there are no answers', false, [2, 2, 2, 2, 2]],
  ])('are in flight together: %s', async (_, isAnswered, most) => {
    const { inFlight, add, endRound } = aCallsBench({ concurrency: 8 });
    void add({ key: 'a', size: 100 });
    const seen: number[] = [];
    for (let round = 0; round < most.length; round += 1) {
      await settle();
      seen.push(inFlight().length);
      await endRound(isAnswered);
    }

    expect(seen).toEqual(most);
  });

  it('do not begin after an abort, and leave no timer', async () => {
    const clock = createFakeClock();
    const calls = accountCalls(clock, { requestsPerMinute: 60, concurrency: 1 });
    const controller = new AbortController();
    let sent = 0;
    const call = async (): Promise<boolean> => {
      sent += 1;
      await sleep(clock, 5000, neverAborted);
      return true;
    };
    void runJob(calls, { key: 'a', size: 100 }, call, controller.signal);
    await clock.advance(7000);
    controller.abort(new Error('not wanted'));
    await clock.advance(minuteMs);

    expect([sent, clock.pendingTimers()]).toEqual([2, 0]);
    await expect(calls.take(undefined, controller.signal)).rejects.toThrow('not wanted');
  });

  it('give their place back uncounted when they send nothing', async () => {
    const { clock, calls } = aCallsBench({ requestsPerMinute: 2, concurrency: 1 });
    const sentAtMs: number[] = [];
    calls.key.throttled(aThrottled(1000));
    const make = async (how: 'unsent' | 'answered'): Promise<void> => {
      const { release } = await calls.take(undefined, neverAborted);
      if (how === 'answered') sentAtMs.push(clock.monotonicMs());
      release(how);
    };
    for (const how of ['unsent', 'unsent', 'answered', 'answered'] as const) void make(how);
    await clock.advance(30_999);
    const counted = calls.requestsLastMinute();
    await clock.advance(1);

    expect([counted, sentAtMs]).toEqual([1, [1000, 31_000]]);
  });

  it('end once, whoever says so', async () => {
    const { calls } = aCallsBench({ concurrency: 1 });
    const { release, isOver } = await calls.take(undefined, neverAborted);
    const before = isOver();
    release('answered');
    release('unsent');

    expect([before, isOver(), calls.requestsInFlight()]).toEqual([false, true, 0]);
  });
});

describe('the calls of a command', () => {
  it('wait for two minutes in which the key lets none through, and no longer', async () => {
    const clock = createFakeClock();
    const calls = accountCalls(clock, {}, 'key-1', { patienceMs: 2 * minuteMs });
    const ended: string[] = [];
    const take = async (): Promise<void> => {
      const how = await calls.take(undefined, neverAborted).catch((error: unknown) => error);
      ended.push(how instanceof ApiError ? how.reason : 'sent');
    };
    const first = await calls.take(undefined, neverAborted);
    await clock.advance(minuteMs);
    first.release('answered');
    const second = await calls.take(undefined, neverAborted);
    second.throttled(aThrottled(clock.monotonicMs() + 10 * minuteMs));
    second.release('answered');
    void take();
    await clock.advance(2 * minuteMs - 1);
    const before = ended.length;
    await clock.advance(1);
    await take();

    expect([before, ended]).toEqual([0, ['throttled', 'throttled']]);
    expect(clock.monotonicMs()).toBe(3 * minuteMs);
  });
});
