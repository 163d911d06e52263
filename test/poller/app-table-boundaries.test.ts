import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import { selectorText } from '../../src/model/selector.ts';
import type { Discovery } from '../../src/model/source.ts';
import { type AppState, newAppState } from '../../src/poller/app-state.ts';
import { applyDiscovery, haveSameSelection, takeOverStates } from '../../src/poller/app-table.ts';
import { anApplication, anEntry, aSelected } from '../support/builders.ts';

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

const now = { monotonicMs: 1000, nextOrder: 7 };

describe('applyDiscovery', () => {
  it('removes what a complete discovery no longer lists, but nothing that it could not read', () => {
    const states = new Map([aState('1'), aState('2'), aState('3')]);
    const discovery = aDiscovery(['1', '4'], { unreadableIds: ['2', '1', '9'] });

    const change = applyDiscovery(states, [entry], discovery, now);

    expect([...change.states.keys()]).toEqual(['1', '4', '2']);
    expect(change.states.get('2')).toBe(states.get('2'));
    expect(change.states.get('1')?.discoveredMs).toBe(1000);
    expect(change.removed).toEqual(['3']);
    expect(change.nextOrder).toBe(8);
  });

  it('removes nothing that an incomplete discovery does not list', () => {
    const states = new Map([aState('1'), aState('2')]);

    const change = applyDiscovery(states, [entry], aDiscovery(['1'], { complete: false }), now);

    expect([...change.states.keys()]).toEqual(['1', '2']);
    expect(change).toMatchObject({ removed: [], missing: undefined, nextOrder: 7 });
  });
});

describe('applyDiscovery of what is listed but not known', () => {
  const byId = (id: string): AppEntry => anEntry({ selector: { kind: 'id', id } });
  const shop = anEntry({ selector: { kind: 'name', name: 'shop' } });
  const other = anEntry({ selector: { kind: 'name', name: 'other' } });
  const pattern = anEntry({ selector: { kind: 'match', pattern: /^sh/u } });

  it.each([
    { what: 'could not be read', unclear: { unreadableIds: ['2', '9'] } },
    { what: 'was not asked for yet', unclear: { pendingIds: ['2', '9'] } },
  ])('keeps what $what, and calls no entry missing for it', ({ unclear }) => {
    const states = new Map([aState('1'), aState('2')]);
    const entries = [byId('1'), byId('2'), byId('8'), byId('9')];

    const change = applyDiscovery(states, entries, aDiscovery(['1'], unclear), now);

    expect(change.states.get('2')).toBe(states.get('2'));
    expect(change.removed).toEqual([]);
    expect(change.missing?.map(({ selector }) => selectorText(selector))).toEqual(['id=8']);
  });

  it('goes by its last known name for entries by name', () => {
    const states = new Map([aState('2')]);
    const discovery = aDiscovery([], { unreadableIds: ['2', '9'] });

    const change = applyDiscovery(states, [shop, other, pattern], discovery, now);

    expect(change.missing).toEqual([other]);
  });
});

describe('applyDiscovery of a shard', () => {
  const owns = (key: string): boolean => key !== '2' && key !== 'id=9';
  const entries = [
    entry,
    anEntry({ selector: { kind: 'id', id: '8' } }),
    anEntry({ selector: { kind: 'id', id: '9' } }),
  ];

  it.each([{ complete: true }, { complete: false }])(
    'takes only what is its own when the list is complete: $complete',
    ({ complete }) => {
      const discovery = aDiscovery(['1', '2', '3'], { complete });

      const change = applyDiscovery(new Map(), entries, discovery, now, owns);

      expect([...change.states.keys()]).toEqual(['1', '3']);
    },
  );

  it('reports only the missing entries that are its own, not those that others have', () => {
    const change = applyDiscovery(new Map(), entries, aDiscovery(['1', '2']), now, owns);

    expect(change.missing?.map(({ selector }) => selector)).toEqual([{ kind: 'id', id: '8' }]);
  });

  it('takes over only what is its own', () => {
    const taken = takeOverStates(new Map([aState('1'), aState('2')]), [entry], 0, owns);

    expect([...taken.keys()]).toEqual(['1']);
  });
});

describe('takeOverStates', () => {
  const nowMs = 10_000;
  const intervalMs = 60_000;

  it.each([
    { what: 'keeps a poll that is due sooner', nextDueMs: 30_000, overdueMs: 90_000, due: 30_000 },
    {
      what: 'moves a poll that is due later to the new interval',
      nextDueMs: 500_000,
      overdueMs: 600_000,
      due: nowMs + intervalMs,
    },
  ])('$what', ({ nextDueMs, overdueMs, due }) => {
    const states = new Map([aState('1', { nextDueMs, overdueMs })]);

    const taken = takeOverStates(states, [anEntry({ poll: { intervalMs } })], nowMs);

    expect(taken.get('1')).toMatchObject({ nextDueMs: due, overdueMs });
  });

  it('does not call a poll late before it is due', () => {
    const states = new Map([aState('1', { nextDueMs: 30_000, overdueMs: 20_000 })]);

    const taken = takeOverStates(states, [entry], nowMs);

    expect(taken.get('1')?.overdueMs).toBe(30_000);
  });

  it('leaves behind what no entry wants any more', () => {
    const states = new Map([aState('1'), aState('2')]);

    const taken = takeOverStates(states, [anEntry({ selector: { kind: 'id', id: '2' } })], nowMs);

    expect([...taken.keys()]).toEqual(['2']);
  });
});

describe('haveSameSelection', () => {
  const one = aState('1');
  const two = aState('2');

  it.each([
    { what: 'the same applications', left: [one, two], right: [two, one], same: true },
    { what: 'nothing at all', left: [], right: [], same: true },
    {
      what: 'the same selection in another state',
      left: [one],
      right: [aState('1', { selected: one[1].selected, pollsEnded: 5 })],
      same: true,
    },
    { what: 'one more on the left', left: [one, two], right: [one], same: false },
    { what: 'one more on the right', left: [one], right: [one, two], same: false },
    { what: 'another application', left: [one], right: [two], same: false },
    {
      what: 'one of two with other settings',
      left: [one, two],
      right: [one, aState('2')],
      same: false,
    },
  ])('is $same for $what', ({ left, right, same }) => {
    expect(haveSameSelection(new Map(left), new Map(right))).toBe(same);
  });
});
