import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import type { Owns } from '../../src/model/shard.ts';
import type { Discovery } from '../../src/model/source.ts';
import { type AppState, newAppState, partsOf } from '../../src/poll/app-state.ts';
import { type DiscoveryChange, reconcile, reconfigure } from '../../src/poll/reconcile.ts';
import { States } from '../../src/poll/states.ts';
import { anApplication, anEntry, aSelected, throughputSeries } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { found } from '../support/table-bench.ts';

const entry = anEntry();

function aState(id: string, overrides: Partial<AppState> = {}): [string, AppState] {
  const state = newAppState({ ...aSelected({ id }), entry }, 0, 0);
  return [id, { ...state, ...partsOf(overrides.reading), ...overrides }];
}

function aDiscovery(ids: readonly string[], overrides: Partial<Discovery> = {}): Discovery {
  return { ...found(...ids.map((id) => anApplication({ id }))), ...overrides };
}

type AppStates = ReadonlyMap<string, AppState>;

function statesOf(known: AppStates): States {
  const states = new States(createFakeClock());
  for (const state of known.values()) states.set(state);
  return states;
}

const everything: Owns = () => true;
const letOthersRun = async (): Promise<void> => undefined;

async function applyDiscovery(
  known: AppStates,
  entries: readonly AppEntry[],
  discovery: Discovery,
  owns: Owns = everything,
): Promise<DiscoveryChange & { readonly states: AppStates }> {
  const states = statesOf(known);
  const change = await reconcile(states, { entries, owns }, discovery, 1000, letOthersRun);
  for (const id of change.removed) states.delete(id);
  return { ...change, states: states.applications };
}

async function statesFor(
  known: AppStates,
  entries: readonly AppEntry[],
  owns: Owns = everything,
): Promise<AppStates> {
  const states = statesOf(known);
  await reconfigure(states, { entries, owns }, letOthersRun);
  return states.applications;
}

describe('reconcile', () => {
  it('removes what a complete discovery no longer lists, but not what it could not read', async () => {
    const states = new Map([aState('1'), aState('2'), aState('3')]);
    const discovery = aDiscovery(['1', '4'], { unreadableIds: ['2', '1', '9'] });

    const change = await applyDiscovery(states, [entry], discovery);

    expect([...change.states.keys()].toSorted()).toEqual(['1', '2', '4']);
    expect(change.states.get('2')).toBe(states.get('2'));
    expect(change.states.get('1')?.discoveredMs).toBe(1000);
    expect(change.removed).toEqual(['3']);
    expect(change.states.get('4')?.dueMs).toBe(1000);
  });

  it('keeps an entry from being missing if it chooses the last known name', async () => {
    const shop = anEntry({ selector: { kind: 'name', name: 'shop' } });
    const other = anEntry({ selector: { kind: 'name', name: 'other' } });
    const pattern = anEntry({ selector: { kind: 'match', pattern: /^sh/u } });
    const discovery = aDiscovery([], { unreadableIds: ['2', '9'] });

    const change = await applyDiscovery(new Map([aState('2')]), [shop, other, pattern], discovery);

    expect(change.missing).toEqual([other]);
  });

  it.each([
    { what: 'could not be read', unclear: { unreadableIds: ['2', '9'] } },
    { what: 'was not asked for yet', unclear: { pendingIds: ['2', '9'] } },
  ])(
    'keeps an application that $what, and reports no missing entry for it',
    async ({ unclear }) => {
      const states = new Map([aState('1'), aState('2')]);
      const entries = ['1', '2', '8', '9'].map((id) => anEntry({ selector: { kind: 'id', id } }));

      const change = await applyDiscovery(states, entries, aDiscovery(['1'], unclear));

      expect(change.states.get('2')).toBe(states.get('2'));
      expect(change.removed).toEqual([]);
      expect(change.missing?.map(({ selector }) => selector)).toEqual([{ kind: 'id', id: '8' }]);
    },
  );

  it('removes what an entry excludes, and counts it', async () => {
    const excluding = anEntry({ selector: { kind: 'id', id: '2' }, exclude: true });
    const states = new Map([aState('1'), aState('2')]);

    const change = await applyDiscovery(states, [excluding, entry], aDiscovery(['1', '2']));
    const reloaded = statesOf(states);
    const chosen = { entries: [excluding, entry], owns: everything };
    const released = await reconfigure(reloaded, chosen, letOthersRun);

    expect(change).toMatchObject({ removed: ['2'], missing: [], excluded: 1 });
    expect(released).toEqual(['2']);
    expect([...reloaded.applications.keys()]).toEqual(['1']);
  });

  it('removes nothing that an incomplete discovery does not list', async () => {
    const states = new Map([aState('1'), aState('2')]);

    const change = await applyDiscovery(states, [entry], aDiscovery(['1'], { complete: false }));

    expect([...change.states.keys()]).toEqual(['1', '2']);
    expect(change).toMatchObject({ removed: [], missing: undefined });
  });
});

