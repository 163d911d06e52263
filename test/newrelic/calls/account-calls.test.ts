import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/model/clock.ts';
import type { Turn } from '../../../src/model/permit.ts';
import { minuteMs } from '../../../src/model/time.ts';
import type { ScheduledCall } from '../../../src/newrelic/calls/account-calls.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';
import {
  type AddedJob,
  aCallsBench,
  accountCalls,
  aJob,
  aThrottled,
  type CallsBench,
  type OneRequest,
  runJob,
  times,
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
  it.each<{ what: string; first: Omit<AddedJob, 'key'>; second: Omit<AddedJob, 'key'> }>([
    {
      what: 'of two that fell due together the small one',
      first: { size: 5 },
      second: { size: 10_000 },
    },
    {
      what: 'the one with a short interval',
      first: { periodMs: minuteMs },
      second: { periodMs: 60 * minuteMs },
    },
    { what: 'the older one', first: { dueMs: 0 }, second: { dueMs: 1 } },
    {
      what: 'a large one that has waited long',
      first: { size: 10_000, dueMs: 0 },
      second: { size: 5, dueMs: minuteMs },
    },
    {
      what: 'the one whose interval has passed',
      first: { size: 1e6, periodMs: 10_000 },
      second: { size: 1e6, periodMs: minuteMs },
    },
  ])('serve $what first', async ({ first, second }) => {
    const jobs = [
      { key: 'second', periodMs: 600_000, ...second },
      { key: 'first', periodMs: 600_000, ...first },
    ];

    expect(await orderOf(jobs, 1)).toEqual(['first']);
  });

  it.each([
    { requestsPerMinute: 800, before: 64 },
    { requestsPerMinute: 80, before: 0 },
  ])(
    'let others go after every 64 calls of a large job, which have more time on a smaller budget: $requestsPerMinute',
    async ({ requestsPerMinute, before }) => {
      const large = { key: 'large', size: 10_000, periodMs: 600_000 };
      const small = { key: 'small', dueMs: 6000, periodMs: 600_000 };

      const order = await orderOf([large, small], 66, requestsPerMinute);

      expect(order.indexOf('small')).toBe(before);
    },
  );

  it('finish small jobs one after the other rather than all of them late', async () => {
    const { sent, add, endRound } = aCallsBench({ requestsPerMinute: 1000, concurrency: 2 });

    const jobs = ['a', 'b', 'c', 'd', 'e', 'f'].map(async (key) => add({ key, size: 3 }));
    for (let round = 0; round < 20; round += 1) await endRound();
    await Promise.all(jobs);

    expect(sent.lastIndexOf('a')).toBeLessThan(9);
    expect(sent.lastIndexOf('f')).toBe(17);
  });

  it('let a small job overtake a large one that has already begun', async () => {
    const { sent, inFlight, add, endRound } = aCallsBench();
    const large = add({ key: 'large', size: 2000 });
    for (let round = 0; round < 50; round += 1) await endRound();
    const before = sent.length;

    const small = add({ key: 'small', size: 5, dueMs: 100 });
    for (let round = 0; round < 3; round += 1) await endRound();
    await small;

    expect(sent.length - before).toBeLessThan(100);
    while (inFlight().length > 0) await endRound();
    await large;
  });
});

describe('the requests of lists', () => {
  /** Asks as often as it may, in lists that are to end within a minute. */
  async function asking({ calls, sent }: CallsBench, requests: number, lists = 1): Promise<void> {
    for (let list = 0; list < lists; list += 1) {
      calls.beginList(minuteMs);
      await Promise.all(
        Array.from({ length: requests }, async () => {
          const { release } = await calls.lists.next(0, neverAborted);
          sent.push('list');
          release(true);
        }),
      );
    }
  }

  it('have a tenth of their period, and as much more for each as the budget needs', async () => {
    const bench = aCallsBench({ requestsPerMinute: 60, concurrency: 1 });
    bench.calls.key.throttled(aThrottled(1));
    // Their deadlines are at 7.2, 8.4, 9.6 and 10.8 s.
    const listed = asking(bench, 4);
    // The deadline of a poll of one call is 7.2 s after it fell due.
    for (const dueMs of [599, 1801, 2999]) void bench.add({ key: `poll ${dueMs}`, dueMs });
    for (let second = 0; second < 10; second += 1) {
      await bench.clock.advance(1000);
      await bench.endRound();
    }
    await listed;

    expect(bench.sent).toEqual([
      'list',
      'poll 599',
      'list',
      'poll 1801',
      'list',
      'poll 2999',
      'list',
    ]);
  });

  it.each([
    { requests: 1, least: 80 },
    { requests: 20, least: 50 },
  ])(
    'leave polls their turn with a budget of 1, however often $requests of them are asked for',
    async ({ requests, least }) => {
      const bench = aCallsBench({ requestsPerMinute: 1 });
      void asking(bench, requests, 1000);
      const poll: OneRequest = async () => {
        bench.sent.push('poll');
        return true;
      };
      const polling = async (): Promise<void> => {
        for (;;) {
          const dueMs = bench.clock.monotonicMs();
          await runJob(bench.calls, { dueMs, calls: times(1, poll) });
        }
      };
      void polling();

      await bench.clock.advance(200 * (minuteMs + 1));

      const polls = bench.sent.filter((key) => key === 'poll').length;
      expect(polls).toBeGreaterThanOrEqual(least);
      expect(bench.sent.length - polls).toBeGreaterThanOrEqual(80);
    },
  );
});

