import { setMaxListeners } from 'node:events';
import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Batch, CallContext, Question, Source } from '../model/source.ts';

export interface PollsOptions {
  /** The wall time that all windows are cut from. */
  readonly wallMs: number;
  /** Batches, and calls of a batch, that are under way together. */
  readonly concurrency: number;
  /** Aborts all calls. */
  readonly signal: AbortSignal;
}

/**
 * Polls each application once, at the pace of the source, and resolves to the outcomes by the id of the
 * application. What fails is in the outcomes. Rejects with the signal's reason.
 */
export async function pollOnce(
  source: Pick<Source, 'batches'>,
  questions: readonly Question[],
  { wallMs, concurrency, signal }: PollsOptions,
): Promise<ReadonlyMap<string, PollOutcome>> {
  signal.throwIfAborted();
  // Every call listens to it.
  const ofCalls = AbortSignal.any([signal]);
  setMaxListeners(0, ofCalls);
  const context = { wallMs, signal: ofCalls };
  const outcomes = new Map<string, PollOutcome>();
  await eachOf(source.batches(questions, []).values(), concurrency, async (batch) => {
    await allCallsOf(batch, context, concurrency);
    for (const question of batch.questions) {
      outcomes.set(question.selected.application.id, batch.outcomeOf(question));
    }
  });
  signal.throwIfAborted();
  return outcomes;
}

/** Makes all calls of a batch. */
export async function allCallsOf(
  batch: Pick<Batch, 'nextStage'>,
  context: CallContext,
  concurrency: number,
): Promise<void> {
  for (let stage = batch.nextStage(); stage !== undefined; stage = batch.nextStage()) {
    await eachOf(stage.calls, concurrency, async (call) => {
      // The rest of a stage is only counted off.
      if (!context.signal.aborted) await call(context);
    });
  }
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
