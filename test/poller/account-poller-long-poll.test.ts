import { describe, expect, it } from 'vitest';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis } from '../support/poller-bench.ts';

/** Longer than all of the reloads. */
const answerMs = 70_000;
const reloads = 6;

describe.each(apis)('$name', (api) => {
  describe('a poll that takes longer than the time between reloads', () => {
    it.each([
      { what: 'goes on where only labels change', entry: { labels: { team: 'other' } }, calls: 1 },
      {
        what: 'goes on where only the interval changes',
        entry: { poll: { intervalMs: 90_000 } },
        calls: 1,
      },
      {
        what: 'begins again where it asks for what is no longer wanted',
        entry: { poll: { window: { kind: 'range', lengthMs: 600_000 } as const } },
        calls: 2,
      },
    ])('$what', async ({ entry, calls }) => {
      const bench = aBench(api);
      const { clock, source, sink, poller } = bench;
      source.list(anApplication({ id: '1' }));
      const answer = new Promise<ReturnType<typeof webOf>>((resolve) => {
        clock.after(answerMs, () => resolve(webOf(30)));
      });
      source.answer('1', answer);
      bench.start();
      await clock.advance(1000);

      for (let reload = 0; reload < reloads; reload += 1) {
        const reloaded = poller.reconfigure({ account: anAccount(), entries: [anEntry(entry)] });
        await clock.advance(10_000);
        await reloaded;
      }
      expect(source.calls.filter((call) => call === 'app 1')).toHaveLength(calls);
      await clock.advance(answerMs - reloads * 10_000);

      expect(sink.apps.get('1')?.reading?.application).toEqual(webOf(30));
    });
  });
});