describe('reconcile, of a shard', () => {
  const owns = (key: string): boolean => key !== '2' && key !== 'id=9';
  const entries = [
    entry,
    anEntry({ selector: { kind: 'id', id: '8' } }),
    anEntry({ selector: { kind: 'id', id: '9' } }),
  ];

  it.each([{ complete: true }, { complete: false }])(
    'takes only its own applications when the list is complete: $complete',
    async ({ complete }) => {
      const discovery = aDiscovery(['1', '2', '3'], { complete });

      const change = await applyDiscovery(new Map(), entries, discovery, owns);

      expect([...change.states.keys()]).toEqual(['1', '3']);
    },
  );

  it('reports only its own missing entries, not those of other shards', async () => {
    const change = await applyDiscovery(new Map(), entries, aDiscovery(['1', '2']), owns);

    expect(change.missing?.map(({ selector }) => selector)).toEqual([{ kind: 'id', id: '8' }]);
  });
});

describe('reconfigure', () => {
  it('drops values that the new list of metrics does not read, and hosts of which it reads none', async () => {
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

    const taken = await statesFor(new Map([aState('1', { reading })]), [other]);

    expect(taken.get('1')?.reading).toEqual({
      windowEndMs: 0,
      series: other.series,
      application: [undefined],
      hosts: new Map(),
    });
  });
});

describe('many applications', () => {
  it('are handled in several turns, and in more of them with patterns', async () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `${index}`);
    const entries = ids.map((id) => anEntry({ selector: { kind: 'id', id } }));
    const sizesWith = async (all: readonly AppEntry[]): Promise<readonly number[]> => {
      const sizes: number[] = [];
      const states = statesOf(new Map());
      const chosen = { entries: all, owns: everything };
      await reconcile(states, chosen, aDiscovery(ids), 0, async () => {
        sizes.push(states.applications.size);
      });
      return sizes;
    };

    expect(await sizesWith(entries)).toEqual([4000]);
    expect(await sizesWith([...entries, entry])).toEqual([2000, 4000]);
  });
});

it('5.2 many applications with many series take new entries in short turns', async () => {
  const states = statesOf(new Map(Array.from({ length: 1000 }, (_, index) => aState(`${index}`))));
  const [one] = entry.series;
  const many = anEntry({ series: Array.from({ length: 100 }, () => one ?? []).flat() });
  let turns = 0;
  await reconfigure(states, { entries: [many], owns: everything }, async () => {
    turns += 1;
  });

  expect(turns).toBeGreaterThan(20);
});

describe('a change whose rest is no longer wanted', () => {
  const reason = new Error('the account is stopped');
  const abort = async (): Promise<never> => Promise.reject(reason);
  const ids = Array.from({ length: 2001 }, (_, index) => `${index}`);
  const labels = { team: 'shop' };

  it('is half done by a discovery: what is new is there or not, and nothing is removed', async () => {
    const states = statesOf(new Map([aState('gone')]));
    const chosen = { entries: [entry], owns: everything };

    const done = reconcile(states, chosen, aDiscovery(ids), 1000, abort);

    await expect(done).rejects.toBe(reason);
    expect([...states.applications.keys()]).toEqual(['gone', ...ids.slice(0, 2000)]);
  });

  it('is half done by a reload: each has the old entry, or the new one', async () => {
    const states = statesOf(new Map(ids.map((id) => aState(id))));
    const chosen = { entries: [anEntry({ labels })], owns: everything };

    const done = reconfigure(states, chosen, abort);

    await expect(done).rejects.toBe(reason);
    const known = [...states.applications.values()].map(({ selected }) => selected.entry.labels);
    expect(known).toEqual([...ids.slice(1).map(() => labels), {}]);
  });
});
