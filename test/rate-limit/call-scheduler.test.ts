import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/model/clock.ts';
import type { CallScheduler } from '../../src/rate-limit/call-scheduler.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';
import { neverAborted } from '../transport/fakes.ts';
import { aJob, aScheduler, type OneRequest, runJob, times } from './fakes.ts';

interface Work {
  readonly started: string[];
  /** Ends the calls that are in flight now. */
  readonly endRound: () => Promise<void>;
  readonly inFlight: () => number;
  readonly add: (name: string, size: number, dueMs?: number) => Promise<void>;
}

/** For jobs that are overdue from the start: only the deadlines decide. */
function anEagerScheduler(concurrency: number): CallScheduler {
  return aScheduler({ requestsPerMinute: 800, concurrency }, createFakeClock(), 1e6);
}

function aWork(scheduler: CallScheduler): Work {
  const started: string[] = [];
  const ending: (() => void)[] = [];
  const callOf =
    (name: string): OneRequest =>
    async () => {
      started.push(name);
      await new Promise<void>((resolve) => {
        ending.push(resolve);
      });
      return true;
    };
  return {
    started,
    inFlight: () => ending.length,
    endRound: async () => {
      for (const end of ending.splice(0)) end();
      await settle();
    },
    add: async (key, size, dueMs = 0) =>
      runJob(scheduler, { key, calls: times(size, callOf(key)), size, dueMs }),
  };
}

describe('CallScheduler', () => {
  it('finishes small jobs one after the other rather than all of them late', async () => {
    const work = aWork(anEagerScheduler(2));
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];

    const jobs = names.map(async (name) => work.add(name, 3));
    for (let round = 0; round < 20; round += 1) await work.endRound();
    await Promise.all(jobs);

    const lastOfA = work.started.lastIndexOf('a');
    const lastOfF = work.started.lastIndexOf('f');
    expect(lastOfA).toBeLessThan(9);
    expect(lastOfF).toBe(17);
  });

  it('lets a small job overtake a large one that has already begun', async () => {
    const work = aWork(anEagerScheduler(8));
    const large = work.add('large', 10_000);
    for (let round = 0; round < 50; round += 1) await work.endRound();
    const before = work.started.length;

    let smallDone = false;
    const small = (async () => {
      await work.add('small', 5, 10_000);
      smallDone = true;
    })();
    for (let round = 0; round < 3; round += 1) await work.endRound();

    expect(smallDone).toBe(true);
    expect(work.started.length - before).toBeLessThan(100);
    await small;
    while (work.inFlight() > 0) await work.endRound();
    await large;
  });

  it('lets a list go before all calls that wait, however long they have waited', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 800, concurrency: 1 }, clock);
    const sent: string[] = [];
    const lasting = async (name: string): Promise<boolean> => {
      sent.push(name);
      await sleep(clock, 100, neverAborted);
      return true;
    };
    void runJob(scheduler, { calls: times(5, async () => lasting('poll')), size: 5, dueMs: -1e6 });
    await clock.advance(150);
    const list = async (): Promise<void> => {
      const { release } = await scheduler.first.next(0, neverAborted);
      release(await lasting('list'));
    };

    const listed = list();
    await clock.advance(1000);
    await listed;

    expect(sent).toEqual(['poll', 'poll', 'list', 'poll', 'poll', 'poll']);
  });

  it('ends a job with its last answer, even if nothing more may be sent at that time', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 1, concurrency: 1 }, clock);
    let endedAtMs: number | undefined;
    const call: OneRequest = async () => {
      await new Promise<void>((resolve) => {
        clock.after(200, resolve);
      });
      return true;
    };

    void (async () => {
      await runJob(scheduler, { calls: times(1, call), overdueMs: Number.POSITIVE_INFINITY });
      endedAtMs = clock.monotonicMs();
    })();
    await clock.advance(1000);

    expect(endedAtMs).toBe(200);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('sends the calls of a poll that is not overdue in batches of three seconds', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 600, concurrency: 8 }, clock);
    const startedAtMs: number[] = [];
    const call: OneRequest = async () => {
      startedAtMs.push(clock.monotonicMs());
      return true;
    };

    const done = runJob(scheduler, { calls: times(200, call), size: 200, overdueMs: 6000 });
    await clock.advance(5000);
    const inFiveSeconds = startedAtMs.length;
    await clock.advance(1000);
    await done;

    expect(inFiveSeconds).toBe(90);
    expect(new Set(startedAtMs)).toEqual(new Set([0, 3000, 6000]));
    expect(startedAtMs).toHaveLength(200);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('sends the calls of a poll that becomes overdue at once, not with the next batch', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 60, concurrency: 8 }, clock);
    const startedAtMs: number[] = [];
    const call: OneRequest = async () => {
      startedAtMs.push(clock.monotonicMs());
      return true;
    };
    void runJob(scheduler, { key: 'in time', calls: times(50, call), size: 50, overdueMs: 1e9 });
    await clock.advance(3000);
    const before = startedAtMs.length;

    void runJob(scheduler, { key: 'overdue', calls: times(2, call), size: 2, overdueMs: 4100 });
    await clock.advance(1500);

    expect(startedAtMs.slice(before)).toEqual([4100, 4100]);
  });

  it('starts no more calls of a cancelled job, does not report its end, and leaves no timer', async () => {
    const clock = createFakeClock();
    const scheduler = aScheduler({ requestsPerMinute: 60, concurrency: 1 }, clock);
    let started = 0;
    let ended = 0;
    const call: OneRequest = async () => {
      started += 1;
      return true;
    };
    const job = aJob({ calls: times(100, call), size: 100, overdueMs: 1e9 }, () => {
      ended += 1;
    });

    scheduler.add(job);
    await clock.advance(5000);
    const before = started;
    scheduler.cancel(job);
    scheduler.cancel(job);
    await clock.advance(60_000);

    expect(before).toBeGreaterThan(0);
    expect([started, ended]).toEqual([before, 0]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('does not widen the window of a job that gets no answers, however fast its calls fail', async () => {
    const scheduler = anEagerScheduler(8);
    const ending: (() => void)[] = [];
    const most: number[] = [];
    const call: OneRequest = async () => {
      await new Promise<void>((resolve) => {
        ending.push(resolve);
      });
      return false;
    };

    void runJob(scheduler, { calls: times(100, call), size: 100 });
    await settle();
    for (let round = 0; round < 10; round += 1) {
      most.push(ending.length);
      for (const end of ending.splice(0)) end();
      await settle();
    }

    expect(new Set(most)).toEqual(new Set([2]));
  });
});
