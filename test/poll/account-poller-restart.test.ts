import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, type PollerBench } from '../support/poller-bench.ts';
import { slow } from '../support/slow.ts';

/** Calls back as soon as the condition holds when a timer without delay is set. */
function whenOthersHaveTheirTurn(
  { clock }: PollerBench,
  condition: () => boolean,
  run: () => void,
): { readonly turns: () => number } {
  const after = clock.after.bind(clock);
  let turns = 0;
  let isArmed = true;
  clock.after = (delayMs, timer) => {
    if (delayMs === 0) {
      turns += 1;
      if (isArmed && condition()) {
        isArmed = false;
        queueMicrotask(run);
      }
    }
    return after(delayMs, timer);
  };
  return { turns: () => turns };
}

const labelled = (generation: string): readonly AppEntry[] => [anEntry({ labels: { generation } })];

describe.each(apis)('$name', (api) => {
  function aLargeAccount(entries: readonly AppEntry[], applications: number): PollerBench {
    const bench = aBench(api, entries, { requestsPerMinute: 100_000 });
    const all = Array.from({ length: applications }, (_, index) =>
      anApplication({ id: `${index + 1}`, name: `shop ${index + 1}` }),
    );
    bench.source.list(...all);
    for (const { id } of all) bench.source.answer(id, webOf(1));
    return bench;
  }

  describe('AccountPoller, when a reload comes at a bad moment', () => {
    it(
      'leaves nothing behind of many applications that a discovery is just removing',
      slow,
      async () => {
        const bench = aLargeAccount(labelled('old'), 300);
        bench.start();
        await bench.clock.advance(50_000);
        expect(bench.sink.apps.size).toBe(300);
        bench.source.list(anApplication({ id: '1', name: 'shop 1' }));
        const reload = (): void => {
          void bench.poller.reconfigure({ account: anAccount(), entries: labelled('new') });
        };

        whenOthersHaveTheirTurn(
          bench,
          () => bench.poller.judge.status().applications === 1,
          reload,
        );
        await bench.clock.advance(60_000);
        reload();
        await bench.clock.advance(60_000);

        expect([...bench.sink.apps.keys()]).toEqual(['1']);
        expect(bench.sink.apps.get('1')?.labels).toEqual({ generation: 'new' });
      },
    );

    it('discovers at once after a reload between a discovery and the pause after it', async () => {
      const hourly = { discoveryIntervalMs: 3_600_000 };
      const bench = aBench(api, [anEntry({ selector: { kind: 'id', id: '1' }, poll: hourly })]);
      bench.source.list(anApplication({ id: '1' }));
      bench.source.answer('1', webOf(1));
      bench.source.answer('2', webOf(2));
      const { client } = bench.source;
      const ask = client.metrics.bind(client);
      let isFirst = true;
      bench.source.client.metrics = async (...query) => {
        if (isFirst) {
          isFirst = false;
          bench.source.list(anApplication({ id: '1' }), anApplication({ id: '2' }));
          const entries = [anEntry({ poll: hourly })];
          queueMicrotask(() => void bench.poller.reconfigure({ account: anAccount(), entries }));
        }
        return ask(...query);
      };

      bench.start();
      await bench.clock.advance(10_000);

      expect([...bench.sink.apps.keys()]).toEqual(['1', '2']);
    });
  });

  describe('AccountPoller with many patterns', () => {
    it('lets other work run while it chooses, however few applications are chosen', async () => {
      const entries = Array.from({ length: 99 }, (_, index) =>
        anEntry({ selector: { kind: 'match', pattern: new RegExp(`^${index} shop$`, 'u') } }),
      );
      const bench = aLargeAccount(entries, 1000);
      const { turns } = whenOthersHaveTheirTurn(
        bench,
        () => false,
        () => undefined,
      );

      bench.start();
      await bench.clock.advance(1000);

      // And those in which the loop of the polls looks and pauses.
      expect(turns()).toBe(27);
    });
  });
});
