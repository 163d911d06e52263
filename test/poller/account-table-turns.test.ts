import { describe, expect, it } from 'vitest';
import { anAccount, anEntry } from '../support/builders.ts';
import { configurations, listOf, TurningAccount } from './turning-account.ts';

describe('AccountTable, when changes take several turns', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'forgets and removes in one turn: a change after %i turns leaves no ghost',
    async (turns) => {
      const account = new TurningAccount();
      account.discover(0, true);
      await account.rest();

      account.discover(2, true);
      for (let turn = 0; turn < turns; turn += 1) await account.turn();
      account.configure(0);
      await account.rest();

      const shown = [...account.sink.apps.keys()];
      expect(shown.filter((id) => !account.table.states.has(id))).toEqual([]);
    },
  );

  it.each([0, 1, 2, 3, 4])(
    'gives all applications the new settings, when a reload falls into a discovery after %i turns',
    async (turns) => {
      const account = new TurningAccount();
      account.discover(0, true);
      await account.rest();
      account.discover(1, true);
      for (let turn = 0; turn < turns; turn += 1) await account.turn();

      // Of labels: the discovery goes on, since it looks for the same.
      const entries = [anEntry({ labels: { of: 'something else' }, poll: { intervalMs: 5000 } })];
      const reloaded = { isOver: false };
      const options = { account: anAccount(), entries, discoveryIntervalMs: 60_000 };
      const reload = async (): Promise<void> => {
        await account.table.reconfigure(options, new AbortController().signal);
        reloaded.isOver = true;
      };
      void reload();
      await account.rest();

      expect(reloaded.isOver).toBe(true);
      const states = [...account.table.states.values()];
      expect(states).toHaveLength(listOf(1).length);
      expect(new Set(states.map(({ selected }) => selected.entry))).toEqual(new Set(entries));
      const labels = [...account.sink.apps.values()].map((shown) => shown.labels['of']);
      expect(new Set(labels)).toEqual(new Set(['something else']));
    },
  );

  it('is not held up by a discovery that was given up', async () => {
    const account = new TurningAccount();
    account.discover(0, true);
    await account.rest();
    account.discover(1, true);

    account.configure(1);
    await account.rest();

    const { table } = account;
    expect(new Set([...table.states.values()].map(({ selected }) => selected.entry))).toEqual(
      new Set(configurations[1]),
    );
  });
});
