import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { anApplication, aReading, aSnapshot, aStore, linesOf, pageText } from './builders.ts';

const throughput = 'newrelic_application_requests_per_minute';
/** Three names that are the same as label values. */
const accounts = ['a\u0000', 'a\u0001', 'a\u0002'] as const;
const [first, second, third] = accounts;

/** Four series: throughput, end of the window, info and success. */
function polled(account: string, id: string, value: number, name = 'x'): AppSnapshot {
  return aSnapshot({
    account,
    application: anApplication({ id, name }),
    reading: aReading({ application: [value] }),
    pollSucceeded: true,
  });
}

describe('two applications whose labels become equal', () => {
  it('are shown as the first of them', async () => {
    const store = aStore();
    store.publish(polled(first, '1', 1));
    store.publish(polled(second, '1', 2));

    expect(await linesOf(store, throughput)).toEqual([
      '{account="a\uFFFD",app_id="1",app_name="x",transaction_type="web"} 1',
    ]);
    expect([store.seriesOf(first), store.seriesOf(second)]).toEqual([4, 0]);
    expect([store.droppedOf(first), store.droppedOf(second)]).toEqual([0, 4]);
  });

  it.each([
    { what: 'is removed', free: (store: ReturnType<typeof aStore>) => store.remove(first, '1') },
    {
      what: 'loses its account',
      free: (store: ReturnType<typeof aStore>) => store.removeAccount(first),
    },
    {
      what: 'is renamed',
      free: (store: ReturnType<typeof aStore>) => store.publish(polled(first, '1', 3, 'y')),
    },
  ])('show the next one at once when the first $what', async ({ free }) => {
    const store = aStore();
    for (const [index, account] of accounts.entries()) store.publish(polled(account, '1', index));
    await store.page();
    free(store);

    const lines = (await linesOf(store, throughput)).filter((line) => line.includes('"x"'));

    expect(lines.map((line) => line.at(-1))).toEqual(['1']);
    expect([store.seriesOf(second), store.seriesOf(third)]).toEqual([4, 0]);
    expect([store.droppedOf(second), store.droppedOf(third)]).toEqual([4, 4]);
  });

  it('count as dropped once, however often they are published', () => {
    const store = aStore();
    for (const value of [1, 2, 3]) {
      store.publish(polled(first, '1', value));
      store.publish(polled(second, '1', value));
    }
    const before = store.droppedOf(second);
    store.publish({ ...polled(second, '1', 4), lastSuccessMs: 1000 });

    expect(before).toBe(4);
    expect(store.droppedOf(second)).toBe(5);
  });

  it('count as dropped again after they have been shown', () => {
    const store = aStore();
    store.publish(polled(first, '1', 1));
    store.publish(polled(second, '1', 1));
    store.publish(polled(second, '1', 1, 'y'));
    store.publish(polled(second, '1', 1));

    expect(store.droppedOf(second)).toBe(8);
  });
});

describe('two hosts whose labels become equal', () => {
  it('count as dropped once, however often they are published', () => {
    const store = aStore();
    const hosts = new Map(['a\u0000', 'a\u0001'].map((id) => [id, [1]]));
    for (const windowEndMs of [1000, 2000, 3000]) {
      store.publish(aSnapshot({ reading: aReading({ windowEndMs, hosts }) }));
    }

    expect(store.droppedOf('production')).toBe(1);
  });
});

describe('two accounts whose names become equal', () => {
  it('have one newrelic_up, which shows the other at once when the first goes', async () => {
    const store = aStore();
    store.accountUp(first, true);
    store.accountUp(second, true);
    store.accountUp(second, false);
    const contested = await linesOf(store, 'newrelic_up');
    const series = [store.seriesOf(first), store.seriesOf(second)];
    store.removeAccount(first);

    expect(contested).toEqual(['{account="a\uFFFD"} 1']);
    expect(series).toEqual([1, 0]);
    expect(await linesOf(store, 'newrelic_up')).toEqual(['{account="a\uFFFD"} 0']);
    expect(store.seriesOf(second)).toBe(1);
    expect(store.droppedOf(second)).toBe(1);
  });
});

describe('SeriesStore, whatever happens', () => {
  const event = fc.oneof(
    fc.record({
      account: fc.constantFrom(...accounts),
      id: fc.constantFrom('1', '2'),
      name: fc.constantFrom('x', 'y'),
    }),
    fc.record({ account: fc.constantFrom(...accounts), removed: fc.constantFrom('1', '2', 'all') }),
  );

  it('shows every application once, and counts what it shows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
        const store = aStore();
        const published = new Map<string, string>();
        for (const one of events) {
          if ('name' in one) {
            store.publish(polled(one.account, one.id, 1, one.name));
            published.set(`${one.account} ${one.id}`, `app_id="${one.id}",app_name="${one.name}"`);
          } else if (one.removed === 'all') {
            store.removeAccount(one.account);
            for (const id of ['1', '2']) published.delete(`${one.account} ${id}`);
          } else {
            store.remove(one.account, one.removed);
            published.delete(`${one.account} ${one.removed}`);
          }
        }

        const samples = (await pageText(store)).split('\n').filter((line) => /^[a-z]/u.test(line));
        const shown = await linesOf(store, 'newrelic_application_info');
        const counted = accounts.reduce((sum, account) => sum + store.seriesOf(account), 0);

        const wanted = new Set(published.values());
        expect(new Set(shown.map((line) => /app_id="\d",app_name="."/u.exec(line)?.[0]))).toEqual(
          wanted,
        );
        expect(shown).toHaveLength(wanted.size);
        expect(counted).toBe(samples.length);
      }),
    );
  });
});
