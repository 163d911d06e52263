import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { SeriesStore } from '../../src/publish/series-store.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { anApplication, aReading, aSnapshot, aStore, linesOf, pageText } from './builders.ts';

const throughput = 'newrelic_application_requests_per_minute';

function polled(id: string, value: number, name = `app-${id}`): ReturnType<typeof aSnapshot> {
  return aSnapshot({
    application: anApplication({ id, name }),
    reading: aReading({ application: [value] }),
    pollSucceeded: true,
  });
}

function withHosts(id: string, hostIds: readonly string[]): ReturnType<typeof aSnapshot> {
  const hosts = new Map(hostIds.map((hostId) => [hostId, [1]]));
  return aSnapshot({ application: anApplication({ id }), reading: aReading({ hosts }) });
}

function anInfo(account: string, id: string): ReturnType<typeof aSnapshot> {
  return aSnapshot({ account, application: anApplication({ id, name: 'x' }) });
}

describe('SeriesStore', () => {
  it('prints each family once, with its header, and only if it has a series', async () => {
    const store = aStore();
    store.publish(polled('1', 1));
    store.publish(polled('2', 2));
    store.accountUp('production', true);

    const families = parseExposition((await store.page()).identity);

    expect(families.map(({ name, samples }) => [name, samples.length])).toEqual([
      ['newrelic_up', 1],
      [throughput, 2],
      ['newrelic_application_window_end_timestamp_seconds', 2],
      ['newrelic_application_info', 2],
      ['newrelic_application_poll_success', 2],
    ]);
  });

  it('orders applications by the number of their id, however they arrive', async () => {
    const store = aStore();
    for (const id of ['10', '9', '99007199254740993', '2']) store.publish(polled(id, 1, 'x'));

    const ids = (await linesOf(store, throughput)).map((line) => /app_id="(\d+)"/u.exec(line)?.[1]);

    expect(ids).toEqual(['2', '9', '10', '99007199254740993']);
  });

  it('replaces an application as a whole: its old name and values are gone', async () => {
    const store = aStore();
    store.publish(polled('1', 1, 'Old'));
    store.publish(polled('1', 2, 'New'));

    const text = await pageText(store);

    expect(text).not.toContain('Old');
    expect(await linesOf(store, throughput)).toEqual([
      '{account="production",app_id="1",app_name="New",transaction_type="web"} 2',
    ]);
  });

  it('drops everything of an account at once, and nothing of others', async () => {
    const store = aStore();
    for (const account of ['production', 'staging']) {
      store.publish({ ...polled('1', 1), account });
      store.accountUp(account, true);
    }
    await store.page();
    store.removeAccount('production');

    const text = await pageText(store);

    expect(text).not.toContain('production');
    expect(text).toContain('newrelic_up{account="staging"} 1');
    expect(store.seriesOf('production')).toBe(0);
  });

  it('shows why polls fail while they do, with one series of the newest reason', async () => {
    const failure = 'newrelic_application_poll_failure_info';
    const store = aStore();
    const lines: (readonly string[])[] = [];
    for (const failureReason of ['timeout', 'server', undefined] as const) {
      const pollSucceeded = failureReason === undefined;
      store.publish({ ...polled('1', 1, 'Shop'), pollSucceeded, failureReason });
      lines.push(await linesOf(store, failure));
    }

    const labels = 'account="production",app_id="1",app_name="Shop"';
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
    const first = await store.page();

    store.accountUp('production', true);
    store.remove('production', '404');
    store.removeAccount('nobody');

    expect(await store.page()).toBe(first);
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

    const families = parseExposition((await page).identity);

    expect(turnsBeforeTheChanges).toBe(1);
    expect(families.map(({ name }) => name)).not.toContain(
      'newrelic_application_last_success_timestamp_seconds',
    );
    expect(families[0]?.samples.map(({ value }) => value)).toEqual(ids.map(() => 1));
    const next = await linesOf(store, throughput);
    expect(next).toHaveLength(499);
    expect(next.filter((line) => !line.endsWith(' 2'))).toEqual([]);
  });

  it('counts the series of each account', () => {
    const store = aStore();
    store.publish(polled('1', 1));
    store.publish(polled('2', 1));
    store.accountUp('production', true);
    const full = store.seriesOf('production');
    store.publish(aSnapshot({ application: anApplication({ id: '2' }) }));
    store.remove('production', '1');

    // Two applications with four series each, and newrelic_up; then one with only its info.
    expect(full).toBe(9);
    expect(store.seriesOf('production')).toBe(2);
    expect(store.seriesOf('staging')).toBe(0);
  });

  it('keeps the first of the hosts that become equal, and counts the others', async () => {
    const store = aStore();
    store.publish(withHosts('1', ['a\u0000', 'a\u0001', 'b', 'a\uFFFD']));

    const lines = await linesOf(store, 'newrelic_application_host_requests_per_minute');

    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('host_id="a\uFFFD"');
    expect(store.droppedOf('production')).toBe(2);
    expect(store.seriesOf('production')).toBe(4);
  });

  it('orders accounts by name, however they arrive', async () => {
    const store = aStore();
    for (const account of ['b', 'c', 'a']) {
      store.accountUp(account, true);
      store.publish(anInfo(account, '1'));
    }

    const up = await linesOf(store, 'newrelic_up');
    const infos = await linesOf(store, 'newrelic_application_info');

    expect(up).toEqual(['{account="a"} 1', '{account="b"} 1', '{account="c"} 1']);
    expect(infos.map((line) => line.slice(0, 12))).toEqual([
      '{account="a"',
      '{account="b"',
      '{account="c"',
    ]);
  });
});
