import { describe, expect, it } from 'vitest';
import {
  type CallScheduler,
  createCallScheduler,
  type ScheduledCall,
} from '../../src/poller/call-scheduler.ts';
import { createFakeClock } from '../support/fake-clock.ts';

interface JobOptions {
  readonly key?: string;
  readonly calls: Iterator<ScheduledCall>;
  readonly size?: number;
  readonly dueMs?: number;
  readonly overdueMs?: number;
}

/** Resolves when the job has ended. */
async function run(scheduler: CallScheduler, options: JobOptions): Promise<void> {
  await new Promise<void>((ended) => {
    scheduler.add({
      key: 'a',
      size: 1,
      dueMs: 0,
      overdueMs: 0,
      periodMs: 60_000,
      ended,
      ...options,
    });
  });
}

function* times(count: number, call: ScheduledCall): Generator<ScheduledCall, undefined> {
  for (let index = 0; index < count; index += 1) yield call;
  return undefined;
}

describe('createCallScheduler, when calls are slow', () => {
  it('does not suspect a job whose calls are all answered late', async () => {
    const clock = createFakeClock();
    const scheduler = createCallScheduler({ requestsPerMinute: 6000, concurrency: 8 }, { clock });
    const answeredAfter =
      (ms: number): ScheduledCall =>
      async (onWire) => {
        onWire(true);
        await new Promise<void>((resolve) => {
          clock.after(ms, resolve);
        });
        return true;
      };
    const others = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        const usual = { key: `${second}`, calls: times(4, answeredAfter(100)), size: 4 };
        void run(scheduler, { ...usual, dueMs: clock.monotonicMs() });
        await clock.advance(1000);
      }
    };
    await others(10);
    let hasEnded = false;
    const slow = { key: 'slow', calls: times(40, answeredAfter(5000)), size: 40 };
    const waitForSlow = async (): Promise<void> => {
      await run(scheduler, { ...slow, dueMs: clock.monotonicMs() });
      hasEnded = true;
    };
    void waitForSlow();

    await others(120);
    scheduler.stop();

    expect(hasEnded).toBe(true);
  });

  it('gives suspects a quarter of the slots together, in later polls too', async () => {
    const clock = createFakeClock();
    const scheduler = createCallScheduler({ requestsPerMinute: 6000, concurrency: 8 }, { clock });
    const hanging = new Map<string, () => void>();
    const add = async (key: string): Promise<void> => {
      const hang: ScheduledCall = async (onWire) => {
        onWire(true);
        await new Promise<void>((resolve) => {
          hanging.set(key, resolve);
        });
        return false;
      };
      await run(scheduler, { key, calls: times(1, hang), dueMs: clock.monotonicMs() });
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

  it('lets others start as soon as the calls that hold all slots have become slow', async () => {
    const clock = createFakeClock();
    const scheduler = createCallScheduler({ requestsPerMinute: 6000, concurrency: 2 }, { clock });
    const startedAtMs: number[] = [];
    const hang: ScheduledCall = async (onWire) => {
      onWire(true);
      return new Promise(() => undefined);
    };
    void run(scheduler, { key: 'hangs', calls: times(2, hang), size: 2 });

    const call: ScheduledCall = async () => {
      startedAtMs.push(clock.monotonicMs());
      return true;
    };
    void run(scheduler, { key: 'waits', calls: times(1, call) });
    await clock.advance(1000);
    const before = [...startedAtMs];
    await clock.advance(1000);

    expect(before).toEqual([]);
    expect(startedAtMs).toEqual([1001]);
  });

  it('starts no other call of a job while one of its calls hangs and none is answered', async () => {
    const clock = createFakeClock();
    const scheduler = createCallScheduler({ requestsPerMinute: 6000, concurrency: 4 }, { clock });
    let started = 0;
    const call: ScheduledCall = async (onWire) => {
      started += 1;
      onWire(true);
      if (started === 1) return new Promise(() => undefined);
      await new Promise<void>((resolve) => {
        clock.after(700, resolve);
      });
      return false;
    };

    void run(scheduler, { calls: times(100, call), size: 100 });
    await clock.advance(30_000);

    // The second call failed before the first was slow, the third one after that.
    expect(started).toBe(3);
  });

  it('serves other jobs beside one whose calls hang', async () => {
    const clock = createFakeClock();
    const scheduler = createCallScheduler({ requestsPerMinute: 6000, concurrency: 8 }, { clock });
    let hanging = 0;
    let answered = 0;
    const add = async (key: string, call: ScheduledCall): Promise<void> =>
      run(scheduler, { key, calls: times(1000, call), size: 1000, dueMs: clock.monotonicMs() });

    void add('hangs', async (onWire) => {
      hanging += 1;
      onWire(true);
      return new Promise(() => undefined);
    });
    await clock.advance(10_000);
    void add('is answered', async (onWire) => {
      onWire(true);
      await new Promise<void>((resolve) => {
        clock.after(200, resolve);
      });
      answered += 1;
      return true;
    });
    await clock.advance(10_000);

    expect(hanging).toBe(2);
    // Eight calls at a time, each of which takes a fifth of a second, except for the first few.
    expect(answered).toBeGreaterThan(350);
  });

  it('leaves no slot idle for calls that wait for a retry', async () => {
    const clock = createFakeClock();
    const scheduler = createCallScheduler({ requestsPerMinute: 6000, concurrency: 2 }, { clock });
    let answered = 0;
    const retrying: ScheduledCall = async (onWire) => {
      onWire(true);
      onWire(false);
      return new Promise(() => undefined);
    };
    void run(scheduler, { key: 'retries', calls: times(2, retrying), size: 2 });

    const call: ScheduledCall = async (onWire) => {
      onWire(true);
      answered += 1;
      return true;
    };
    await run(scheduler, { key: 'is answered', calls: times(3, call), size: 3 });

    expect(answered).toBe(3);
  });

  it.each([
    { latencyMs: 100, carried: 4800 },
    { latencyMs: 2000, carried: 240 },
  ])(
    'can carry $carried calls a minute when each takes $latencyMs ms',
    async ({ latencyMs, carried }) => {
      const clock = createFakeClock();
      const limits = { requestsPerMinute: 6000, concurrency: 8 };
      const scheduler = createCallScheduler(limits, { clock });
      const before = scheduler.carriedPerMinute();
      const call: ScheduledCall = async (onWire) => {
        onWire(true);
        await new Promise<void>((resolve) => {
          clock.after(latencyMs, resolve);
        });
        return true;
      };
      void run(scheduler, { calls: times(200, call), size: 200 });
      await clock.advance(60_000);

      expect(before).toBe(Number.POSITIVE_INFINITY);
      expect(scheduler.carriedPerMinute()).toBeCloseTo(carried, 0);
    },
  );

  it('does not take calls that hang for a slow vendor, however many hang', async () => {
    const clock = createFakeClock();
    const scheduler = createCallScheduler({ requestsPerMinute: 6000, concurrency: 8 }, { clock });
    const lasting =
      (latencyMs: number, isAnswered: boolean): ScheduledCall =>
      async (onWire) => {
        onWire(true);
        await new Promise<void>((resolve) => {
          clock.after(latencyMs, resolve);
        });
        return isAnswered;
      };
    await Promise.all([
      run(scheduler, { key: 'is answered', calls: times(100, lasting(200, true)), size: 100 }),
      clock.advance(60_000),
    ]);
    const before = scheduler.carriedPerMinute();

    for (let poll = 0; poll < 60; poll += 1) {
      void run(scheduler, {
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
