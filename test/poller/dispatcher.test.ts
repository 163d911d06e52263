import { getEventListeners, setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Call, createDispatcher, type Dispatcher } from '../../src/poller/dispatcher.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';

const { signal } = new AbortController();
setMaxListeners(0, signal);

interface Work {
  readonly started: string[];
  /** Ends the calls under way, one round of them. */
  readonly endRound: () => Promise<void>;
  readonly inFlight: () => number;
  readonly add: (name: string, size: number, dueMs?: number) => Promise<void>;
}

/** For jobs that are overdue from the start: nothing but the ranks decides. */
function anEagerDispatcher(concurrency: number): Dispatcher {
  return createDispatcher({ requestsPerMinute: 800, concurrency }, { clock: createFakeClock() });
}

function aWork(dispatcher: Dispatcher): Work {
  const started: string[] = [];
  const ending: (() => void)[] = [];
  const calls = function* (name: string, size: number): Generator<Call, undefined> {
    for (let index = 0; index < size; index += 1) {
      yield async () => {
        started.push(name);
        await new Promise<void>((resolve) => {
          ending.push(resolve);
        });
      };
    }
    return undefined;
  };
  return {
    started,
    inFlight: () => ending.length,
    endRound: async () => {
      for (const end of ending.splice(0)) end();
      await settle();
    },
    add: async (name, size, dueMs = 0) => {
      await dispatcher.run(
        { key: name, calls: calls(name, size), size, dueMs, overdueMs: 0, spanMs: 60_000 },
        signal,
      );
    },
  };
}

