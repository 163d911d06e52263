import { describe, expect, it } from 'vitest';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import { nothingToAskOutcome } from '../../src/model/poll-outcome.ts';
import type { Batch, Call, Question, Source, Stage } from '../../src/model/source.ts';
import { pollOnce } from '../../src/tools/poll-once.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function questionsOf(...ids: readonly string[]): readonly Question[] {
  return ids.map((id) => ({
    selected: aSelected({ id }),
    askHostNames: false,
    hostNames: new Map(),
    isListed: () => true,
  }));
}

/** Each application is a batch with these stages. */
function aSource(stages: (id: string) => readonly (readonly Call[])[]): Pick<Source, 'batches'> {
  return {
    batches: <Asked extends Question>(due: readonly Asked[]): readonly Batch<Asked>[] =>
      due.map((question) => {
        const { id } = question.selected.application;
        const left = stages(id).values();
        return {
          questions: [question],
          key: id,
          nextStage: (): Stage | undefined => {
            const calls = left.next().value;
            return calls === undefined ? undefined : { size: calls.length, calls: calls.values() };
          },
          giveUp: () => undefined,
          outcomeOf: (): PollOutcome => nothingToAskOutcome,
        };
      }),
  };
}

describe('pollOnce', () => {
  it.each([1, 3])('has at most %s batches and calls of a batch at work', async (concurrency) => {
    const clock = createFakeClock();
    const atWork = new Map<string, number>();
    let mostCalls = 0;
    let mostBatches = 0;
    const source = aSource((id) => [
      Array.from({ length: 5 }, () => async () => {
        atWork.set(id, (atWork.get(id) ?? 0) + 1);
        mostCalls = Math.max(mostCalls, atWork.get(id) ?? 0);
        mostBatches = Math.max(
          mostBatches,
          [...atWork.values()].filter((calls) => calls > 0).length,
        );
        await new Promise<void>((resolve) => {
          clock.after(10, resolve);
        });
        atWork.set(id, (atWork.get(id) ?? 0) - 1);
      }),
    ]);
    const { signal } = new AbortController();

    const polling = pollOnce(source, questionsOf('1', '2', '3', '4'), {
      wallMs: 0,
      concurrency,
      signal,
    });
    await clock.advance(1000);

    expect((await polling).size).toBe(4);
    expect({ mostCalls, mostBatches }).toEqual({
      mostCalls: concurrency,
      mostBatches: concurrency,
    });
  });

  it('aborts its calls and begins no other when it is stopped', async () => {
    const stop = new AbortController();
    const begun: string[] = [];
    const source = aSource((id) => [
      Array.from(
        { length: 3 },
        (): Call =>
          async ({ signal }) => {
            begun.push(id);
            await new Promise<void>((resolve) => {
              signal.addEventListener('abort', () => {
                resolve();
              });
            });
          },
      ),
    ]);

    const polling = pollOnce(source, questionsOf('1', '2'), {
      wallMs: 0,
      concurrency: 1,
      signal: stop.signal,
    });
    stop.abort(new Error('stopped'));

    await expect(polling).rejects.toThrow('stopped');
    expect(begun).toEqual(['1']);
  });
});
