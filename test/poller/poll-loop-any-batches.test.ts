import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import {
  nothingToAskOutcome,
  type PollOutcome,
  skippedOutcome,
} from '../../src/model/poll-outcome.ts';
import type { Batch, Call, Question, Source } from '../../src/model/source.ts';
import { PollLoop } from '../../src/poller/poll-loop.ts';
import { restCosts } from '../../src/rest/rest-source.ts';
import { aScheduler } from '../rate-limit/fakes.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { inTurn } from '../support/fake-source.ts';
import { aTable, found, signal, type TableBench } from '../support/table-bench.ts';

/** What becomes of the next batch. */
interface Fate {
  /** How many applications it has at most. */
  readonly size: number;
  /** How long each call takes, stage by stage; -1: until it is broken off. */
  readonly stages: readonly (readonly number[])[];
  readonly fails: boolean;
}

/** Batches as the fates want them, one after the other, with early applications in the last one. */
function aSource(
  clock: FakeClock,
  fates: readonly Fate[],
  { earlyMs, asked }: { earlyMs: number; readonly asked: string[] },
): Source {
  let made = 0;
  const next = <Asked extends Question>(questions: readonly Asked[], fate: Fate): Batch<Asked> => {
    const stages = fate.stages.values();
    return {
      questions,
      key: `${questions.length}`,
      nextStage: () => {
        const calls = stages.next().value?.map(
          (ms): Call =>
            async (context) =>
              inTurn(context, async () => {
                await new Promise<void>((resolve) => {
                  const cancel = ms < 0 ? () => undefined : clock.after(ms, resolve);
                  context.signal.addEventListener('abort', () => {
                    cancel();
                    resolve();
                  });
                });
              }),
        );
        return calls && { size: calls.length, calls: calls.values() };
      },
      giveUp: () => undefined,
      outcomeOf: (): PollOutcome =>
        fate.fails ? skippedOutcome(new ApiError('server', 'no')) : nothingToAskOutcome,
    };
  };
  return {
    costs: restCosts,
    listsHosts: true,
    earlyMs,
    discover: async () => Promise.reject(new Error('not asked')),
    hostNames: async () => Promise.reject(new Error('not asked')),
    batches: (due, early) => {
      const batches = [];
      for (let from = 0; from < due.length; ) {
        const fate = fates[made % fates.length] ?? { size: 1, stages: [], fails: false };
        made += 1;
        const own = due.slice(from, from + fate.size);
        from += own.length;
        const free = from < due.length ? 0 : fate.size - own.length;
        const questions = [...own, ...early.slice(0, free)];
        asked.push(...questions.map(({ selected }) => selected.application.id));
        batches.push(next(questions, fate));
      }
      return batches;
    },
  };
}

interface Bench extends TableBench {
  readonly loop: PollLoop;
  /** How often polls of each application began, ended with an outcome, and ended without one. */
  readonly counts: ReadonlyMap<string, { begun: number; polled: number; aborted: number }>;
  /** The applications of all batches. */
  readonly asked: string[];
}

async function aLoop(count: number, fates: readonly Fate[], earlyMs: number): Promise<Bench> {
  const clock = createFakeClock();
  const asked: string[] = [];
  const source = aSource(clock, fates, { earlyMs, asked });
  const bench = aTable({ entries: [anEntry()], budgetPerMinute: () => 100_000, clock, source });
  const { table } = bench;
  const ids = Array.from({ length: count }, (_, index) => `${index}`);
  const counts = new Map(ids.map((id) => [id, { begun: 0, polled: 0, aborted: 0 }]));
  const count1 = (id: string, what: 'begun' | 'polled' | 'aborted'): void => {
    const known = counts.get(id);
    if (known !== undefined) known[what] += 1;
  };
  const real = {
    begin: table.begin.bind(table),
    polled: table.polled.bind(table),
    aborted: table.aborted.bind(table),
  };
  Object.assign(table, {
    begin: (id: string) => (count1(id, 'begun'), real.begin(id)),
    polled: (...args: Parameters<typeof table.polled>) => (
      count1(args[0], 'polled'), real.polled(...args)
    ),
    aborted: (id: string) => (count1(id, 'aborted'), real.aborted(id)),
  });
  const taken = table.discovered(found(...ids.map((id) => anApplication({ id }))), signal);
  await clock.advance(0);
  await taken;
  const scheduler = aScheduler({ requestsPerMinute: 100_000, concurrency: 1000 }, clock);
  const loop = new PollLoop(table, { source, scheduler, clock, unauthorized: () => undefined });
  return { ...bench, loop, counts, asked };
}

