import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import { type PollOutcome, type QueryOutcome, queryOutcomeOf } from '../model/poll-outcome.ts';
import type { PollCalls, Polled, QueryQuestion, Question, Source } from '../model/source.ts';

export interface PollsOptions {
  /** The wall time that all windows are cut from. */
  readonly wallMs: number;
  /** Groups, and calls of a group, that are under way together. */
  readonly concurrency: number;
  /** Aborts all calls. */
  readonly signal: AbortSignal;
}

/**
 * Polls each application once, at the pace of the source, and resolves to the outcomes by the id of the
 * application. What fails is in the outcomes. Rejects with the signal's reason.
 */
export async function pollOnce(
  source: Source,
  questions: readonly Question[],
  options: PollsOptions,
): Promise<ReadonlyMap<string, PollOutcome>> {
  const all = await pollEach(source, questions, options);
  return new Map(
    all.flatMap((one): [string, PollOutcome][] =>
      one.kind === 'application' ? [[one.question.selected.application.id, one.outcome]] : [],
    ),
  );
}

/** Asks one query, in the same way. */
export async function askOnce(
  source: Source,
  question: QueryQuestion,
  options: PollsOptions,
): Promise<QueryOutcome> {
  const [polled] = await pollEach(source, [question], options);
  if (polled?.kind === 'query') return polled.outcome;
  return queryOutcomeOf(new ApiError('client', 'the source said nothing about the query.'));
}

async function pollEach(
  source: Source,
  questions: readonly Question[],
  { wallMs, concurrency, signal }: PollsOptions,
): Promise<readonly Polled[]> {
  signal.throwIfAborted();
  // Every call listens to it.
  const ofCalls = AbortSignal.any([signal]);
  setMaxListeners(0, ofCalls);
  const calls: PollCalls = {
    run: async (_, each) =>
      eachOf(each, concurrency, async (call) => {
        // The rest is only counted off.
        if (!ofCalls.aborted) await call({ wallMs, signal: ofCalls });
      }),
  };
  const all: Polled[] = [];
  await eachOf(source.groups(questions, []).values(), concurrency, async (group) => {
    for await (const polled of source.poll(() => group, calls, ofCalls)) all.push(polled);
  });
  signal.throwIfAborted();
  return all;
}

/** Takes one item after the other, as many together as there are workers. */
async function eachOf<Item>(
  items: Iterator<Item, undefined>,
  workers: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let next = items.next(); next.done !== true; next = items.next()) await run(next.value);
    }),
  );
}
