import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, aRunningShop, rest } from '../support/poller-bench.ts';

const notFound = (): ApiError => new ApiError('not_found', 'HTTP 404', { status: 404 });

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
