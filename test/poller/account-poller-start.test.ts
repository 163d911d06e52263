import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis } from '../support/poller-bench.ts';

describe.each(apis)('$name', (api) => {
  const unreachable = (): ApiError => new ApiError('dns', 'cannot resolve api.newrelic.com');

  describe('AccountPoller at the start', () => {
    it('does not end its first cycle before every application was polled', async () => {
      const bench = aBench(api);
      bench.source.list(anApplication({ id: '1' }));
      let answer = (): void => {};
      bench.source.answer(
        '1',
        new Promise((resolve) => {
          answer = () => {
            resolve(webOf(1));
          };
        }),
      );

      const before = bench.poller.status();
      bench.start();
      await bench.clock.advance(1000);
      const during = bench.poller.status();
      answer();
      await bench.clock.advance(1000);
      const after = bench.poller.status();

      expect(before).toMatchObject({ up: undefined, firstCycleEnded: false });
      expect(during).toMatchObject({ up: true, firstCycleEnded: false, polledApplications: 0 });
      expect(after).toMatchObject({ firstCycleEnded: true, polledApplications: 1 });
    });

    it('keeps trying soon while the vendor is unreachable, and recovers by itself', async () => {
      const bench = aBench(api);
      bench.source.failDiscovery(unreachable());
      bench.start();

      await bench.clock.advance(20_000);
      const whileDown = bench.poller.status();
      const tries = bench.source.calls.length;
      bench.source.failDiscovery(undefined);
      bench.source.list(anApplication({ id: '1' }));
      bench.source.answer('1', webOf(3));
      await bench.clock.advance(30_000);

      expect(whileDown).toMatchObject({
        up: false,
        firstCycleEnded: false,
        error: 'cannot resolve api.newrelic.com',
      });
      expect(tries).toBeGreaterThanOrEqual(3);
      expect(bench.poller.status()).toMatchObject({ up: true, firstCycleEnded: true });
      expect(bench.sink.apps.get('1')?.reading?.application).toEqual(webOf(3));
      expect(bench.logger.lines.map((line) => line.message)).toEqual([
        'discovery failed',
        'discovery works again',
      ]);
    });

    it('ends its first cycle when the vendor refuses the key: that is an answer', async () => {
      const bench = aBench(api);
      bench.source.failDiscovery(new ApiError('auth', 'HTTP 401', { status: 401 }));
      bench.start();

      await bench.clock.advance(1000);

      expect(bench.poller.status()).toMatchObject({ up: false, firstCycleEnded: true });
    });

    it('logs configured entries that the account does not have once, and again when they appear', async () => {
      const bench = aBench(api, [
        anEntry({ selector: { kind: 'id', id: '7' } }),
        anEntry({ selector: { kind: 'name', name: 'Shop' } }),
      ]);
      bench.source.list(anApplication({ id: '1', name: 'shop' }));
      bench.start();

      await bench.clock.advance(180_000);
      const missing = bench.poller.status().missingSelectors;
      bench.source.list(anApplication({ id: '1', name: 'Shop' }));
      bench.source.answer('1', webOf(1));
      await bench.clock.advance(60_000);

      expect(missing).toEqual(['id=7', 'name=Shop']);
      expect(bench.poller.status().missingSelectors).toEqual(['id=7']);
      const lines = bench.logger.lines.filter((line) => line.message.includes('of apps match'));
      expect(lines.map((line) => [line.message, line.fields['selector']])).toEqual([
        ['entry of apps matches nothing', 'id=7'],
        ['entry of apps matches nothing', 'name=Shop'],
        ['entry of apps matches again', 'name=Shop'],
      ]);
    });

    it('polls an application chosen by two entries once, with the settings of the first', async () => {
      const bench = aBench(api, [
        anEntry({ selector: { kind: 'id', id: '1' }, labels: { team: 'payments' } }),
        anEntry({ selector: { kind: 'match', pattern: /shop/u }, labels: { team: 'other' } }),
      ]);
      bench.source.list(anApplication({ id: '1', name: 'shop' }));
      bench.source.answer('1', webOf(1));
      bench.start();

      await bench.clock.advance(1000);

      expect(bench.source.calls).toEqual(['list', 'app 1']);
      expect(bench.sink.apps.get('1')?.labels).toEqual({ team: 'payments' });
    });

    it('asks for host names only when an unknown host appears', async () => {
      const bench = aBench(api, [anEntry({ poll: { hostNames: true } })]);
      bench.source.list(anApplication({ id: '1', hostIds: ['11'] }));
      bench.source.names('1', new Map([['11', 'ip-10-0-0-1']]));
      for (const subject of ['1', '1/11', '1/12']) bench.source.answer(subject, webOf(1));
      bench.start();

      await bench.clock.advance(300_000);
      const asked = bench.source.calls.filter((call) => call === 'names 1').length;
      const names = bench.sink.apps.get('1')?.hostNames;
      bench.source.list(anApplication({ id: '1', hostIds: ['11', '12'] }));
      bench.source.names('1', new Map([['12', 'ip-10-0-0-2']]));
      await bench.clock.advance(300_000);

      expect(asked).toBe(1);
      expect(names).toEqual(new Map([['11', 'ip-10-0-0-1']]));
      expect(bench.source.calls.filter((call) => call === 'names 1')).toHaveLength(2);
      expect(bench.sink.apps.get('1')?.hostNames).toEqual(
        new Map([
          ['11', 'ip-10-0-0-1'],
          ['12', 'ip-10-0-0-2'],
        ]),
      );
    });

    it('works without the endpoint for host names, and asks it at most every ten minutes', async () => {
      const bench = aBench(api, [anEntry({ poll: { hostNames: true } })]);
      bench.source.list(anApplication({ id: '1', hostIds: ['11'] }));
      bench.source.names('1', new ApiError('not_found', 'HTTP 404', { status: 404 }));
      for (const subject of ['1', '1/11']) bench.source.answer(subject, webOf(1));
      bench.start();

      await bench.clock.advance(25 * 60_000);

      expect(bench.source.calls.filter((call) => call === 'names 1')).toHaveLength(3);
      expect(bench.sink.apps.get('1')).toMatchObject({ pollSucceeded: true, hostNames: new Map() });
      expect(bench.polls.every((succeeded) => succeeded)).toBe(true);
    });

    it('shows a new name at once when an application is renamed', async () => {
      const bench = aBench(api, [anEntry({ selector: { kind: 'id', id: '1' } })]);
      bench.source.list(anApplication({ id: '1', name: 'old' }));
      bench.source.answer('1', webOf(1));
      bench.start();
      await bench.clock.advance(1000);
      bench.source.list(anApplication({ id: '1', name: 'new' }));

      await bench.clock.advance(60_000);

      expect(bench.sink.apps.get('1')?.application.name).toBe('new');
    });

    describe('runOnce', () => {
      it.each([
        { what: 'everything arrives', host: webOf(1), selector: '1', expected: true },
        {
          what: 'a host fails',
          host: new ApiError('server', 'HTTP 500', { status: 500 }),
          selector: '1',
          expected: false,
        },
        {
          what: 'a configured application is missing',
          host: webOf(1),
          selector: '2',
          expected: false,
        },
        {
          what: 'a configured application was not asked for',
          host: webOf(1),
          selector: '2',
          pending: ['2'],
          expected: false,
        },
      ])('resolves to $expected when $what', async ({ host, selector, pending = [], expected }) => {
        const bench = aBench(api, [
          anEntry({ selector: { kind: 'id', id: '1' } }),
          anEntry({ selector: { kind: 'id', id: selector } }),
        ]);
        bench.source.list(anApplication({ id: '1', hostIds: ['11'] }));
        bench.source.answer('1', webOf(1));
        bench.source.answer('1/11', host);
        bench.source.pending(...pending);

        const succeeded = await bench.poller.runOnce(new AbortController().signal);

        expect(succeeded).toBe(expected);
      });
    });
  });
});
