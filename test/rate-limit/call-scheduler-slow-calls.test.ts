import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import type { Turn } from '../../src/model/permit.ts';
import type { ScheduledCall } from '../../src/rate-limit/call-scheduler.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { neverAborted } from '../transport/fakes.ts';
import { aJob, aScheduler, type OneRequest, runJob, times } from './fakes.ts';

describe('createCallScheduler, when calls are slow', () => {
  it('does not suspect a job whose calls are all answered late', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 6000, concurrency: 8 }, clock);
    const answeredAfter =
      (ms: number): OneRequest =>
      async () => {
        await new Promise<void>((resolve) => {
          clock.after(ms, resolve);
        });
        return true;
      };
    const others = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        const usual = { key: `${second}`, calls: times(4, answeredAfter(100)), size: 4 };
        void runJob(scheduler, { ...usual, dueMs: clock.monotonicMs() });
        await clock.advance(1000);
      }
    };
    await others(10);
    let hasEnded = false;
    const slow = { key: 'slow', calls: times(40, answeredAfter(5000)), size: 40 };
    const waitForSlow = async (): Promise<void> => {
      await runJob(scheduler, { ...slow, dueMs: clock.monotonicMs() });
      hasEnded = true;
    };
    void waitForSlow();

    await others(120);
    scheduler.stop();

    expect(hasEnded).toBe(true);
  });

  it('gives suspects a quarter of the slots together, in later polls too', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 6000, concurrency: 8 }, clock);
    const hanging = new Map<string, () => void>();
    const add = async (key: string): Promise<void> => {
      const hang: OneRequest = async () => {
        await new Promise<void>((resolve) => {
          hanging.set(key, resolve);
        });
        return false;
      };
      await runJob(scheduler, { key, calls: times(1, hang), dueMs: clock.monotonicMs() });
    };
    const endAll = (): void => {
      for (const end of hanging.values()) end();
      hanging.clear();
    };

    const first = ['a', 'b', 'c', 'd'].map(add);
    await clock.advance(30_000);
    const inFirstPoll = [...hanging.keys()];
    endAll();
    await Promise.all(first);
    const second = ['a', 'b', 'c', 'd', 'e', 'f'].map(add);
    await clock.advance(500);
    const inSecondPoll = [...hanging.keys()];
    endAll();
    await clock.advance(500);
    const afterAnAnswer = [...hanging.keys()];
    endAll();
    await Promise.all(second);

    expect(inFirstPoll).toEqual(['a', 'b', 'c', 'd']);
    expect(inSecondPoll.toSorted()).toEqual(['a', 'b', 'e', 'f']);
    expect(afterAnAnswer.toSorted()).toEqual(['c', 'd']);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('starts no other call of a job while one of its calls hangs and none is answered', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 6000, concurrency: 4 }, clock);
    let started = 0;
    const call: OneRequest = async () => {
      started += 1;
      if (started === 1) return new Promise(() => undefined);
      await new Promise<void>((resolve) => {
        clock.after(700, resolve);
      });
      return false;
    };

    void runJob(scheduler, { calls: times(100, call), size: 100 });
    await clock.advance(30_000);

    // The second call failed before the first was slow, the third one after that.
    expect(started).toBe(3);
  });

  it('serves other jobs beside one whose calls hang', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 6000, concurrency: 8 }, clock);
    let hanging = 0;
    let answered = 0;
    const add = async (key: string, call: OneRequest): Promise<void> =>
      runJob(scheduler, { key, calls: times(1000, call), size: 1000, dueMs: clock.monotonicMs() });

    void add('hangs', async () => {
      hanging += 1;
      return new Promise(() => undefined);
    });
    await clock.advance(10_000);
    void add('is answered', async () => {
      await new Promise<void>((resolve) => {
        clock.after(200, resolve);
      });
      answered += 1;
      return true;
    });
    await clock.advance(10_000);

    expect(hanging).toBe(2);
    // Six calls at a time, each of which takes a fifth of a second, except for the first few.
    expect(answered).toBeGreaterThan(280);
  });

  it('leaves no place idle for a call that waits for its retry, and lets the retry go before new calls', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 6000, concurrency: 1 }, clock);
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
    const others = times(10, async () => {
      sent.push(`other ${clock.monotonicMs()}`);
      await sleep(clock, 100, neverAborted);
      return true;
    });
    scheduler.add({ ...aJob({ calls: times(0, async () => true) }), calls: [retried].values() });
    const done = runJob(scheduler, { key: 'b', calls: others, size: 10, dueMs: 1 });
    await clock.advance(2000);
    await done;

    expect(sent.slice(0, 7)).toEqual([
      'first 0',
      'other 100',
      'other 200',
      'other 300',
      'other 400',
      'other 500',
      'retry 600',
    ]);
  });

  it.each([
    { latencyMs: 100, carried: 4800 },
    { latencyMs: 2000, carried: 240 },
  ])(
    'can carry $carried calls a minute when each takes $latencyMs ms',
    async ({ latencyMs, carried }) => {
      const clock = createFakeClock();
      const limits = { requestsPerMinute: 6000, concurrency: 8 };
      const scheduler = aScheduler(limits, clock);
      const before = scheduler.carriedPerMinute();
      const call: OneRequest = async () => {
        await new Promise<void>((resolve) => {
          clock.after(latencyMs, resolve);
        });
        return true;
      };
      void runJob(scheduler, { calls: times(200, call), size: 200 });
      await clock.advance(60_000);

      expect(before).toBe(Number.POSITIVE_INFINITY);
      expect(scheduler.carriedPerMinute()).toBeCloseTo(carried, 0);
    },
  );

  it('does not take calls that hang for a slow vendor, however many hang', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 6000, concurrency: 8 }, clock);
    const lasting =
      (latencyMs: number, isAnswered: boolean): OneRequest =>
      async () => {
        await new Promise<void>((resolve) => {
          clock.after(latencyMs, resolve);
        });
        return isAnswered;
      };
    await Promise.all([
      runJob(scheduler, { key: 'is answered', calls: times(100, lasting(200, true)), size: 100 }),
      clock.advance(60_000),
    ]);
    const before = scheduler.carriedPerMinute();

    for (let poll = 0; poll < 60; poll += 1) {
      void runJob(scheduler, {
        key: `hangs ${poll}`,
        calls: times(4, lasting(30_000, false)),
        size: 4,
      });
    }
    await clock.advance(20 * 60_000);

    expect(before).toBeCloseTo(2400, 0);
    expect(scheduler.carriedPerMinute()).toBe(before);
  });
});
