import { EventEmitter, once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelValueOf } from '../../src/model/label-value.ts';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { SeriesStore } from '../../src/publish/series-store.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { anApplication, aReading, aSnapshot, aStore, linesOf, pageText } from './builders.ts';

const throughput = 'newrelic_application_requests_per_minute';
const info = 'newrelic_application_info';
/** Three names that are the same as label values. */
const accounts = ['a\u0000', 'a\u0001', 'a\u0002'] as const;
const [first, second, third] = accounts;

/** Four series: throughput, end of the window, info and success. */
function polled(id: string, value: number, name = 'x', account = 'production'): AppSnapshot {
  return aSnapshot({
    account,
    application: anApplication({ id, name }),
    reading: aReading({ application: [value] }),
    pollSucceeded: true,
  });
}

describe('SeriesStore', () => {
  it('prints each family once, with its header, and only if it has a series', async () => {
    const store = aStore();
    store.publish(polled('1', 1));
    store.publish(polled('2', 2));
    store.accountUp('production', true);

    const families = parseExposition(Buffer.concat((await store.page()).identity));

    expect(families.map(({ name, samples }) => [name, samples.length])).toEqual([
      ['newrelic_up', 1],
      [throughput, 2],
      ['newrelic_application_window_end_timestamp_seconds', 2],
      [info, 2],
      ['newrelic_application_poll_success', 2],
    ]);
  });

  it('orders accounts by name and applications by the number of their id, however they arrive', async () => {
    const store = aStore();
    for (const account of ['b', 'a']) {
      store.accountUp(account, true);
      for (const id of ['10', '9', '99007199254740993', '2']) {
        store.publish(polled(id, 1, 'x', account));
      }
    }

    const subject = /account="(\w)"(?:,app_id="(\d+)")?/u;
    const orderOf = async (family: string): Promise<readonly unknown[]> =>
      (await linesOf(store, family)).map((line) => subject.exec(line)?.slice(1).join(' ').trim());
    expect(await orderOf('newrelic_up')).toEqual(['a', 'b']);
    expect(await orderOf(throughput)).toEqual(
      ['a', 'b'].flatMap((account) =>
        ['2', '9', '10', '99007199254740993'].map((id) => `${account} ${id}`),
      ),
    );
  });

  it('replaces an application as a whole: its old name and values are gone', async () => {
    const store = aStore();
    store.publish(polled('1', 1, 'Old'));
    store.publish(polled('1', 2, 'New'));

    expect(await pageText(store)).not.toContain('Old');
    expect(await linesOf(store, throughput)).toEqual([
      '{account="production",app_id="1",app_name="New",transaction_type="web"} 2',
    ]);
  });

  it('drops everything of an account at once, and nothing of others', async () => {
    const store = aStore();
    for (const account of ['production', 'staging']) {
      store.publish(polled('1', 1, 'x', account));
      store.accountUp(account, true);
    }
    await store.page();
    store.removeAccount('production');

    const text = await pageText(store);

    expect(text).not.toContain('production');
    expect(text).toContain('newrelic_up{account="staging"} 1');
    expect([store.seriesOf('production'), store.seriesOf('staging')]).toEqual([0, 5]);
  });

  it('shows why polls fail while they do, with one series of the newest reason', async () => {
    const store = aStore();
    const lines: (readonly string[])[] = [];
    for (const failureReason of ['timeout', 'server', undefined] as const) {
      const pollSucceeded = failureReason === undefined;
      store.publish({ ...polled('1', 1), pollSucceeded, failureReason });
      lines.push(await linesOf(store, 'newrelic_application_poll_failure_info'));
    }

    const labels = 'account="production",app_id="1",app_name="x"';
    expect(lines).toEqual([
      [`{${labels},reason="timeout"} 1`],
      [`{${labels},reason="server"} 1`],
      [],
    ]);
  });

  it('returns the same page again while nothing changes', async () => {
    const store = aStore();
    store.publish(polled('1', 1));
    store.accountUp('production', true);
    const page = await store.page();

    store.accountUp('production', true);
    store.remove('production', '404');
    store.removeAccount('nobody');

    expect(await store.page()).toBe(page);
  });

  it('shows a page of one moment, whatever is published while it is put together', async () => {
    const gate = new EventEmitter();
    const opened = once(gate, 'open');
    const underWay = once(gate, 'turn');
    let turns = 0;
    const store = new SeriesStore(async () => {
      turns += 1;
      gate.emit('turn');
      await opened;
    });
    const ids = Array.from({ length: 500 }, (_, index) => String(index + 1));
    for (const id of ids) store.publish(polled(id, 1));
    const page = store.page();
    await underWay;
    for (const id of ids) store.publish({ ...polled(id, 2), lastSuccessMs: 1000 });
    store.remove('production', '500');
    const turnsBeforeTheChanges = turns;
    gate.emit('open');

    const families = parseExposition(Buffer.concat((await page).identity));

    expect(turnsBeforeTheChanges).toBe(1);
    expect(families.map(({ name }) => name)).not.toContain(
      'newrelic_application_last_success_timestamp_seconds',
    );
    expect(families[0]?.samples.map(({ value }) => value)).toEqual(ids.map(() => 1));
    const next = await linesOf(store, throughput);
    expect(next).toHaveLength(499);
    expect(next.filter((line) => !line.endsWith(' 2'))).toEqual([]);
  });

  it('keeps the first of the hosts whose labels become equal, and counts the others once', async () => {
    const store = aStore();
    const long = 'x'.repeat(300);
    const ids = ['a\u0000', 'a\u0001', 'b', 'a\uFFFD', long, labelValueOf(long)];
    const hosts = new Map(ids.map((id) => [id, [1]]));
    for (const windowEndMs of [1000, 2000, 3000]) {
      store.publish(aSnapshot({ reading: aReading({ windowEndMs, hosts }) }));
    }

    const lines = await linesOf(store, 'newrelic_application_host_requests_per_minute');

    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain('host_id="a\uFFFD"');
    expect([store.droppedOf('production'), store.seriesOf('production')]).toEqual([3, 5]);
  });
});

