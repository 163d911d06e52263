import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, aRunningShop, rest } from '../support/poller-bench.ts';

const serverError = (): ApiError => new ApiError('server', 'HTTP 500', { status: 500 });
const timedOut = (): ApiError => new ApiError('timeout', 'no answer');
const unauthorized = (): ApiError => new ApiError('auth', 'HTTP 401', { status: 401 });
const never = async (): Promise<never> => new Promise(() => {});

describe.each(apis)('$name', (api) => {
  describe('AccountPoller, when the vendor misbehaves', () => {
    it('gives up on a poll that hangs, and drops the values after stale_after', async () => {
      const bench = await aRunningShop(api, { poll: { staleAfterMs: 300_000 } });
      for (const subject of ['1', '1/11', '1/12']) bench.source.answer(subject, never());

      await bench.clock.advance(200_000);
      const held = bench.sink.apps.get('1');
      await bench.clock.advance(200_000);
      const dropped = bench.sink.apps.get('1');

      expect(held).toMatchObject({ pollSucceeded: false });
      expect(held?.reading?.application).toEqual(webOf(30));
      expect(dropped?.reading).toBeUndefined();
      const line = bench.logger.lines.find(({ message }) => message === 'poll failed');
      expect(line?.fields['error']).toMatchObject({ reason: 'timeout' });
    });

    it('goes on with the others when one application is refused, and soon finds out why', async () => {
      const bench = aBench(api, [anEntry({ poll: { discoveryIntervalMs: 3_600_000 } })]);
      bench.source.list(anApplication({ id: '1' }), anApplication({ id: '2', name: 'other' }));
      bench.source.answer('1', unauthorized());
      bench.source.answer('2', webOf(4));
      bench.start();

      await bench.clock.advance(15_000);
      const lists = bench.source.calls.filter((call) => call === 'list').length;
      await bench.clock.advance(285_000);

      expect(lists).toBe(2);
      expect(bench.source.calls.filter((call) => call === 'app 2').length).toBeGreaterThanOrEqual(
        5,
      );
      expect(bench.sink.apps.get('2')).toMatchObject({ pollSucceeded: true });
      expect(bench.sink.apps.get('1')).toMatchObject({ pollSucceeded: false });
    });

    it('probes a refused key every minute, however rare discoveries are, with one line for each application at most', async () => {
      const bench = aBench(api, [anEntry({ poll: { discoveryIntervalMs: 3_600_000 } })]);
      const apps = Array.from({ length: 20 }, (_, index) => `${index + 1}`);
      bench.source.list(...apps.map((id) => anApplication({ id })));
      for (const id of apps) bench.source.answer(id, webOf(1));
      bench.start();
      await bench.clock.advance(1000);
      for (const id of apps) bench.source.answer(id, unauthorized());
      bench.source.failDiscovery(unauthorized());
      await bench.clock.advance(600_000);
      const whileRefused = bench.source.calls.filter((call) => call.startsWith('app')).length;
      const warnings = bench.logger.lines.filter(({ level }) => level !== 'info');
      bench.source.failDiscovery(undefined);
      for (const id of apps) bench.source.answer(id, webOf(2));
      await bench.clock.advance(130_000);

      expect(whileRefused).toBeLessThan(50);
      expect(warnings.length).toBeLessThanOrEqual(1 + 20);
      expect(bench.sink.apps.get('20')?.reading?.application).toEqual(webOf(2));
    });

    it('has one log line for a refused key, and none for the polls that are not tried because of it', async () => {
      const bench = await aRunningShop(api);
      bench.source.failDiscovery(unauthorized());

      await bench.clock.advance(600_000);

      expect(bench.polls.slice(-5)).toEqual([false, false, false, false, false]);
      expect(bench.logger.lines.map(({ message }) => message)).toEqual([
        'account discovered',
        'discovery failed',
      ]);
    });

    it('refreshes what an incomplete discovery has read, and polls its new hosts', async () => {
      const bench = await aRunningShop(api);
      bench.source.failDiscovery(serverError(), [
        anApplication({ id: '1', name: 'renamed', hostIds: ['12', '13'] }),
      ]);
      bench.source.answer('1/13', webOf(5));

      await bench.clock.advance(180_000);

      const snapshot = bench.sink.apps.get('1');
      expect(snapshot?.application.name).toBe('renamed');
      expect([...(snapshot?.reading?.hosts.keys() ?? [])]).toEqual(['11', '12', '13']);
    });

    it('keeps an application whose element in the list could not be read', async () => {
      const bench = await aRunningShop(api);
      bench.source.list();
      bench.source.unreadable('1');

      await bench.clock.advance(120_000);

      expect(bench.sink.apps.get('1')?.reading?.application).toEqual(webOf(30));
      expect(bench.poller.status().up).toBe(true);
    });

    it('ends its first cycle when a discovery was answered in part, and what it found was polled', async () => {
      const bench = aBench(api);
      bench.source.failDiscovery(serverError(), [anApplication({ id: '1' })]);
      bench.source.answer('1', webOf(1));
      bench.start();

      await bench.clock.advance(1000);

      expect(bench.poller.status()).toMatchObject({ up: false, firstCycleEnded: true });
    });

    it('ends its first cycle after five minutes without any answer, so that others are not held up', async () => {
      const bench = aBench(api);
      bench.source.failDiscovery(new ApiError('connect', 'refused'));
      bench.start();

      await bench.clock.advance(299_000);
      const before = bench.poller.status().firstCycleEnded;
      await bench.clock.advance(2000);
      const after = bench.poller.status().firstCycleEnded;

      expect([before, after]).toEqual([false, true]);
    });

    it('shows an account as down from the start until the first discovery succeeds', async () => {
      const bench = aBench(api);

      const first = bench.sink.up.get('production');

      expect(first).toBe(false);
    });

    it.each(['unreadable', 'pending'] as const)(
      'keeps an application by id that is now %s, and does not call its entry missing',
      async (kind) => {
        const bench = aBench(api, [anEntry({ selector: { kind: 'id', id: '1' } })]);
        bench.source.answer('1', webOf(1));
        bench.source.list(anApplication({ id: '1' }));
        bench.start();
        await bench.clock.advance(30_000);
        bench.source.list();
        bench.source[kind]('1');

        await bench.clock.advance(60_000);

        expect(bench.poller.status()).toMatchObject({ applications: 1, missingSelectors: [] });
      },
    );

    it('shows the values at the deadline of the poll, without a failure, while the list of host names hangs', async () => {
      const bench = aBench(api, [anEntry({ poll: { hostNames: true } })]);
      bench.source.list(anApplication({ id: '1', hostIds: ['11'] }));
      bench.source.names('1', never());
      for (const subject of ['1', '1/11']) bench.source.answer(subject, webOf(1));
      bench.start();

      await bench.clock.advance(121_000);

      expect(bench.sink.apps.get('1')).toMatchObject({ pollSucceeded: true });
      expect(bench.logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    });

    it('shows the host names that came before a page failed, and asks for the rest again', async () => {
      const bench = aBench(api, [anEntry({ poll: { hostNames: true } })]);
      bench.source.list(anApplication({ id: '1', hostIds: ['11', '12'] }));
      const error = new ApiError('timeout', 'no answer in time');
      bench.source.names('1', { names: new Map([['11', 'a']]), error, calls: 2 });
      for (const subject of ['1', '1/11', '1/12']) bench.source.answer(subject, webOf(1));
      bench.start();
      await bench.clock.advance(1000);
      const first = bench.sink.apps.get('1')?.hostNames;
      bench.source.names('1', new Map([['12', 'b']]));

      await bench.clock.advance(12 * 60_000);

      expect([...(first ?? [])]).toEqual([['11', 'a']]);
      expect([...(bench.sink.apps.get('1')?.hostNames ?? [])]).toEqual([
        ['11', 'a'],
        ['12', 'b'],
      ]);
      const warnings = bench.logger.lines.filter(({ level }) => level === 'warn');
      expect(warnings.map(({ message }) => message)).toEqual(['host names not available']);
    });

    it('asks again later for the name of a host that the list did not have', async () => {
      const bench = aBench(api, [anEntry({ poll: { hostNames: true } })]);
      bench.source.list(anApplication({ id: '1', hostIds: ['11', '12'] }));
      bench.source.names('1', new Map([['11', 'a']]));
      for (const subject of ['1', '1/11', '1/12']) bench.source.answer(subject, webOf(1));
      bench.start();
      await bench.clock.advance(60_000);
      bench.source.names(
        '1',
        new Map([
          ['11', 'a'],
          ['12', 'b'],
        ]),
      );

      await bench.clock.advance(30 * 60_000);

      expect(bench.sink.apps.get('1')?.hostNames.get('12')).toBe('b');
      expect(bench.source.calls.filter((call) => call === 'names 1')).toHaveLength(2);
    });

    it('asks less and less often for names that never come', async () => {
      const bench = aBench(api, [anEntry({ poll: { hostNames: true } })]);
      bench.source.list(anApplication({ id: '1', hostIds: ['11'] }));
      bench.source.names('1', new Map());
      for (const subject of ['1', '1/11']) bench.source.answer(subject, webOf(1));
      bench.start();

      await bench.clock.advance(12 * 3_600_000);

      // After 0, 10, 30, 70 and 150 minutes, and then every two hours.
      expect(bench.source.calls.filter((call) => call === 'names 1')).toHaveLength(9);
      expect(bench.sink.apps.get('1')).toMatchObject({ pollSucceeded: true });
    });

    it('says when the reason of a failure changes, and when an application comes back', async () => {
      const bench = await aRunningShop(api, { hosts: false });
      bench.source.failDiscovery(serverError());
      await bench.clock.advance(120_000);
      bench.source.failDiscovery(new ApiError('dns', 'no such host'));
      await bench.clock.advance(120_000);
      bench.source.failDiscovery(undefined);
      await bench.clock.advance(120_000);
      bench.source.answer('1', new ApiError('not_found', 'HTTP 404', { status: 404 }));
      await bench.clock.advance(120_000);
      bench.source.answer('1', webOf(1));
      await bench.clock.advance(120_000);

      expect(bench.logger.lines.map(({ message }) => message)).toEqual([
        'account discovered',
        'discovery failed',
        'discovery failed',
        'discovery works again',
        'application is gone',
        'application is back',
      ]);
    });
  });
});

describe('AccountPoller by the REST API, when the vendor misbehaves', () => {
  it('gives up on the rest of a poll after a dozen calls without an answer', async () => {
    const bench = aBench(rest);
    const hostIds = Array.from({ length: 500 }, (_, index) => `${index + 1}`);
    bench.source.list(anApplication({ id: '1', hostIds }));
    for (const subject of ['1', ...hostIds.map((id) => `1/${id}`)]) {
      bench.source.answer(subject, timedOut());
    }
    bench.start();

    await bench.clock.advance(1000);

    expect(bench.polls).toEqual([false]);
    expect(bench.source.calls.length).toBeLessThan(30);
  });
});
