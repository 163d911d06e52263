import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, aRunningShop } from '../support/poller-bench.ts';

const serverError = (): ApiError => new ApiError('server', 'HTTP 500', { status: 500 });

describe.each(apis)('$name', (api) => {
  describe('AccountPoller, when the vendor misbehaves', () => {
    it('has one log line for a refused key, and none for the polls that are not tried because of it', async () => {
      const bench = await aRunningShop(api);
      bench.source.failDiscovery(new ApiError('auth', 'HTTP 401', { status: 401 }));

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
  });
});