describe('two applications whose labels become equal', () => {
  it.each([
    { what: 'is removed', free: (store: SeriesStore) => store.remove(first, '1') },
    { what: 'loses its account', free: (store: SeriesStore) => store.removeAccount(first) },
    {
      what: 'is renamed',
      free: (store: SeriesStore) => store.publish(polled('1', 3, 'y', first)),
    },
  ])('are shown as the first of them; as the next one at once when it $what', async ({ free }) => {
    const store = aStore();
    for (const [value, account] of accounts.entries()) {
      store.publish(polled('1', value, 'x', account));
    }
    const shown = async (): Promise<readonly unknown[]> => [
      (await linesOf(store, throughput)).filter((line) => line.includes('"x"')),
      [second, third].map((account) => [store.seriesOf(account), store.droppedOf(account)]),
    ];
    const lineOf = (value: number): string =>
      `{account="a\uFFFD",app_id="1",app_name="x",transaction_type="web"} ${value}`;
    const contested = await shown();
    free(store);

    const [seriesAtFirst, seriesNow] = [
      [0, 4],
      [4, 4],
    ];
    expect(contested).toEqual([[lineOf(0)], [seriesAtFirst, seriesAtFirst]]);
    expect(await shown()).toEqual([[lineOf(1)], [seriesNow, seriesAtFirst]]);
  });

  it('count as dropped once, however often they are published, and again after they were shown', () => {
    const store = aStore();
    store.publish(polled('1', 1, 'x', first));
    const dropped = [1, 2].map((value) => {
      store.publish(polled('1', value, 'x', second));
      return store.droppedOf(second);
    });
    store.publish({ ...polled('1', 3, 'x', second), lastSuccessMs: 1000 });
    dropped.push(store.droppedOf(second));
    store.publish(polled('1', 1, 'y', second));
    store.publish(polled('1', 1, 'x', second));
    dropped.push(store.droppedOf(second));

    expect(dropped).toEqual([4, 4, 5, 9]);
    expect(store.droppedOf(first)).toBe(0);
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
    expect([store.seriesOf(second), store.droppedOf(second)]).toEqual([1, 1]);
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
            store.publish(polled(one.id, 1, one.name, one.account));
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
        const shown = await linesOf(store, info);
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
