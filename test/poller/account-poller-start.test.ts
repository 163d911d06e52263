import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis } from '../support/poller-bench.ts';

describe.each(apis)('$name', (api) => {
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

    it('ends its first cycle when the vendor refuses the key: that is an answer', async () => {
      const bench = aBench(api);
      bench.source.failDiscovery(new ApiError('auth', 'HTTP 401', { status: 401 }));
      bench.start();

      await bench.clock.advance(1000);

      expect(bench.poller.status()).toMatchObject({ up: false, firstCycleEnded: true });
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
