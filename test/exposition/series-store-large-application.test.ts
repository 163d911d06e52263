import { describe, expect, it } from 'vitest';
import { deflate } from '../../src/exposition/gzip.ts';
import { createSeriesStore, type SeriesStore } from '../../src/exposition/series-store.ts';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { anApplication, aReading, aSnapshot, linesOf } from './builders.ts';

const perHost = 'newrelic_application_host_requests_per_minute';
const hostCount = 10_000;

function large(value: number, name = 'large', hosts: number = hostCount): AppSnapshot {
  const ids = Array.from({ length: hosts }, (_, index) => String(index));
  return aSnapshot({
    application: anApplication({ name }),
    reading: aReading({
      hosts: new Map(ids.map((id) => [id, [value]])),
    }),
  });
}

/** A store, and what happens when it lets other work run. */
function aStoreWithTurns(): { readonly store: SeriesStore; turns: number; inTurn: () => void } {
  const watched = {
    store: createSeriesStore({
      deflate,
      nextTurn: async () => {
        watched.turns += 1;
        watched.inTurn();
      },
    }),
    turns: 0,
    inTurn: (): void => undefined,
  };
  return watched;
}

describe('an application of 10,000 hosts', () => {
  it('is rendered in turns, and is whole on the next page', async () => {
    const watched = aStoreWithTurns();
    watched.store.publish(large(1));
    const atOnce = watched.store.seriesOf('production');

    const lines = await linesOf(watched.store, perHost);

    expect(atOnce).toBe(0);
    expect(watched.turns).toBeGreaterThanOrEqual(8);
    expect(lines).toHaveLength(hostCount);
    // Plus the end of the window and the info.
    expect(watched.store.seriesOf('production')).toBe(hostCount + 2);
  });

  it('is shown as of its newest snapshot', async () => {
    const { store } = aStoreWithTurns();
    store.publish(large(1));
    await store.page();
    store.publish(large(2));
    store.publish(large(3, 'renamed'));

    const lines = await linesOf(store, perHost);

    expect(lines).toHaveLength(hostCount);
    expect(lines.filter((line) => !/app_name="renamed".* 3$/u.test(line))).toEqual([]);
  });

  it('counts with its old series until the new ones are rendered', async () => {
    const { store } = aStoreWithTurns();
    store.publish(large(1, 'large', 3));
    const before = store.seriesOf('production');
    store.publish(large(1));

    expect(before).toBe(5);
    expect(store.seriesOf('production')).toBe(5);
    await store.page();
    expect(store.seriesOf('production')).toBe(hostCount + 2);
  });

  it.each([
    { what: 'it is removed', change: (store: SeriesStore) => store.remove('production', '101') },
    { what: 'its account goes', change: (store: SeriesStore) => store.removeAccount('production') },
  ])('is not on the page, and does not count, when $what while it is rendered', async (gone) => {
    const watched = aStoreWithTurns();
    watched.store.publish(large(1));
    watched.inTurn = () => {
      gone.change(watched.store);
    };

    const lines = await linesOf(watched.store, perHost);

    expect(watched.turns).toBe(1);
    expect(lines).toEqual([]);
    expect(watched.store.seriesOf('production')).toBe(0);
    expect(watched.store.droppedOf('production')).toBe(0);
  });

  it('is small again when it became small before it was rendered', async () => {
    const watched = aStoreWithTurns();
    watched.store.publish(large(1));
    watched.store.publish(large(2, 'large', 2));

    const lines = await linesOf(watched.store, perHost);

    expect(watched.turns).toBe(0);
    expect(lines).toHaveLength(2);
  });
});
