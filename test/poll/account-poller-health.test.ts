import { describe, expect, it } from 'vitest';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { minuteMs } from '../../src/model/time.ts';
import { anApplication, anEntry } from '../support/builders.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, apis, type PollerBench, rest, unlikeEntries } from '../support/poller-bench.ts';
import { slow } from '../support/slow.ts';

function idsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`);
}

/** This many applications without hosts, which all answer. */
function listed({ source }: PollerBench, count: number): void {
  const ids = idsOf(count);
  source.list(...ids.map((id) => anApplication({ id, name: `app ${id}` })));
  for (const id of ids) source.answer(id, webOf(1));
}

/** From now on no timer fires: a bug of this program. */
function loseTimers(clock: FakeClock): void {
  Object.assign(clock, { after: () => () => undefined });
}

/** Why the account has stopped: a minute after the timers were lost, and when it first says so. */
async function reasonsWithoutTimers(
  bench: PollerBench,
): Promise<Record<'before' | 'after', string | undefined>> {
  bench.start();
  await bench.clock.advance(1000);
  loseTimers(bench.clock);
  // Ten seconds after a poll its application is in phase.
  await bench.clock.advance(minuteMs);
  const atMs = bench.clock.monotonicMs();
  const before = bench.poller.stalled();
  while (bench.poller.stalled() === undefined && bench.clock.monotonicMs() < atMs + 600_000) {
    await bench.clock.advance(1000);
  }
  return { before, after: bench.poller.stalled() };
}

/** This many hosts of application 1, which all answer. */
function many({ source }: PollerBench, hosts: number): readonly string[] {
  return Array.from({ length: hosts }, (_, index) => {
    source.answer(`1/${index}`, webOf(1));
    return `${index}`;
  });
}

describe.each(apis)('$name', (api) => {
  describe('stalled', () => {
    const slowly = { poll: { intervalMs: 60 * minuteMs, discoveryIntervalMs: 60 * minuteMs } };

    it.each([
      { what: 'polls are due every minute', entries: [anEntry()], perMinute: 800, minutes: 30 },
      {
        what: 'nothing is due for an hour',
        entries: [anEntry(slowly)],
        perMinute: 800,
        minutes: 120,
      },
      {
        what: 'intervals are stretched twentyfold',
        entries: unlikeEntries(idsOf(20)),
        perMinute: 1,
        minutes: 120,
      },
    ])('says nothing while $what', async ({ entries, perMinute, minutes }) => {
      const bench = aBench(api, entries, { requestsPerMinute: perMinute });
      listed(bench, 20);
      bench.start();
      const seen = new Set<string | undefined>();

      for (let second = 0; second < 60 * minutes; second += 10) {
        await bench.clock.advance(10_000);
        seen.add(bench.poller.stalled());
      }

      expect([...seen]).toEqual([undefined]);
    });

    it.each([
      {
        what: 'the timer of the polls is lost',
        entry: { poll: { discoveryIntervalMs: 60 * minuteMs } },
        reason: /^account production: a poll has been due for 3\d\d s$/u,
      },
      {
        what: 'the timer of the discoveries is lost',
        entry: { poll: { intervalMs: 60 * minuteMs } },
        reason: /^account production: a discovery has been late for 300 s$/u,
      },
    ])('gives a reason when $what', async ({ entry, reason }) => {
      const bench = aBench(api, [anEntry(entry)], { requestsPerMinute: 30 });
      listed(bench, 2);

      const { before, after } = await reasonsWithoutTimers(bench);

      expect(before).toBeUndefined();
      expect(after).toMatch(reason);
    });
  });

  describe('an account that is stopped', () => {
    it('aborts its polls at once, even if the discovery under way does not end', async () => {
      const bench = aBench(api);
      listed(bench, 2);
      bench.source.answer('2', new Promise(() => undefined));
      const abort = new AbortController();
      const done = bench.poller.run(abort.signal);
      await bench.clock.advance(59_000);
      const release = bench.source.holdDiscovery();
      await bench.clock.advance(2000);
      const before = bench.source.calls.length;

      abort.abort(new Error('stopped'));
      await bench.clock.advance(10 * minuteMs);
      const after = bench.source.calls.length;
      release();
      await done;

      expect(after).toBe(before);
      expect(bench.clock.pendingTimers()).toBe(0);
    });

    it('publishes no more of what a discovery had changed', slow, async () => {
      const bench = aBench(api);
      const ids = Array.from({ length: 1000 }, (_, index) => `${index}`);
      const list = (name: string): void => {
        bench.source.list(...ids.map((id) => anApplication({ id, name, reporting: false })));
      };
      const abort = new AbortController();
      list('old');
      const done = bench.poller.run(abort.signal);
      await bench.clock.advance(30_000);
      list('new');
      const real = { ...bench.sink };
      Object.assign(bench.sink, {
        publish: (snapshot: AppSnapshot) => {
          if (snapshot.application.name === 'new') abort.abort(new Error('stopped'));
          real.publish(snapshot);
        },
      });

      await bench.clock.advance(60_000);
      await done;

      const renamed = [...bench.sink.apps.values()].filter(
        ({ application }) => application.name === 'new',
      );
      expect(renamed.length).toBeGreaterThan(0);
      expect(renamed.length).toBeLessThan(1000);
      expect(bench.clock.pendingTimers()).toBe(0);
    });
  });
});

describe('stalled, by the REST API', () => {
  it('gives a reason when the timer of the calls is lost', async () => {
    const entry = anEntry({ poll: { discoveryIntervalMs: 60 * minuteMs } });
    const bench = aBench(rest, [entry], { requestsPerMinute: 30 });
    listed(bench, 2);
    bench.source.list(anApplication({ id: '1', hostIds: many(bench, 100) }));

    const { before, after } = await reasonsWithoutTimers(bench);

    expect(before).toBeUndefined();
    expect(after).toMatch(/^account production: a call has been due for 30\d s$/u);
  });
});