describe('the calls of a job', () => {
  it.each([
    {
      what: 'two at first, and one more after each answer',
      isAnswered: true,
      most: [2, 4, 8, 8, 8],
    },
    { what: 'two as long as there are no answers', isAnswered: false, most: [2, 2, 2, 2, 2] },
  ])('are in flight together: $what', async ({ isAnswered, most }) => {
    const { inFlight, add, endRound } = aCallsBench({ concurrency: 8 });
    void add({ key: 'a', size: 100 });
    const seen: number[] = [];

    for (const _ of most) {
      await settle();
      seen.push(inFlight().length);
      await endRound(isAnswered);
    }

    expect(seen).toEqual(most);
  });

  it('end it with the last answer, even if nothing more may be sent at that time', async () => {
    const { clock, add, endRound } = aCallsBench({ requestsPerMinute: 1 });
    const ended = add({ key: 'a' });
    await clock.advance(200);

    await endRound();
    await ended;

    expect([clock.monotonicMs(), clock.pendingTimers()]).toEqual([200, 0]);
  });

  it('do not begin after an abort; those under way end it, and no timer is left', async () => {
    const clock = createFakeClock();
    const calls = accountCalls(clock, { requestsPerMinute: 60, concurrency: 1 });
    const controller = new AbortController();
    let sent = 0;
    const call: OneRequest = async () => {
      sent += 1;
      await sleep(clock, 5000, neverAborted);
      return true;
    };
    let hasEnded = false;
    const run = async (): Promise<void> => {
      await runJob(calls, { calls: times(100, call), size: 100 }, controller.signal);
      hasEnded = true;
    };
    const running = run();
    await clock.advance(7000);
    controller.abort();
    await settle();
    const atOnce = hasEnded;
    await clock.advance(minuteMs);
    await running;
    await runJob(calls, { calls: times(9, call), size: 9 }, controller.signal);

    expect([sent, atOnce, clock.pendingTimers()]).toEqual([2, false, 0]);
  });

  it('leave no place idle while one waits for its retry, which then goes before new calls', async () => {
    const clock = createFakeClock();
    const calls = accountCalls(clock, { requestsPerMinute: 6000, concurrency: 1 });
    const sent: string[] = [];
    const request = async (turn: Turn, name: string, delayMs: number): Promise<void> => {
      const { release } = await turn.next(delayMs, neverAborted);
      sent.push(`${name} ${clock.monotonicMs()}`);
      await sleep(clock, 100, neverAborted);
      release(false);
    };
    const retried: ScheduledCall = async (turn) => {
      await request(turn, 'first', 0);
      await request(turn, 'retry', 450);
    };
    const other: ScheduledCall = async (turn) => request(turn, 'other', 0);
    const all = [retried, ...Array<ScheduledCall>(10).fill(other)];
    const job = aJob({ calls: times(0, async () => true), size: all.length });
    void calls.run({ ...job, calls: all.values() }, neverAborted);
    await clock.advance(2000);

    expect(sent.slice(0, 7)).toEqual([
      'first 0',
      ...[100, 200, 300, 400, 500].map((ms) => `other ${ms}`),
      'retry 600',
    ]);
  });

  it('give their place back uncounted when they send nothing', async () => {
    const clock = createFakeClock();
    const calls = accountCalls(clock, { requestsPerMinute: 2, concurrency: 1 });
    calls.key.throttled(aThrottled(1000));
    const sentAtMs: number[] = [];
    const sends: ScheduledCall = async (turn) => {
      const { release } = await turn.next(0, neverAborted);
      sentAtMs.push(clock.monotonicMs());
      release(true);
    };
    const sendsNothing: ScheduledCall = async () => undefined;
    const all = [sendsNothing, sendsNothing, sendsNothing, sends, sends];
    void calls.run(
      { ...aJob({ calls: times(0, async () => true), size: 5 }), calls: all.values() },
      neverAborted,
    );
    await clock.advance(30_999);
    const counted = calls.requestsLastMinute();
    await clock.advance(1);

    expect(counted).toBe(1);
    expect(sentAtMs).toEqual([1000, 31_000]);
  });
});
