import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AppState, newAppState } from '../../src/poller/app-state.ts';
import { type AppStates, createAppStates } from '../../src/poller/app-states.ts';
import { aSelected, throughputSeries } from '../support/builders.ts';
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
/** The deadline of a poll with an interval of a minute. */
const deadlineMs = 120_000;

function aState(nextDueMs: number, overrides: Partial<AppState> = {}): AppState {
  return { ...newAppState(aSelected(), 0, 0), nextDueMs, overdueMs: nextDueMs, ...overrides };
}

/** The ids in the order in which they fall due, each with a poll that ends at once. */
function inOrder(states: AppStates): readonly string[] {
  const ids: string[] = [];
  for (let id = states.firstDue(1e9); id !== undefined; id = states.firstDue(1e9)) {
    ids.push(id);
    states.begin(id);
  }
  return ids;
}

function appStates(stretch: () => number, clock = createFakeClock()): AppStates {
  return createAppStates(stretch, { clock });
}

describe('createAppStates', () => {
  it('knows whose poll has been due for longest', () => {
    const states = appStates(() => 1);
    states.set('a', aState(3000));
    states.set('b', aState(1000));
    states.set('c', aState(2000));

    expect([states.firstDue(999), states.firstDue(1000)]).toEqual([undefined, 'b']);
    expect(states.nextEventMs()).toBe(1000);
    expect(inOrder(states)).toEqual(['b', 'c', 'a']);
    expect(states.nextEventMs()).toBeUndefined();
  });

  it.each([
    { what: 'as early as may be', nextDueMs: 91_000, overdueMs: 91_000, withinMs: 31_000, id: 'a' },
    { what: 'no earlier', nextDueMs: 91_000, overdueMs: 91_000, withinMs: 30_999, id: undefined },
    {
      what: 'after half an interval',
      nextDueMs: 90_000,
      overdueMs: 90_000,
      withinMs: 1e9,
      id: 'a',
    },
    { what: 'not before', nextDueMs: 90_001, overdueMs: 90_001, withinMs: 1e9, id: undefined },
    {
      what: 'counted from its last turn',
      nextDueMs: 70_000,
      overdueMs: 95_000,
      withinMs: 1e9,
      id: undefined,
    },
    { what: 'when it is due', nextDueMs: 60_000, overdueMs: 500_000, withinMs: 0, id: 'a' },
  ])('takes an application before it is due: $what', ({ nextDueMs, overdueMs, withinMs, id }) => {
    const states = appStates(() => (nextDueMs === 91_000 ? 2 : 1));
    states.set('a', aState(nextDueMs, { overdueMs }));

    expect(states.firstDue(60_000, withinMs)).toBe(id);
  });

  it('does not call a poll due while it is under way, even if its state changes meanwhile', () => {
    const states = appStates(() => 1);
    states.set('a', aState(0));
    states.begin('a');
    states.set('a', aState(0, { pollsEnded: 1 }));
    const during = states.firstDue(1000);

    states.end('a');

    expect([during, states.firstDue(1000)]).toEqual([undefined, 'a']);
  });

  it('drops values when polls have failed for stale_after, even during a poll', () => {
    const states = appStates(() => 1);
    states.set('a', aState(60_000, { reading, failingSinceMs: 5000 }));
    states.set('b', aState(60_000, { reading }));
    states.begin('a');

    const before = states.dropStale(5000 + staleMs - 1);
    const after = states.dropStale(5000 + staleMs);

    expect([before, after]).toEqual([[], ['a']]);
    expect([states.all.get('a')?.reading, states.all.get('b')?.reading]).toEqual([
      undefined,
      reading,
    ]);
  });

  it('drops values even if other applications have none yet, or no longer have any', () => {
    const states = appStates(() => 1);
    for (const id of ['a', 'b', 'c']) states.set(id, aState(60_000));
    states.set('d', aState(60_000, { reading, failingSinceMs: 5000 }));
    states.set('e', aState(60_000, { reading, failingSinceMs: 6000 }));

    expect(states.dropStale(5000 + staleMs)).toEqual(['d']);
    expect(states.dropStale(6000 + staleMs)).toEqual(['e']);
  });

  it.each([
    { what: 'that is never started', begins: false },
    { what: 'that never ends', begins: true },
  ])('drops values that wait for a poll $what', ({ begins }) => {
    const states = appStates(() => 1);
    states.set('a', aState(60_000, { reading, pollSucceeded: true }));
    if (begins) states.begin('a');
    const atMs = 60_000 + deadlineMs + staleMs;

    const dropped = [atMs - 1, atMs].map((nowMs) => states.dropStale(nowMs));

    expect(dropped).toEqual([[], ['a']]);
    expect(states.all.get('a')?.pollSucceeded).toBe(false);
  });

  it('waits longer for values where intervals are stretched', () => {
    let stretch = 1;
    const states = appStates(() => stretch);
    states.set('a', aState(0, { reading }));
    stretch = 10;

    states.stretch(10, 0);

    expect(states.dropStale(deadlineMs + staleMs)).toEqual([]);
    expect(states.dropStale(2 * 10 * 60_000 + staleMs)).toEqual(['a']);
  });

  it('waits less for values when intervals are no longer stretched', () => {
    let stretch = 10;
    const states = appStates(() => stretch);
    states.set('a', aState(600_000, { reading }));
    stretch = 1;

    states.stretch(0.1, 0);

    const atMs = 60_000 + deadlineMs + staleMs;
    expect([states.dropStale(atMs - 1), states.dropStale(atMs)]).toEqual([[], ['a']]);
  });

  it('moves polls to come, keeps their order, and leaves due polls alone', () => {
    const states = appStates(() => 1);
    for (const dueMs of [500, 1000, 1100, 1400]) {
      states.set(String(dueMs), aState(dueMs, { overdueMs: dueMs + 1000 }));
    }

    states.stretch(2, 1000);

    const moved = [...states.all.values()];
    expect(moved.map(({ nextDueMs }) => nextDueMs)).toEqual([500, 1000, 1200, 1800]);
    expect(moved.map(({ overdueMs }) => overdueMs)).toEqual([2000, 3000, 3200, 3800]);
    expect(states.nextEventMs()).toBe(500);
    expect(inOrder(states)).toEqual(['500', '1000', '1100', '1400']);
  });

  it('forgets what is deleted, and does not wake for it', () => {
    const states = appStates(() => 1);
    states.set('a', aState(1000, { reading, failingSinceMs: 2000 - staleMs }));
    states.set('b', aState(5000, { reading, failingSinceMs: 3000 - staleMs }));

    states.delete('a');

    expect([...states.all.keys()]).toEqual(['b']);
    expect(states.nextEventMs()).toBe(3000);
    expect(states.dropStale(1e9)).toEqual(['b']);
    expect(states.nextEventMs()).toBe(5000);
  });

  it('wakes for moved polls at their new times', () => {
    const states = appStates(() => 1);
    states.set('a', aState(1400));

    states.stretch(2, 1000);

    expect(states.nextEventMs()).toBe(1800);
    expect([states.firstDue(1799), states.firstDue(1800)]).toEqual([undefined, 'a']);
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
        const states = appStates(() => 1);
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
          const next = Math.min(...waiting.map(([, { nextDueMs }]) => nextDueMs));
          expect(states.nextEventMs()).toBe(Number.isFinite(next) ? next : undefined);
        }
      }),
    );
  });
});