describe('createDispatcher', () => {
  it('finishes small jobs one after the other rather than all of them late', async () => {
    const work = aWork(anEagerDispatcher(2));
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];

    const jobs = names.map(async (name) => work.add(name, 3));
    for (let round = 0; round < 20; round += 1) await work.endRound();
    await Promise.all(jobs);

    const lastOfA = work.started.lastIndexOf('a');
    const lastOfF = work.started.lastIndexOf('f');
    expect(lastOfA).toBeLessThan(9);
    expect(lastOfF).toBe(17);
  });

  it('lets a small job overtake a large one that is already under way', async () => {
    const work = aWork(anEagerDispatcher(8));
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

  it('never gives all jobs together more than concurrency calls, as long as none is slow', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.nat(40), { minLength: 1, maxLength: 12 }),
        async (concurrency, sizes) => {
          const work = aWork(anEagerDispatcher(concurrency));
          let most = 0;

          const jobs = sizes.map(async (size, index) => work.add(`${index}`, size));
          await settle();
          const inFirstRound = sizes.map(
            (_, index) => work.started.filter((name) => name === `${index}`).length,
          );
          do {
            most = Math.max(most, work.inFlight());
            await work.endRound();
          } while (work.inFlight() > 0);
          await Promise.all(jobs);

          expect(Math.max(...inFirstRound)).toBeLessThanOrEqual(concurrency);
          expect(most).toBeLessThanOrEqual(concurrency);
          expect(work.started).toHaveLength(sizes.reduce((sum, size) => sum + size, 0));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('ends a job that has no calls at once', async () => {
    const work = aWork(anEagerDispatcher(8));

    await work.add('empty', 0);

    expect(work.started).toEqual([]);
  });

  it('sends the calls of a poll that is not overdue in batches of three seconds', async () => {
    const clock = createFakeClock();
    const dispatcher = createDispatcher({ requestsPerMinute: 600, concurrency: 8 }, { clock });
    const startedAtMs: number[] = [];
    const calls = function* (): Generator<Call, undefined> {
      for (let index = 0; index < 200; index += 1) {
        yield async () => {
          startedAtMs.push(clock.monotonicMs());
        };
      }
      return undefined;
    };

    const job = { key: 'a', calls: calls(), size: 200, dueMs: 0, overdueMs: 6000, spanMs: 60_000 };
    const done = dispatcher.run(job, signal);
    await clock.advance(5000);
    const inFiveSeconds = startedAtMs.length;
    await clock.advance(1000);
    await done;

    expect(inFiveSeconds).toBe(90);
    expect(new Set(startedAtMs)).toEqual(new Set([0, 3000, 6000]));
    expect(startedAtMs).toHaveLength(200);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('leaves no listener on the signal, and starts nothing more once that is aborted', async () => {
    const clock = createFakeClock();
    const dispatcher = createDispatcher({ requestsPerMinute: 60, concurrency: 1 }, { clock });
    const abort = new AbortController();
    let started = 0;
    const calls = function* (): Generator<Call, undefined> {
      for (let index = 0; index < 100; index += 1) {
        yield async () => {
          started += 1;
        };
      }
      return undefined;
    };
    const job = { key: 'a', calls: calls(), size: 100, dueMs: 0, overdueMs: 1e9, spanMs: 60_000 };

    const done = dispatcher.run(job, abort.signal);
    await clock.advance(5000);
    const before = started;
    abort.abort(new Error('stop'));
    await done;
    await clock.advance(60_000);

    expect(before).toBeGreaterThan(0);
    expect(started).toBe(before);
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('removes its listener when a job has ended', async () => {
    const abort = new AbortController();
    const dispatcher = anEagerDispatcher(1);
    const calls = [async () => {}][Symbol.iterator]();

    await dispatcher.run(
      { key: 'a', calls, size: 1, dueMs: 0, overdueMs: 0, spanMs: 1 },
      abort.signal,
    );

    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  });

  it('keeps the distance of a new budget from the moment it is resized, without a burst', async () => {
    const clock = createFakeClock();
    const dispatcher = createDispatcher({ requestsPerMinute: 600, concurrency: 8 }, { clock });
    const abort = new AbortController();
    let started = 0;
    const calls = function* (): Generator<Call, undefined> {
      for (;;) {
        yield async () => {
          started += 1;
        };
      }
    };
    const job = { key: 'a', calls: calls(), size: 1e6, dueMs: 0, overdueMs: 1e9, spanMs: 60_000 };
    const done = dispatcher.run(job, abort.signal);
    await clock.advance(60_000);
    const before = started;

    dispatcher.resize(60);
    await clock.advance(60_000);
    const after = started - before;
    abort.abort(new Error('test over'));
    await done;

    expect(before).toBeGreaterThanOrEqual(600);
    expect(before).toBeLessThanOrEqual(660);
    expect(after).toBeGreaterThanOrEqual(58);
    expect(after).toBeLessThanOrEqual(62);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('gives the jobs whose calls hang a quarter of the places between them, in later polls too', async () => {
    const clock = createFakeClock();
    const dispatcher = createDispatcher({ requestsPerMinute: 6000, concurrency: 8 }, { clock });
    const hanging = new Map<string, () => void>();
    const hang = async (key: string): Promise<void> =>
      new Promise((resolve) => {
        hanging.set(key, resolve);
      });
    const add = async (key: string): Promise<void> => {
      const calls = [async () => hang(key)].values();
      const times = { dueMs: clock.monotonicMs(), overdueMs: 0, spanMs: 60_000 };
      await dispatcher.run({ key, calls, size: 1, ...times }, signal);
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

  it('lets others go on beside a job whose calls hang', async () => {
    const clock = createFakeClock();
    const dispatcher = createDispatcher({ requestsPerMinute: 6000, concurrency: 8 }, { clock });
    const abort = new AbortController();
    let hanging = 0;
    let answered = 0;
    const add = async (key: string, call: Call): Promise<void> => {
      const calls = Array.from({ length: 1000 }, () => call).values();
      const times = { dueMs: clock.monotonicMs(), overdueMs: 0, spanMs: 60_000 };
      await dispatcher.run({ key, calls, size: 1000, ...times }, abort.signal);
    };

    void add('hangs', async () => {
      hanging += 1;
      await new Promise(() => undefined);
    });
    await clock.advance(10_000);
    void add('is answered', async () => {
      await new Promise<void>((resolve) => {
        clock.after(200, resolve);
      });
      answered += 1;
    });
    await clock.advance(10_000);
    abort.abort(new Error('test over'));
    await clock.advance(1000);

    expect(hanging).toBe(2);
    // Eight at a time, of which each takes a fifth of a second, but for the first few.
    expect(answered).toBeGreaterThan(350);
  });
});
