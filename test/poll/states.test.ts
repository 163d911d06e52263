import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AppState, newAppState } from '../../src/poll/app-state.ts';
import { States, subjectId } from '../../src/poll/states.ts';
import { anEntry, aSelected, throughputSeries } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { webOf } from '../support/fake-source.ts';

const reading = {
  windowEndMs: 0,
  series: throughputSeries,
  application: webOf(1),
  hosts: new Map(),
};
/** A state whose first poll is due at `dueMs`. */
function aState(dueMs: number, overrides: Partial<AppState> = {}, id = 'a'): AppState {
  const state = newAppState(aSelected({ id }), 0, 0);
  return { ...state, dueMs, ...overrides };
}

interface Bench {
  readonly states: States;
  /** Goes to this monotonic time. */
  readonly goTo: (ms: number) => void;
}

function aBench(): Bench {
  let nowMs = 0;
  const clock = { ...createFakeClock(), monotonicMs: () => nowMs };
  const goTo = (ms: number): void => {
    nowMs = ms;
  };
  return { states: new States(clock), goTo };
}

/** The applications that fail from then on, or whose values are dropped, at each of these times. */
function changedAt({ states, goTo }: Bench, ...timesMs: number[]): readonly (readonly string[])[] {
  return timesMs.map((atMs) => {
    goTo(atMs);
    return states.look().changed.map(subjectId);
  });
}

function appOf(states: States, id = 'a'): AppState | undefined {
  return states.applications.get(id);
}

describe('States', () => {
  it('knows whose polls are due, that which has been due for longest first', () => {
    const { states, goTo } = aBench();
    for (const [id, dueMs] of Object.entries({ a: 3000, b: 1000, c: 2000 })) {
      states.set(aState(dueMs, {}, id));
    }
    goTo(999);
    const before = states.look();
    goTo(1000);
    const first = states.look();
    states.begin('b');
    goTo(1e9);

    expect([before.due, before.nextMs]).toEqual([[], 1000]);
    expect([first.due, first.nextMs]).toEqual([['b'], 2000]);
    expect(states.look().due).toEqual(['c', 'a']);
  });

  it.each([
    { what: 'after half an interval', pollsEnded: 1, dueMs: 90_000, early: ['a'] },
    { what: 'not before', pollsEnded: 1, dueMs: 90_001, early: [] },
    { what: 'if it was never polled', pollsEnded: 0, dueMs: 115_000, early: ['a'] },
  ])('lets an application be polled with others before it is due: $what', (row) => {
    const { states, goTo } = aBench();
    const { early, dueMs, pollsEnded } = row;
    states.set(aState(dueMs, { pollsEnded }));

    goTo(60_000);

    expect(states.look().due).toEqual([]);
    expect(states.early(10)).toEqual(early);
  });

  it('4.3 lets a poll wait for two of the intervals as they are stretched', () => {
    const bench = aBench();
    const { states } = bench;
    states.setStretch(3);
    states.set(aState(60_000, { reading, pollSucceeded: true }));

    expect(changedAt(bench, 60_000 + 360_000 - 1, 60_000 + 360_000)).toEqual([[], ['a']]);
  });

  it.each([
    { what: 'at its time with a longer one', afterMs: 900_000, dueMs: 700_000 },
    { what: 'at its time if that is within a shorter one', afterMs: 500_000, dueMs: 700_000 },
    { what: 'at its phase of a shorter one', afterMs: 60_000, dueMs: 215_000 },
  ])('polls with a new interval $what', (row) => {
    const { states, goTo } = aBench();
    const withInterval = (intervalMs: number): AppState => {
      const selected = { ...aSelected(), entry: anEntry({ poll: { intervalMs } }) };
      return aState(700_000, { selected, phase: 0.25, reading });
    };
    states.set(withInterval(600_000));
    goTo(200_000);

    states.set(withInterval(row.afterMs));

    const { nextMs, changed } = states.look();
    expect(Math.round(nextMs)).toBe(row.dueMs);
    expect(changed).toEqual([]);
  });

  it('keeps the share of an interval that has passed when all intervals become longer or shorter', () => {
    const { states, goTo } = aBench();
    states.set(aState(60_000));
    const dueAfter = [
      { atMs: 15_000, stretch: 4 },
      { atMs: 75_000, stretch: 2 },
      { atMs: 105_000, stretch: 2 },
    ].map(({ atMs, stretch }) => {
      goTo(atMs);
      states.setStretch(stretch);
      return states.look().nextMs;
    });

    // A quarter has passed, then a half, then three quarters.
    expect(dueAfter).toEqual([195_000, 135_000, 135_000]);
  });

  it('spreads first polls over the interval that comes, the very first at once', () => {
    const { states, goTo } = aBench();
    goTo(1000);
    states.setStretch(1.000_000_1);
    for (const id of ['a', 'b', 'c']) states.set(aState(1000, {}, id));
    states.askNew('application');

    const due = [...states.applications.values()].map(({ dueMs }) => Math.round(dueMs));
    expect(due).toEqual([1000, 38_082, 15_164]);
  });

  it.each([
    { what: 'at once', stretch: 1, due: [1000, 1000, 1000] },
    { what: 'spread, and never later than before', stretch: 2, due: [1000, 50_000, 29_328] },
  ])('makes polls due that bring what no poll has brought: $what', ({ stretch, due }) => {
    const { states, goTo } = aBench();
    goTo(1000);
    states.setStretch(stretch);
    for (const id of ['a', 'b', 'c', 'd']) states.set(aState(50_000, { pollsEnded: 1 }, id));
    states.askNew('application');
    for (const id of ['a', 'b', 'c', 'd']) states.set(aState(50_000, { pollsEnded: 1 }, id));
    const entry = anEntry({ poll: { delayMs: 1 } });
    for (const state of [...states.applications.values()].slice(0, 3)) {
      states.set({ ...state, selected: { ...state.selected, entry } });
    }
    states.askNew('query');
    expect(states.look().due).toEqual([]);
    states.askNew('application');

    const next = [...states.applications.values()].map(({ dueMs }) => Math.round(dueMs));
    expect(next).toEqual([...due, 50_000]);
  });

  it('comes back to the same moment, however often the stretch changes', () => {
    const change = fc.tuple(fc.double({ min: 1, max: 100, noNaN: true }), fc.nat(10_000));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const { states, goTo } = aBench();
        states.set(aState(60_000));
        let nowMs = 0;
        let passed = 0;
        for (const [stretch, forMs] of changes) {
          states.setStretch(stretch);
          nowMs += forMs;
          passed += forMs / (60_000 * stretch);
          goTo(nowMs);
          const left = (appOf(states)?.dueMs ?? 0) - nowMs;
          expect(1 - left / (60_000 * stretch)).toBeCloseTo(passed, 6);
        }
      }),
    );
  });
});
