import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import type { Turn } from '../../src/model/permit.ts';
import type { ScheduledCall } from '../../src/rate-limit/call-scheduler.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { neverAborted } from '../transport/fakes.ts';
import { aJob, aScheduler, type OneRequest, runJob, times } from './fakes.ts';

describe('CallScheduler, when calls are slow', () => {
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
