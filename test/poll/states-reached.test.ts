import { describe, expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import { newAppState } from '../../src/poll/app-state.ts';
import { newQueryState } from '../../src/poll/query-state.ts';
import { States, subjectId } from '../../src/poll/states.ts';
import { anEntry, aQuery, aSelected } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';

interface Bench {
  readonly states: States;
  readonly goTo: (ms: number) => void;
  /** A poll ends now; the next one is due an interval after the time at which this one was. */
  readonly poll: (...ids: readonly string[]) => void;
  /** Everything is polled in time until then, from the last such poll on. */
  readonly calmUntil: (ms: number) => void;
  readonly reached: () => number;
}

const everyMinute = { intervalMs: minuteMs, staleAfterMs: 15 * minuteMs };

/** Applications with an interval of a minute, found at 0. */
function aBench(ids: readonly string[]): Bench {
  let nowMs = 0;
  const states = new States({ ...createFakeClock(), monotonicMs: () => nowMs });
  for (const id of ids) {
    const selected = { ...aSelected({ id }), entry: anEntry({ poll: everyMinute }) };
    states.set(newAppState(selected, 0, nowMs));
  }
  const poll = (...polled: readonly string[]): void => {
    for (const state of states.all.filter((one) => polled.includes(subjectId(one)))) {
      const ended = { ...state, pollsEnded: state.pollsEnded + 1 };
      const how = { headroom: 0.5, phase: undefined };
      states.set(states.afterTurn(ended, Math.min(state.dueMs, nowMs), how).state);
    }
  };
  return {
    states,
    poll,
    goTo: (ms) => {
      nowMs = ms;
    },
    calmUntil: (ms) => {
      for (; nowMs <= ms; nowMs += secondMs) {
        poll(...states.all.filter(({ dueMs }) => dueMs <= nowMs).map(subjectId));
      }
      nowMs = ms;
    },
    reached: () => states.reachedStretch(states.all),
  };
}

const all = ['a', 'b', 'c'];

describe('the stretch that States have reached', () => {
  it('is that of the plan while polls are as late as is promised', () => {
    const { states, calmUntil, goTo, reached } = aBench(all);
    calmUntil(5 * minuteMs);
    goTo(6 * minuteMs + 14 * secondMs);
    const unstretched = reached();
    states.setStretch(2);
    calmUntil(20 * minuteMs);

    expect([unstretched, reached()]).toEqual([1, 2]);
  });

  it('counts each by its own interval, queries as well', () => {
    const { states, calmUntil, goTo, reached } = aBench(['a']);
    const poll = { ...aQuery.poll, intervalMs: 5 * minuteMs };
    states.set(newQueryState({ ...aQuery, poll }, 0, 0));
    calmUntil(5.5 * minuteMs);
    goTo(25 * minuteMs);

    expect(states.all.map((one) => states.reachedStretch([one]))).toEqual([20, 4]);
    expect(reached()).toBe(4);
  });

  it('grows while first polls wait', () => {
    const { goTo, poll, reached } = aBench(all);
    const seen = [60, 130, 180].map((seconds) => {
      goTo(seconds * secondMs);
      return reached();
    });
    poll(...all);

    expect([...seen, reached()]).toEqual([1, 130 / 60, 3, 3]);
  });

  it('is not that of second polls, which the even pace may make an interval longer', () => {
    const { goTo, poll, reached } = aBench(all);
    const seen = [1, 119, 178, 260].map((seconds) => {
      goTo(seconds * secondMs);
      const before = reached();
      poll(...all);
      return before;
    });

    expect(seen).toEqual([1, 1, 1, 82 / 60]);
  });

  it('follows another plan at once: nothing was late', () => {
    const { states, calmUntil, reached } = aBench(all);
    states.setStretch(4);
    calmUntil(20.5 * minuteMs);
    const before = reached();
    states.setStretch(1);
    const after = reached();
    calmUntil(23 * minuteMs);

    expect([before, after, reached()]).toEqual([4, 1, 1]);
  });
});
