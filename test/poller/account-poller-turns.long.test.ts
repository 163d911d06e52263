import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import { anAccount, anApplication, anEntry } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { aBench, type PollerBench, rest } from '../support/poller-bench.ts';

const minuteMs = 60_000;
const count = 300;
const requestsPerMinute = 30;

function entryEvery(intervalMs: number, overrides: Partial<AppEntry['poll']> = {}): AppEntry {
  const poll = { intervalMs, discoveryIntervalMs: 60 * minuteMs, ...overrides };
  return anEntry({ hosts: false, poll });
}

/** Applications that have been polled for hours, with an interval of an hour. */
async function aCalmAccount(poll: Partial<AppEntry['poll']> = {}): Promise<PollerBench> {
  const bench = aBench(rest, [entryEvery(60 * minuteMs, poll)], { requestsPerMinute });
  const ids = Array.from({ length: count }, (_, index) => `${index + 1}`);
  bench.source.list(...ids.map((id) => anApplication({ id, name: `app ${id}` })));
  for (const id of ids) bench.source.answer(id, webOf(1));
  bench.start();
  await bench.clock.advance(180 * minuteMs);
  bench.source.calls.splice(0);
  return bench;
}

async function reload({ poller, clock }: PollerBench, entry: AppEntry): Promise<void> {
  const account = anAccount({ requestsPerMinute });
  const done = poller.reconfigure({ account, entries: [entry] });
  await clock.advance(0);
  await done;
}

describe('a reload that asks for more than the budget', () => {
  it('leaves the budget idle in no minute, and no application waits much longer than its turn', async () => {
    const bench = await aCalmAccount();
    await reload(bench, entryEvery(minuteMs));
    const boundMs = 1.2 * bench.poller.plan.stretch * minuteMs;

    const perMinute: number[] = [];
    const lastMs = new Map<string, number>();
    let longestMs = 0;
    for (let second = 0; second < 40 * 60; second += 1) {
      if (second % 60 === 0) perMinute.push(0);
      await bench.clock.advance(1000);
      for (const call of bench.source.calls.splice(0).filter((one) => one.startsWith('app'))) {
        perMinute.push((perMinute.pop() ?? 0) + 1);
        longestMs = Math.max(longestMs, second * 1000 - (lastMs.get(call) ?? 0));
        lastMs.set(call, second * 1000);
      }
    }

    expect(bench.poller.plan.stretch).toBeGreaterThan(10);
    expect(Math.min(...perMinute)).toBeGreaterThanOrEqual(24);
    expect(lastMs.size).toBe(count);
    expect(longestMs).toBeLessThan(boundMs);
  });

  it.each([3, 5, 15])(
    'makes nothing stale that only waits, also when the budget is raised: stale_after %d minutes',
    async (minutes) => {
      const staleAfterMs = minutes * minuteMs;
      const bench = await aCalmAccount({ staleAfterMs });
      await reload(bench, entryEvery(minuteMs, { staleAfterMs }));
      await bench.clock.advance(17 * minuteMs);

      bench.limit.resize(600);
      await bench.clock.advance(5 * minuteMs);

      expect(bench.polls).not.toContain(false);
      const messages = bench.logger.lines.map(({ message }) => message);
      expect(messages.filter((message) => message.includes('dropped'))).toEqual([]);
      const shown = [...bench.sink.apps.values()];
      expect(shown.filter(({ reading }) => reading !== undefined)).toHaveLength(count);
    },
  );
});

describe('polls that never get their turn', () => {
  it('leave no values behind that grow old in silence', async () => {
    const bench = await aCalmAccount({ staleAfterMs: 15 * minuteMs });
    await reload(bench, entryEvery(minuteMs, { staleAfterMs: 15 * minuteMs }));
    bench.limit.resize(600);
    await bench.clock.advance(10 * minuteMs);
    const { stretch } = bench.poller.plan;
    const ids = Array.from({ length: count }, (_, index) => `${index + 1}`);
    // The few calls that get through are never answered, and the others wait for them.
    for (const id of ids) bench.source.answer(id, new Promise(() => undefined));

    await bench.clock.advance(10 * minuteMs);
    const held = [...bench.sink.apps.values()].filter(({ reading }) => reading !== undefined);
    await bench.clock.advance(20 * minuteMs);
    const left = [...bench.sink.apps.values()].filter(({ reading }) => reading !== undefined);

    expect(stretch).toBe(1);
    expect([held.length, left.length]).toEqual([count, 0]);
  });
});