/** A batch that never ends by itself. */
const endless: Fate = { size: 1000, stages: [[-1]], fails: false };

describe('an application that is due, and in no batch yet', () => {
  it('is in a batch once, even if its poll is aborted before', async () => {
    const { loop, clock, counts } = await aLoop(450, [endless], 30_000);
    loop.wake();

    loop.abort(['0', '1']);
    await clock.advance(1000);

    expect(counts.get('0')).toEqual({ begun: 2, polled: 0, aborted: 1 });
    expect(counts.get('2')).toEqual({ begun: 1, polled: 0, aborted: 0 });
    loop.stop();
    expect(clock.pendingTimers()).toBe(0);
  });

  it('is in none when it is gone', async () => {
    const { loop, clock, table, asked } = await aLoop(450, [endless], 30_000);
    const others = Array.from({ length: 449 }, (_, index) => anApplication({ id: `${index + 1}` }));
    loop.wake();

    const discovered = async (): Promise<void> => {
      loop.abort(await table.discovered(found(...others), signal));
    };
    const done = discovered();
    await clock.advance(1000);
    await done;

    expect(asked.toSorted((a, b) => Number(a) - Number(b))).toEqual(others.map(({ id }) => id));
    loop.stop();
    expect(clock.pendingTimers()).toBe(0);
  });

  it('is forgotten when the account is stopped', async () => {
    const { loop, clock, counts } = await aLoop(450, [endless], 30_000);
    loop.wake();

    loop.stop();
    await clock.advance(1000);

    expect([...counts.values()].filter(({ begun }) => begun > 0)).toHaveLength(200);
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('polls in any batches, aborted and answered in any order', () => {
  const callMs = fc.oneof({ weight: 5, arbitrary: fc.nat(70_000) }, fc.constant(-1));
  const fate: fc.Arbitrary<Fate> = fc.record({
    size: fc.integer({ min: 1, max: 12 }),
    stages: fc.array(fc.array(callMs, { maxLength: 3 }), { maxLength: 3 }),
    fails: fc.boolean(),
  });
  const step = fc.record({
    aborted: fc.array(fc.nat(30), { maxLength: 6 }),
    isWoken: fc.boolean(),
    thenMs: fc.nat(40_000),
  });

  it('have one outcome for each start, never two at a time, and leave no timer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(30),
        fc.array(fate, { minLength: 1, maxLength: 8 }),
        fc.array(step, { maxLength: 12 }),
        fc.constantFrom(0, 30_000),
        async (count, fates, steps, earlyMs) => {
          const { loop, clock, counts, table } = await aLoop(count, fates, earlyMs);
          loop.wake();
          for (const { aborted, isWoken, thenMs } of steps) {
            loop.abort(aborted.map(String));
            // Without it those that were called off wait for the next event.
            if (isWoken) loop.wake();
            await clock.advance(thenMs);
            for (const { begun, polled, aborted: off } of counts.values()) {
              expect([0, 1]).toContain(begun - polled - off);
            }
          }
          loop.wake();
          await clock.advance(125_000);
          for (const { polled } of counts.values()) expect(polled).toBeGreaterThan(0);
          for (const id of counts.keys())
            expect(table.states.get(id)?.pollsEnded).toBe(counts.get(id)?.polled);
          loop.stop();
          await clock.advance(0);
          expect(clock.pendingTimers()).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});
