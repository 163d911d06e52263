import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AppState, appRules, newAppState } from '../../src/poll/app-state.ts';
import { DueQueue } from '../../src/poll/due-queue.ts';
import { VirtualClock } from '../../src/poll/virtual-clock.ts';
import { anEntry, aSelected, throughputSeries } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { webOf } from '../support/fake-source.ts';

const reading = {
  windowEndMs: 0,
  series: throughputSeries,
  application: webOf(1),
  hosts: new Map(),
};
/** How long the values of an application are held by default. */
const staleMs = 900_000;
/** How long a poll may be due, with an interval of a minute. */
const lateMs = 120_000;

/** A state whose first poll is due at `dueMs`. */
function aState(dueMs: number, overrides: Partial<AppState> = {}): AppState {
  return { ...newAppState(aSelected(), 0, 0), turn: { fromMs: dueMs, intervals: 0 }, ...overrides };
}

interface Bench {
  readonly states: DueQueue<AppState>;
  readonly time: VirtualClock;
  /** Goes to this monotonic time. */
  readonly goTo: (ms: number) => void;
}

function aBench(): Bench {
  let nowMs = 0;
  const clock = { ...createFakeClock(), monotonicMs: () => nowMs };
  const time = new VirtualClock(clock);
  const goTo = (ms: number): void => {
    nowMs = ms;
  };
  return { states: new DueQueue(appRules, { clock, time, isThrottled: () => false }), time, goTo };
}

/** The ids in the order in which they fall due, each with a poll that ends at once. */
function inOrder({ states, goTo }: Bench): readonly string[] {
  goTo(1e9);
  const ids: string[] = [];
  for (let id = states.firstDue(); id !== undefined; id = states.firstDue()) {
    ids.push(id);
    states.begin(id);
  }
  return ids;
}

/** The applications that fail from then on, or whose values are dropped, at each of these times. */
function changedAt({ states, goTo }: Bench, ...timesMs: number[]): readonly (readonly string[])[] {
  return timesMs.map((atMs) => {
    goTo(atMs);
    return states.dropStale();
  });
}

describe('DueQueue', () => {
  it('knows whose poll has been due for longest', () => {
    const bench = aBench();
    const { states, goTo } = bench;
    for (const [id, dueMs] of Object.entries({ a: 3000, b: 1000, c: 2000 })) {
      states.set(id, aState(dueMs));
    }
    goTo(999);
    const before = states.firstDue();
    goTo(1000);

    expect([before, states.firstDue()]).toEqual([undefined, 'b']);
    expect(states.nextEventMs()).toBe(1000);
    expect(inOrder(bench)).toEqual(['b', 'c', 'a']);
    expect(states.nextEventMs()).toBeUndefined();
  });

  it.each([
    { what: 'after half an interval', fromMs: 30_000, intervals: 1, isEarly: true, id: 'a' },
    { what: 'not before', fromMs: 30_001, intervals: 1, isEarly: true, id: undefined },
    { what: 'not before, if early', fromMs: 35_000, intervals: 0.6, isEarly: true, id: undefined },
    { what: 'if it was never polled', fromMs: 115_000, intervals: 0, isEarly: true, id: 'a' },
    { what: 'not alone', fromMs: 30_000, intervals: 1, isEarly: false, id: undefined },
    { what: 'alone when it is due', fromMs: 40_000, intervals: 1 / 3, isEarly: false, id: 'a' },
  ])('takes an application before it is due: $what', ({ isEarly, id, ...turn }) => {
    const { states, goTo } = aBench();
    states.set('a', aState(0, { turn }));

    goTo(60_000);

    expect(states.firstDue(isEarly)).toBe(id);
  });

  it('drops values when polls have failed for stale_after, even during a poll', () => {
    const bench = aBench();
    const { states } = bench;
    states.set('a', aState(1e9, { reading, late: { sinceMs: 5000, reason: 'timeout' } }));
    states.set('b', aState(1e9, { reading }));
    states.begin('a');

    const dropped = changedAt(bench, 5000 + staleMs - 1, 5000 + staleMs);

    expect(dropped).toEqual([[], ['a']]);
    expect(states.all.get('a')).toMatchObject({ reading: undefined, pollSucceeded: false });
    expect(states.all.get('b')?.reading).toBe(reading);
  });

  it.each([
    { what: 'that is never started', begins: false },
    { what: 'that never ends', begins: true },
  ])(
    'fails an application that waits for a poll $what, and then drops its values',
    ({ begins }) => {
      const bench = aBench();
      bench.states.set('a', aState(60_000, { reading, pollSucceeded: true }));
      if (begins) bench.states.begin('a');
      const lateAtMs = 60_000 + lateMs;

      expect(changedAt(bench, lateAtMs - 1)).toEqual([[]]);
      expect(bench.states.all.get('a')?.late).toBeUndefined();
      expect(bench.states.failing.subjects).toBe(0);
      expect(changedAt(bench, lateAtMs)).toEqual([['a']]);
      expect(bench.states.failing.subjects).toBe(1);
      expect(bench.states.all.get('a')).toMatchObject({
        late: { sinceMs: lateAtMs, reason: 'timeout' },
        pollSucceeded: false,
        reading,
      });
      expect(changedAt(bench, lateAtMs + staleMs - 1, lateAtMs + staleMs)).toEqual([[], ['a']]);
      expect(bench.states.all.get('a')?.reading).toBeUndefined();
    },
  );

  it.each([
    { what: 'a longer interval', afterMs: 900_000, dueMs: 1_000_000 },
    { what: 'a shorter one', afterMs: 120_000, dueMs: 220_000 },
    { what: 'a shorter one that has passed, spread', afterMs: 60_000, dueMs: 237_082 },
  ])('makes a poll due by a new interval, counted from the last one: $what', (row) => {
    const { states, goTo } = aBench();
    const withInterval = (intervalMs: number): AppState => {
      const selected = { ...aSelected(), entry: anEntry({ poll: { intervalMs } }) };
      const turn = { fromMs: 100_000, intervals: 1 };
      return aState(0, { selected, turn, phaseIndex: 1, reading });
    };
    states.set('a', withInterval(600_000));
    goTo(200_000);

    states.set('a', withInterval(row.afterMs));

    expect(Math.round(states.nextEventMs() ?? 0)).toBe(row.dueMs);
    expect(states.dropStale()).toEqual([]);
  });

  it('counts those that fail, of which none is gone', () => {
    const { states } = aBench();
    const failing = aState(0, { pollSucceeded: false });
    const counts = [failing, { ...failing, gone: true }, failing, aState(0)].map((state) => {
      states.set('a', state);
      return states.failing.subjects;
    });

    expect(counts).toEqual([1, 0, 1, 0]);
  });

  it('always names the same next event as a look at every state', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), id, dueMs: fc.nat(1000) }),
      fc.record({ kind: fc.constant('begin' as const), id, dueMs: fc.constant(0) }),
      fc.record({ kind: fc.constant('end' as const), id, dueMs: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { states } = aBench();
        const polling = new Set<string>();
        for (const { kind, id: one, dueMs } of steps) {
          if (kind === 'set') states.set(one, aState(dueMs));
          else if (!states.all.has(one)) continue;
          else if (kind === 'begin') {
            states.begin(one);
            polling.add(one);
          } else {
            states.end(one);
            polling.delete(one);
          }
          const waiting = [...states.all].filter(([key]) => !polling.has(key));
          const next = Math.min(...waiting.map(([, { turn }]) => turn.fromMs));
          expect(states.nextEventMs()).toBe(Number.isFinite(next) ? next : undefined);
        }
      }),
    );
  });
});
