import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import type { Owns } from '../../src/model/shard.ts';
import type { Discovery } from '../../src/model/source.ts';
import { type AppState, newAppState } from '../../src/poll/app-state.ts';
import {
  type DiscoveryChange,
  discoverySteps,
  haveSamePoll,
  reconfigurationSteps,
  type StateSteps,
} from '../../src/poll/state-steps.ts';
import { anApplication, anEntry, aSelected, throughputSeries } from '../support/builders.ts';

const entry = anEntry();

function aState(id: string, overrides: Partial<AppState> = {}): [string, AppState] {
  return [id, { ...newAppState({ ...aSelected({ id }), entry }, 0, 0), ...overrides }];
}

function aDiscovery(ids: readonly string[], overrides: Partial<Discovery> = {}): Discovery {
  return {
    applications: ids.map((id) => anApplication({ id })),
    complete: true,
    unreadableIds: [],
    pendingIds: [],
    calls: 1,
    error: undefined,
    ...overrides,
  };
}

/** Takes all steps and returns the states after them. */
function take<Result>(
  states: ReadonlyMap<string, AppState>,
  stepsOf: (live: Parameters<typeof discoverySteps>[0]) => StateSteps<Result>,
): Result & { readonly states: ReadonlyMap<string, AppState> } {
  const all = new Map(states);
  const steps = stepsOf({
    all,
    set: (id, state) => void all.set(id, state),
    delete: (id) => void all.delete(id),
  });
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return { ...step.value, states: all };
}

const everything: Owns = () => true;

function applyDiscovery(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  discovery: Discovery,
  owns: Owns = everything,
): DiscoveryChange & { readonly states: ReadonlyMap<string, AppState> } {
  let phaseIndex = 6;
  const takePhaseIndex = (): number => {
    phaseIndex += 1;
    return phaseIndex;
  };
  const now = { monotonicMs: 1000, virtualMs: 500, takePhaseIndex };
  const change = take(states, (live) => discoverySteps(live, entries, discovery, now, owns));
  const kept = [...change.states].filter(([id]) => !change.removed.includes(id));
  return { ...change, states: new Map(kept) };
}

function statesFor(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  owns: Owns = everything,
): ReadonlyMap<string, AppState> {
  return take(states, (live) => reconfigurationSteps(live, entries, owns)).states;
}

describe('discoverySteps', () => {
  it('removes what a complete discovery no longer lists, but not what it could not read', () => {
    const states = new Map([aState('1'), aState('2'), aState('3')]);
    const discovery = aDiscovery(['1', '4'], { unreadableIds: ['2', '1', '9'] });

    const change = applyDiscovery(states, [entry], discovery);

    expect([...change.states.keys()].toSorted()).toEqual(['1', '2', '4']);
    expect(change.states.get('2')).toBe(states.get('2'));
    expect(change.states.get('1')?.discoveredMs).toBe(1000);
    expect(change.removed).toEqual(['3']);
    expect(change.states.get('4')?.phaseIndex).toBe(7);
    expect(change.states.get('4')?.turn).toEqual({ fromMs: 500, intervals: 0 });
  });

  it('keeps an entry from being missing if it chooses the last known name', () => {
    const shop = anEntry({ selector: { kind: 'name', name: 'shop' } });
    const other = anEntry({ selector: { kind: 'name', name: 'other' } });
    const pattern = anEntry({ selector: { kind: 'match', pattern: /^sh/u } });
    const discovery = aDiscovery([], { unreadableIds: ['2', '9'] });

    const change = applyDiscovery(new Map([aState('2')]), [shop, other, pattern], discovery);

    expect(change.missing).toEqual([other]);
  });

  it.each([
    { what: 'could not be read', unclear: { unreadableIds: ['2', '9'] } },
    { what: 'was not asked for yet', unclear: { pendingIds: ['2', '9'] } },
  ])('keeps an application that $what, and reports no missing entry for it', ({ unclear }) => {
    const states = new Map([aState('1'), aState('2')]);
    const entries = ['1', '2', '8', '9'].map((id) => anEntry({ selector: { kind: 'id', id } }));

    const change = applyDiscovery(states, entries, aDiscovery(['1'], unclear));

    expect(change.states.get('2')).toBe(states.get('2'));
    expect(change.removed).toEqual([]);
    expect(change.missing?.map(({ selector }) => selector)).toEqual([{ kind: 'id', id: '8' }]);
  });

  it('removes what an entry excludes, and counts it', () => {
    const excluding = anEntry({ selector: { kind: 'id', id: '2' }, exclude: true });
    const states = new Map([aState('1'), aState('2')]);

    const found = applyDiscovery(states, [excluding, entry], aDiscovery(['1', '2']));
    const reloaded = take(states, (live) =>
      reconfigurationSteps(live, [excluding, entry], everything),
    );

    expect(found).toMatchObject({ removed: ['2'], missing: [], excluded: 1 });
    expect(reloaded.released).toEqual(['2']);
    expect([...reloaded.states.keys()]).toEqual(['1']);
  });

  it('removes nothing that an incomplete discovery does not list', () => {
    const states = new Map([aState('1'), aState('2')]);

    const change = applyDiscovery(states, [entry], aDiscovery(['1'], { complete: false }));

    expect([...change.states.keys()]).toEqual(['1', '2']);
    expect(change).toMatchObject({ removed: [], missing: undefined });
  });
});

