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
  const long = { periodMs: 600_000 };
  it.each<[string, Omit<AddedJob, 'key'>, Omit<AddedJob, 'key'>]>([
    ['of two that fell due together the small one', { size: 5 }, { size: 10_000 }],
    ['the one with a short interval', { periodMs: minuteMs }, { periodMs: 60 * minuteMs }],
    ['the older one', { dueMs: 0 }, { dueMs: 1 }],
    ['a large one that has waited long', { size: 10_000 }, { size: 5, dueMs: minuteMs }],
    [
      'the one whose interval has passed',
      { size: 1e6, periodMs: 10_000 },
      { size: 1e6, periodMs: minuteMs },
    ],
  ])('serve %s first', async (_, first, second) => {
    const jobs = [
      { key: 'second', ...long, ...second },
      { key: 'first', ...long, ...first },
    ];

    expect(await orderOf(jobs, 1)).toEqual(['first']);
  });

  it.each([
    { requestsPerMinute: 800, before: 64 },
    { requestsPerMinute: 80, before: 0 },
  ])(
    'let others go after every 64 calls of a large job, which have more time on a smaller budget: $requestsPerMinute',
    async ({ requestsPerMinute, before }) => {
      const large = { key: 'large', size: 10_000, ...long };
      const small = { key: 'small', dueMs: 6000, ...long };
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
  async function asking({ calls, sent }: CallsBench, requests: number, lists = 1): Promise<void> {
    for (let list = 0; list < lists; list += 1) {
      calls.beginList();
      await Promise.all(
        Array.from({ length: requests }, async () => {
          const { release } = await calls.lists.next(0, neverAborted);
          sent.push('list');
          release(true);
        }),
      );
    }
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

  it.each([
    { requests: 1, least: 20 },
    { requests: 20, least: 20 },
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

/** Runs these calls as a job that is due from the start. */
function runCalls(bench: Pick<CallsBench, 'calls'>, calls: readonly ScheduledCall[]): void {
  const job = aJob({ calls: times(0, async () => true), size: calls.length });
  void bench.calls.run({ ...job, calls: calls.values() }, neverAborted);
}

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
    let [sent, hasEnded] = [0, false];
    const call: OneRequest = async () => {
      sent += 1;
      await sleep(clock, 5000, neverAborted);
      return true;
    };
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
    await run();

    expect([sent, atOnce, clock.pendingTimers()]).toEqual([2, false, 0]);
  });

  it('leave no place idle while one waits for its retry, which then goes before new calls', async () => {
    const bench = aCallsBench({ requestsPerMinute: 6000, concurrency: 1 });
    const { clock, sent } = bench;
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
    runCalls(bench, [retried, ...Array<ScheduledCall>(10).fill(other)]);
    await clock.advance(2000);

    const others = [100, 200, 300, 400, 500].map((ms) => `other ${ms}`);
    expect(sent.slice(0, 7)).toEqual(['first 0', ...others, 'retry 600']);
  });

  it('give their place back uncounted when they send nothing', async () => {
    const bench = aCallsBench({ requestsPerMinute: 2, concurrency: 1 });
    const { clock, calls, sent } = bench;
    calls.key.throttled(aThrottled(1000));
    const sends: ScheduledCall = async (turn) => {
      const { release } = await turn.next(0, neverAborted);
      sent.push(`${clock.monotonicMs()}`);
      release(true);
    };
    const sendsNothing: ScheduledCall = async () => undefined;
    runCalls(bench, [sendsNothing, sendsNothing, sendsNothing, sends, sends]);
    await clock.advance(30_999);
    const counted = calls.requestsLastMinute();
    await clock.advance(1);

    expect([counted, sent]).toEqual([1, ['1000', '31000']]);
  });
});
