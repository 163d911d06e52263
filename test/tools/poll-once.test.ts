import { describe, expect, it } from 'vitest';
import { nothingToAskOutcome } from '../../src/model/poll-outcome.ts';
import type { Call, Question, Source } from '../../src/model/source.ts';
import { pollOnce } from '../../src/tools/poll-once.ts';
import { aSilentSource } from '../support/a-context.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function questionsOf(...ids: readonly string[]): readonly Question[] {
  return ids.map((id) => ({
    kind: 'application',
    selected: aSelected({ id }),
    askHostNames: false,
    hostNames: new Map(),
    isListed: () => true,
  }));
}

/** Each application is a group with these calls. */
function aSource(callsOf: (id: string) => readonly Call[]): Source {
  return aSilentSource({
    async *poll(asked, calls) {
      for (const question of asked()) {
        if (question.kind !== 'application') continue;
        const all = callsOf(question.selected.application.id);
        await calls.run(() => all.length, all.values());
        yield { kind: 'application', question, outcome: nothingToAskOutcome };
      }
    },
  });
}

describe('pollOnce', () => {
  it.each([1, 3])('has at most %s groups and calls of a group at work', async (concurrency) => {
    const clock = createFakeClock();
    const atWork = new Map<string, number>();
    let mostCalls = 0;
    let mostGroups = 0;
    const source = aSource((id) =>
      Array.from({ length: 5 }, () => async () => {
        atWork.set(id, (atWork.get(id) ?? 0) + 1);
        mostCalls = Math.max(mostCalls, atWork.get(id) ?? 0);
        mostGroups = Math.max(mostGroups, [...atWork.values()].filter((calls) => calls > 0).length);
        await new Promise<void>((resolve) => {
          clock.after(10, resolve);
        });
        atWork.set(id, (atWork.get(id) ?? 0) - 1);
      }),
    );
    const { signal } = new AbortController();

    const polling = pollOnce(source, questionsOf('1', '2', '3', '4'), {
      wallMs: 0,
      concurrency,
      signal,
    });
    await clock.advance(1000);

    expect((await polling).size).toBe(4);
    expect({ mostCalls, mostGroups }).toEqual({
      mostCalls: concurrency,
      mostGroups: concurrency,
    });
  });

  it('aborts its calls and begins no other when it is stopped', async () => {
    const stop = new AbortController();
    const begun: string[] = [];
    const source = aSource((id) =>
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
    );

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
