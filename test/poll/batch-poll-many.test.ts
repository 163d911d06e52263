import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../src/model/api-error.ts';
import { nothingToAskOutcome, type PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Batch, Call } from '../../src/model/source.ts';
import { BatchPoll, type PollRequest } from '../../src/poll/batch-poll.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { inTurn } from '../support/fake-source.ts';

/** How long a call takes; one that hangs may not even end when it is broken off. */
type Lasts = number | 'until aborted' | 'for ever';

interface BatchPlan {
  /** The deadline of each application. */
  readonly deadlinesMs: readonly number[];
  /** The calls of each stage. */
  readonly stages: readonly (readonly Lasts[])[];
  /** The parts that each outcome is about. */
  readonly partCount?: number;
}

interface Bench {
  readonly poll: BatchPoll;
  readonly requests: readonly PollRequest[];
  /** When each outcome was told, by the number of the application in its batch. */
  readonly told: { readonly number: number; readonly atMs: number }[];
  /** When each call began and ended, by stage. */
  readonly calls: { readonly stage: number; readonly beganMs: number; endedMs: number }[];
  readonly givenUp: ApiError[];
  readonly signals: AbortSignal[];
}

function aRequest(number: number, deadlineMs: number): PollRequest {
  return {
    selected: aSelected({ id: `${number}` }),
    dueMs: 0,
    periodMs: 60_000,
    deadlineMs,
    hasFailed: false,
    askHostNames: false,
    hostNames: new Map(),
    isListed: () => true,
  };
}

async function lasting(clock: FakeClock, lasts: Lasts, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancel = typeof lasts === 'number' ? clock.after(lasts, resolve) : undefined;
    if (lasts === 'for ever') return;
    signal.addEventListener('abort', () => {
      cancel?.();
      resolve();
    });
  });
}

function starter(clock: FakeClock): (plan: BatchPlan) => Bench {
  const ofAccount = accountCalls(clock, { requestsPerMinute: 1_000_000, concurrency: 10_000 });
  return ({ deadlinesMs, stages, partCount = 0 }) => {
    const requests = deadlinesMs.map((deadlineMs, number) => aRequest(number, deadlineMs));
    const bench: Omit<Bench, 'poll'> = { requests, told: [], calls: [], givenUp: [], signals: [] };
    let stage = -1;
    const callOf =
      (lasts: Lasts): Call =>
      async (context) =>
        inTurn(context, async () => {
          bench.signals.push(context.signal);
          const call = { stage, beganMs: clock.monotonicMs(), endedMs: Number.POSITIVE_INFINITY };
          bench.calls.push(call);
          await lasting(clock, lasts, context.signal);
          call.endedMs = clock.monotonicMs();
        });
    const outcomes = new Map(
      requests.map((one): [PollRequest, PollOutcome] => [
        one,
        { ...nothingToAskOutcome, partCount },
      ]),
    );
    const batch: Batch<PollRequest> = {
      questions: requests,
      key: 'some',
      nextStage: () => {
        stage += 1;
        const calls = stages[stage]?.map(callOf);
        return calls && { size: calls.length, calls: calls.values() };
      },
      giveUp: (error) => bench.givenUp.push(error),
      outcomeOf: (request) => outcomes.get(request) ?? nothingToAskOutcome,
    };
    const poll = new BatchPoll(
      batch,
      { calls: ofAccount, clock },
      {
        begins: () => undefined,
        ended: (request, outcome) => {
          if (outcome !== outcomes.get(request)) throw new Error('the outcome of another one');
          bench.told.push({ number: requests.indexOf(request), atMs: clock.monotonicMs() });
        },
      },
    );
    return { ...bench, poll };
  };
}

const numbersOf = ({ told }: Bench): readonly number[] => told.map(({ number }) => number);

describe('a poll of many applications', () => {
  it.each([
    { partCount: 1, turn: 100 },
    { partCount: 21, turn: 10 },
    { partCount: 10_000, turn: 1 },
  ])(
    'reports $turn outcomes of $partCount parts in a turn, and none of those that are dropped in between',
    async ({ partCount, turn }) => {
      const clock = createFakeClock();
      const deadlinesMs = Array.from({ length: 120 }, () => 120_000);
      const bench = starter(clock)({ deadlinesMs, stages: [[]], partCount });
      await settle();
      const inFirstTurn = bench.told.length;
      for (const request of bench.requests.slice(110)) bench.poll.drop(request, new Error('no'));

      await clock.advance(0);

      expect(inFirstTurn).toBe(turn);
      expect(numbersOf(bench)).toEqual(Array.from({ length: 110 }, (_, number) => number));
      expect(clock.pendingTimers()).toBe(0);
    },
  );
});

describe('any batches', () => {
  const lasts: fc.Arbitrary<Lasts> = fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 90_000 }) },
    fc.constantFrom<Lasts>('until aborted', 'for ever'),
  );
  const plan: fc.Arbitrary<BatchPlan> = fc.record({
    deadlinesMs: fc.array(fc.integer({ min: 1000, max: 120_000 }), { minLength: 1, maxLength: 70 }),
    stages: fc.array(fc.array(lasts, { maxLength: 4 }), { maxLength: 4 }),
  });
  const drop = fc.record({
    batch: fc.nat(3),
    number: fc.nat(70),
    afterMs: fc.integer({ min: 0, max: 30_000 }),
  });

  /** Every stage begins after the one before has ended, and none after the deadline. */
  function expectOrder({ calls, requests }: Bench): void {
    const deadlineMs = Math.max(...requests.map((one) => one.deadlineMs));
    for (const { stage, beganMs } of calls) {
      const before = calls.filter((one) => one.stage < stage);
      expect(Math.max(-1, ...before.map(({ endedMs }) => endedMs))).toBeLessThanOrEqual(beganMs);
      expect(beganMs).toBeLessThanOrEqual(deadlineMs);
    }
  }

  it('report one outcome for each application that is wanted, and leave no timer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { minLength: 1, maxLength: 4 }),
        fc.array(drop, { maxLength: 40 }),
        async (plans, drops) => {
          const clock = createFakeClock();
          const benches = plans.map(starter(clock));
          const dropped = benches.map(() => new Set<number>());
          for (const { batch, number, afterMs } of drops) {
            await clock.advance(afterMs);
            const bench = benches[batch];
            const request = bench?.requests[number];
            if (bench === undefined || request === undefined) continue;
            // As the poll loop does, which forgets what has ended.
            if (numbersOf(bench).includes(number)) continue;
            dropped[batch]?.add(number);
            bench.poll.drop(request, new Error('not wanted'));
          }
          await clock.advance(130_000);
          await settle();

          for (const [index, bench] of benches.entries()) {
            const wanted = [...bench.requests.keys()].filter(
              (one) => dropped[index]?.has(one) !== true,
            );
            expect(numbersOf(bench).toSorted((a, b) => a - b)).toEqual(wanted);
            expectOrder(bench);
          }
          expect(clock.pendingTimers()).toBe(0);
        },
      ),
      { numRuns: 150 },
    );
  });
});
