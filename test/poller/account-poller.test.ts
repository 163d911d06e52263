import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, aRunningShop, rest, unlikeEntries } from '../support/poller-bench.ts';

const serverError = (): ApiError => new ApiError('server', 'HTTP 500', { status: 500 });
const notFound = (): ApiError => new ApiError('not_found', 'HTTP 404', { status: 404 });
const unauthorized = (): ApiError => new ApiError('auth', 'HTTP 401', { status: 401 });

describe.each(apis)('$name', (api) => {
  describe('AccountPoller', () => {
    it('discovers, polls the application and each host once, and publishes them together', async () => {
      const bench = await aRunningShop(api);

      expect(bench.source.calls).toEqual(['list', 'app 1', 'host 1/11', 'host 1/12']);
      const snapshot = bench.sink.apps.get('1');
      expect(snapshot?.reading?.application).toEqual(webOf(30));
      expect([...(snapshot?.reading?.hosts ?? [])]).toEqual([
        ['11', webOf(10)],
        ['12', webOf(20)],
      ]);
      expect(snapshot?.pollSucceeded).toBe(true);
      expect(bench.sink.up.get('production')).toBe(true);
      const readings = bench.sink.published.map((one) => one.reading?.hosts.size);
      expect(readings).toEqual([undefined, 2]);
    });

    it('asks for the same window in every call of a poll, ending on a whole minute', async () => {
      const bench = await aRunningShop(api);

      const windows = new Set(bench.source.queries.map((query) => JSON.stringify(query.window)));
      const toMs = Date.UTC(2026, 8, 1, 9, 57);
      expect([...windows]).toEqual([JSON.stringify({ fromMs: toMs - 300_000, toMs })]);
      expect(bench.sink.apps.get('1')?.reading?.windowEndMs).toBe(toMs);
    });

    it('polls again within every interval', async () => {
      const bench = await aRunningShop(api);

      await bench.clock.advance(10 * 60_000);

      expect(bench.source.calls.filter((call) => call === 'app 1').length).toBeGreaterThanOrEqual(
        11,
      );
      expect(bench.skipped).toEqual([]);
    });

    it('holds the last good values while polls fail, and drops them after stale_after', async () => {
      const bench = await aRunningShop(api, { poll: { staleAfterMs: 300_000 } });
      for (const subject of ['1', '1/11', '1/12']) bench.source.answer(subject, serverError());

      await bench.clock.advance(200_000);
      const held = bench.sink.apps.get('1');
      await bench.clock.advance(200_000);
      const dropped = bench.sink.apps.get('1');

      expect(held?.reading?.application).toEqual(webOf(30));
      expect(held?.pollSucceeded).toBe(false);
      expect(held?.lastSuccessMs).toBe(dropped?.lastSuccessMs);
      expect(dropped?.reading).toBeUndefined();
      expect(dropped?.pollSucceeded).toBe(false);
    });

    it('does not call values stale that are just not due yet', async () => {
      const bench = await aRunningShop(api, {
        poll: { intervalMs: 3_600_000, staleAfterMs: 60_000 },
      });

      await bench.clock.advance(1_800_000);

      expect(bench.sink.apps.get('1')?.reading?.application).toEqual(webOf(30));
    });

    it('publishes at once what arrives when one host fails, and holds what that host had', async () => {
      const bench = await aRunningShop(api);
      bench.source.answer('1', webOf(300));
      bench.source.answer('1/11', serverError());

      await bench.clock.advance(60_000);

      const snapshot = bench.sink.apps.get('1');
      expect(snapshot?.pollSucceeded).toBe(false);
      expect(snapshot?.reading?.application).toEqual(webOf(300));
      expect(snapshot?.reading?.hosts.get('11')).toEqual(webOf(10));
    });

    it('drops the values of a host that keeps failing, and of no other', async () => {
      const bench = await aRunningShop(api);
      bench.source.answer('1', webOf(300));
      bench.source.answer('1/11', serverError());

      await bench.clock.advance(17 * 60_000);

      const snapshot = bench.sink.apps.get('1');
      expect(snapshot?.pollSucceeded).toBe(false);
      expect(snapshot?.reading?.application).toEqual(webOf(300));
      expect([...(snapshot?.reading?.hosts.keys() ?? [])]).toEqual(['12']);
    });

    it('drops an application at once that a complete discovery no longer lists', async () => {
      const bench = await aRunningShop(api);
      bench.source.list();

      await bench.clock.advance(60_000);

      expect(bench.sink.apps.size).toBe(0);
    });

    it('drops a host at once that a complete discovery no longer lists', async () => {
      const bench = await aRunningShop(api, { poll: { intervalMs: 600_000 } });
      bench.source.list(anApplication({ id: '1', hostIds: ['12'] }));

      await bench.clock.advance(60_000);

      expect([...(bench.sink.apps.get('1')?.reading?.hosts.keys() ?? [])]).toEqual(['12']);
    });

    it('removes nothing when a discovery is incomplete, and adds what it found', async () => {
      const bench = await aRunningShop(api);
      bench.source.failDiscovery(serverError(), [anApplication({ id: '2', name: 'new' })]);
      bench.source.answer('2', webOf(5));

      await bench.clock.advance(61_000);

      expect([...bench.sink.apps.keys()].toSorted()).toEqual(['1', '2']);
      expect(bench.sink.apps.get('1')?.reading?.hosts.size).toBe(2);
      expect(bench.sink.up.get('production')).toBe(false);
    });

    it('drops a host that answers 404 without calling the poll a failure', async () => {
      const bench = await aRunningShop(api);
      bench.source.answer('1/11', notFound());

      await bench.clock.advance(60_000);

      const snapshot = bench.sink.apps.get('1');
      expect([...(snapshot?.reading?.hosts.keys() ?? [])]).toEqual(['12']);
      expect(snapshot?.pollSucceeded).toBe(true);
    });

    it('drops an application that answers 404, and does not show it again although the list has it', async () => {
      const bench = await aRunningShop(api);
      bench.source.answer('1', notFound());

      await bench.clock.advance(60_000);
      const afterPoll = bench.sink.apps.size;
      await bench.clock.advance(90_000);
      const afterDiscovery = bench.sink.apps.size;
      bench.source.answer('1', webOf(7));
      await bench.clock.advance(60_000);

      expect([afterPoll, afterDiscovery]).toEqual([0, 0]);
      expect(bench.sink.apps.get('1')?.reading?.application).toEqual(webOf(7));
    });

    it('drops what the discovery said when that has failed for stale_after, but not the polled values', async () => {
      const bench = await aRunningShop(api, { poll: { staleAfterMs: 300_000 } });
      bench.source.failDiscovery(serverError());

      await bench.clock.advance(240_000);
      const held = bench.sink.apps.get('1')?.application;
      await bench.clock.advance(180_000);
      const snapshot = bench.sink.apps.get('1');
      bench.source.failDiscovery(undefined);
      await bench.clock.advance(60_000);

      expect(held).toMatchObject({ reporting: true, hostIds: ['11', '12'] });
      expect(snapshot?.application).toMatchObject({
        id: '1',
        name: 'shop',
        reporting: undefined,
        hostIds: undefined,
      });
      expect(snapshot?.reading?.hosts.size).toBe(2);
      expect(bench.sink.apps.get('1')?.application.reporting).toBe(true);
    });

    it('publishes the earliest end of the windows if the vendor chose them', async () => {
      const bench = aBench(api, [anEntry({ poll: { window: { kind: 'vendor_default' } } })]);
      bench.source.list(anApplication({ id: '1', hostIds: ['11', '12'] }));
      bench.source.answer('1', webOf(1), 120_000);
      bench.source.answer('1/11', webOf(1), 60_000);
      bench.source.answer('1/12', webOf(1), 180_000);
      bench.start();

      await bench.clock.advance(1000);

      expect(bench.sink.apps.get('1')?.reading?.windowEndMs).toBe(60_000);
    });

    it('stops asking once the key is refused, until a discovery succeeds again', async () => {
      const bench = await aRunningShop(api);
      bench.source.answer('1', unauthorized());
      bench.source.failDiscovery(unauthorized());

      await bench.clock.advance(120_000);
      const before = bench.source.calls.length;
      await bench.clock.advance(600_000);
      const probes = bench.source.calls.slice(before);

      expect(new Set(probes)).toEqual(new Set(['list']));
      expect(probes).toHaveLength(10);
      expect(bench.sink.apps.get('1')?.pollSucceeded).toBe(false);
    });

    it('does not delay or lose values of one application when another hangs', async () => {
      const bench = aBench(api, unlikeEntries(['1', '2']));
      bench.source.list(anApplication({ id: '1' }), anApplication({ id: '2', name: 'other' }));
      bench.source.answer('1', new Promise(() => {}));
      bench.source.answer('2', webOf(4));
      bench.start();

      await bench.clock.advance(300_000);

      expect(bench.source.calls.filter((call) => call === 'app 2').length).toBeGreaterThanOrEqual(
        5,
      );
      expect(bench.source.calls.filter((call) => call === 'app 1')).toHaveLength(3);
    });

    it('asks for no throughput of an application that was silent for the whole window', async () => {
      const bench = aBench(api);
      bench.source.list(anApplication({ id: '1', reporting: false, healthStatus: 'gray' }));
      bench.start();

      await bench.clock.advance(120_000);

      expect(new Set(bench.source.calls)).toEqual(new Set(['list']));
      expect(bench.sink.apps.get('1')?.pollSucceeded).toBe(true);
      expect(bench.sink.apps.get('1')?.reading?.application).toEqual([]);
    });

    it('makes no calls for hosts if the entry wants none', async () => {
      const bench = await aRunningShop(api, { hosts: false });

      expect(bench.source.calls).toEqual(['list', 'app 1']);
    });

    it('stretches all intervals evenly when the demand exceeds the budget, and says so', async () => {
      const apps = Array.from({ length: 20 }, (_, index) => `${index + 1}`);
      const bench = aBench(api, unlikeEntries(apps), { requestsPerMinute: 10 });
      bench.source.list(...apps.map((id) => anApplication({ id, name: `app ${id}` })));
      for (const id of apps) bench.source.answer(id, webOf(1));
      bench.start();

      await bench.clock.advance(30 * 60_000);

      expect(bench.poller.status().demandRequestsPerMinute).toBe(21);
      expect(bench.poller.status().pollIntervalSeconds).toBeCloseTo((60 * 20) / 8.85, 5);
      const polls = apps.map(
        (id) => bench.source.calls.filter((call) => call === `app ${id}`).length,
      );
      expect(Math.max(...polls) - Math.min(...polls)).toBeLessThanOrEqual(1);
      expect(bench.logger.lines.map((line) => line.message)).toContain(
        'demand exceeds the budget: intervals are stretched',
      );
      expect(Math.max(...bench.pollSeconds)).toBeLessThan(15);
    });

    it('logs a failure once when it begins and once when it ends', async () => {
      const bench = await aRunningShop(api, { hosts: false });
      bench.source.answer('1', serverError());
      await bench.clock.advance(300_000);
      bench.source.answer('1', webOf(1));
      await bench.clock.advance(300_000);

      const messages = bench.logger.lines.map((line) => line.message);
      expect(messages).toEqual(['account discovered', 'poll failed', 'poll works again']);
    });
  });
});

describe('AccountPoller by the REST API', () => {
  it('gives up on the rest of a poll when the application answers 404', async () => {
    const bench = aBench(rest, [anEntry()], { concurrency: 1 });
    bench.source.list(anApplication({ id: '1', hostIds: ['11', '12', '13'] }));
    bench.source.answer('1', notFound());
    bench.start();

    await bench.clock.advance(1000);

    expect(bench.source.calls).toEqual(['list', 'app 1']);
  });
});
