import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import type { Owns } from '../../src/model/shard.ts';
import type { Discovery } from '../../src/model/source.ts';
import { type AppState, newAppState } from '../../src/poll/app-state.ts';
import { reconcile, reconfigure } from '../../src/poll/reconcile.ts';
import { States } from '../../src/poll/states.ts';
import { anApplication, anEntry, aSelected } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { found } from '../support/table-bench.ts';

const entry = anEntry();

function aState(id: string): [string, AppState] {
  return [id, newAppState({ ...aSelected({ id }), entry }, 0, 0)];
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
