import { describe, expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import { newAppState } from '../../src/poll/app-state.ts';
import { newQueryState } from '../../src/poll/query-state.ts';
import { idOf, type State, States } from '../../src/poll/states.ts';
import { anEntry, aQuery, aSelected } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';

interface Bench {
  readonly states: States;
  readonly goTo: (ms: number) => void;
  /** A poll ends now; the next one is due an interval after the time at which this one was. */
  readonly poll: (...ids: readonly string[]) => void;
  /** Everything is polled in time until then, from the last such poll on. */
  readonly calmUntil: (ms: number) => void;
  readonly reached: (isAsked?: (state: State) => boolean) => number;
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
    for (const state of states.all.filter((one) => polled.includes(idOf(one)))) {
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
        poll(...states.all.filter(({ dueMs }) => dueMs <= nowMs).map(idOf));
      }
      nowMs = ms;
    },
    reached: (isAsked) => states.reachedStretch(states.all, isAsked),
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

  it('grows while all wait, and stays for ten minutes after the last late poll', () => {
    const { calmUntil, goTo, poll, reached } = aBench(all);
    calmUntil(5.5 * minuteMs);
    const seen: number[] = [];
    for (const minute of [7, 8, 9]) {
      goTo(minute * minuteMs);
      seen.push(reached());
    }
    poll(...all);
    for (const minute of [18.99, 19.01]) {
      calmUntil(minute * minuteMs);
      seen.push(reached());
    }

    expect(seen).toEqual([2, 3, 4, 4, 1]);
  });

  it('is that of the longer gap until that is ten minutes old, then of the next longest', () => {
    const { calmUntil, goTo, poll, reached } = aBench(['a']);
    calmUntil(5.5 * minuteMs);
    for (const minute of [10, 12, 15]) {
      goTo(minute * minuteMs);
      poll('a');
    }
    const seen: number[] = [];
    for (const minute of [19.9, 20.1, 24.9, 25.1]) {
      calmUntil(minute * minuteMs);
      seen.push(reached());
    }

    expect(seen).toEqual([5, 3, 3, 1]);
  });

  it.each([
    { waiting: ['a'], of: ['a'], stretch: 5 },
    { waiting: ['a'], of: ['a', 'b'], stretch: 1 },
    { waiting: ['a'], of: all, stretch: 1 },
    { waiting: ['a', 'b'], of: all, stretch: 5 },
  ])('of $of is $stretch while $waiting wait: the median', ({ waiting, of, stretch }) => {
    const { states, calmUntil, goTo, poll, reached } = aBench(of);
    calmUntil(5.5 * minuteMs);
    for (const minute of [6, 7, 8, 9, 10]) {
      goTo(minute * minuteMs);
      poll(...states.all.map(idOf).filter((id) => !waiting.includes(id)));
    }

    expect(reached()).toBe(stretch);
  });

  it('counts only those that are asked for', () => {
    const { states, calmUntil, goTo, poll, reached } = aBench(all);
    calmUntil(5.5 * minuteMs);
    for (const minute of [6, 7, 8]) {
      goTo(minute * minuteMs);
      poll('b', 'c');
    }
    const seen = [(one: State) => idOf(one) === 'a', () => false].map((isAsked) =>
      reached(isAsked),
    );

    expect(states.all).toHaveLength(3);
    expect(seen).toEqual([3, 1]);
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