describe('discoverySteps of a shard', () => {
  const owns = (key: string): boolean => key !== '2' && key !== 'id=9';
  const entries = [
    entry,
    anEntry({ selector: { kind: 'id', id: '8' } }),
    anEntry({ selector: { kind: 'id', id: '9' } }),
  ];

  it.each([{ complete: true }, { complete: false }])(
    'takes only its own applications when the list is complete: $complete',
    ({ complete }) => {
      const discovery = aDiscovery(['1', '2', '3'], { complete });

      const change = applyDiscovery(new Map(), entries, discovery, owns);

      expect([...change.states.keys()]).toEqual(['1', '3']);
    },
  );

  it('reports only its own missing entries, not those of other shards', () => {
    const change = applyDiscovery(new Map(), entries, aDiscovery(['1', '2']), owns);

    expect(change.missing?.map(({ selector }) => selector)).toEqual([{ kind: 'id', id: '8' }]);
  });
});

describe('reconfigurationSteps', () => {
  it('drops values that the new list of metrics does not read, and hosts of which it reads none', () => {
    const reading = {
      windowEndMs: 0,
      series: throughputSeries,
      application: [1, 2],
      hosts: new Map([['7', [3, 4]]]),
    };
    const memory = {
      metric: 'Memory/Physical',
      value: 'used_bytes_by_host',
      as: 'memory_bytes',
      scale: 1,
      help: undefined,
      labels: {},
      scope: 'applications',
    } as const;
    const other = anEntry({ poll: { metrics: [memory] } });

    const taken = statesFor(new Map([aState('1', { reading })]), [other]);

    expect(taken.get('1')?.reading).toEqual({
      windowEndMs: 0,
      series: other.series,
      application: [undefined],
      hosts: new Map(),
    });
  });
});

describe('many applications', () => {
  it('are handled in steps, and in smaller ones with patterns', () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `${index}`);
    const entries = ids.map((id) => anEntry({ selector: { kind: 'id', id } }));
    const sizesWith = (all: readonly AppEntry[]): readonly number[] => {
      const now = { monotonicMs: 0, virtualMs: 0, takePhaseIndex: () => 0 };
      const sizes = [0];
      const live = { all: new Map(), delete: () => undefined };
      const set = (): void => {
        sizes.push((sizes.pop() ?? 0) + 1);
      };
      for (const _ of discoverySteps({ ...live, set }, all, aDiscovery(ids), now, everything)) {
        sizes.push(0);
      }
      return sizes.filter((size) => size > 0);
    };

    expect(sizesWith(entries)).toEqual([4000, 1000]);
    expect(Math.max(...sizesWith([...entries, entry]))).toBe(2000);
  });
});

describe('haveSamePoll', () => {
  it.each([
    { what: 'the same entry', entry: anEntry(), same: true },
    { what: 'other labels', entry: anEntry({ labels: { team: 'shop' } }), same: true },
    { what: 'another interval', entry: anEntry({ poll: { intervalMs: 5000 } }), same: true },
    { what: 'no hosts', entry: anEntry({ hosts: false }), same: false },
    { what: 'other transactions', entry: anEntry({ transactions: ['web'] }), same: false },
    { what: 'another delay', entry: anEntry({ poll: { delayMs: 1 } }), same: false },
    { what: 'raw values', entry: anEntry({ poll: { raw: true } }), same: false },
    { what: 'host names', entry: anEntry({ poll: { hostNames: true } }), same: false },
    {
      what: 'another window',
      entry: anEntry({ poll: { window: { kind: 'range', lengthMs: 60_000 } } }),
      same: false,
    },
  ])('is $same for an entry with $what', ({ entry: other, same }) => {
    expect(haveSamePoll(anEntry(), other)).toBe(same);
  });
});
