import { describe, expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import { eachAfter, slow } from '../support/slow.ts';
import type { TimedBench } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import { publishedOf } from './published-of.ts';
import {
  both,
  configOf,
  everyone,
  expectMovedAndBack,
  production,
  shop,
  withReloading,
} from './reload-bench.ts';
import type { Scrape } from './scrape.ts';

function isReloadGood(page: Scrape): number | undefined {
  return page.value('newrelic_exporter_config_last_reload_successful');
}

/** The distances between the polls of `shop`. */
function pollGaps({ faulty }: TimedBench): readonly number[] {
  const times = faulty.simulator.journal
    .entries(({ path }) => path === '/v2/applications/101/metrics/data.json')
    .map(({ monotonicMs }) => monotonicMs);
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

describe('8.1 a configuration file that is broken for five minutes', () => {
  eachAfter(1, [
    { what: 'a typo', text: both.replace('"raw"', '"rawr"') },
    { what: 'half of it', text: both.slice(0, both.length / 2) },
    { what: 'nothing', text: '' },
    { what: 'no text', text: '\u0000\u0001\uFFFD' },
    {
      what: 'a key file that is not there',
      text: configOf({ name: 'production', api_key_file: '/nowhere' }),
    },
    {
      what: 'an application of no account',
      text: both.replace('"account":"neighbour"', '"account":"nobody"'),
    },
  ])('leaves the one in force: $what', async ({ text }) => {
    await withReloading({}, async (bench) => {
      await bench.advance(2 * minuteMs);
      bench.write(text);
      await bench.advance(5 * minuteMs);
      const during = await bench.scrape();
      const duringFresh = freshness(during, bench.clock);
      bench.write(both);
      await bench.advance(3 * minuteMs);
      const after = await bench.scrape();

      expect(bench.logs('reload failed')).toHaveLength(1);
      expect(isReloadGood(during)).toBe(0);
      expect(duringFresh).toEqual(everyone);
      expect(isReloadGood(after)).toBe(1);
      expect(freshness(after, bench.clock)).toEqual(everyone);
      expect(Math.max(...pollGaps(bench))).toBeLessThanOrEqual(minuteMs);
    });
  });

  it('leaves the one in force while the file is gone, and says so once', async () => {
    await withReloading({}, async (bench) => {
      await bench.advance(2 * minuteMs);
      bench.write(undefined);
      await bench.advance(5 * minuteMs);
      const duringFresh = freshness(await bench.scrape(), bench.clock);
      bench.write(both);
      await bench.advance(minuteMs);

      expect(bench.logs('reload failed')).toHaveLength(1);
      expect(bench.logs('configuration reloaded')).toHaveLength(1);
      expect(duringFresh).toEqual(everyone);
    });
  });

  it('is not looked at while somebody is still writing it', async () => {
    await withReloading({}, async (bench) => {
      await bench.advance(2 * minuteMs);
      const next = configOf({ name: 'production', concurrency: 4 }, { name: 'neighbour' });
      // As the watcher sees the change; it looks again a second later.
      bench.write(next.slice(0, 40));
      await bench.advance(5 * secondMs);
      bench.write(next);
      await bench.advance(minuteMs);

      expect(bench.logs('configuration reloaded')).toHaveLength(1);
      expect(bench.logs('reload failed')).toEqual([]);
      expect(freshness(await bench.scrape(), bench.clock)).toEqual(everyone);
    });
  });
});

describe('8.3 a configuration with other accounts', () => {
  it('takes an account away with all its series at once, and disturbs no other', async () => {
    await withReloading({}, async (bench) => {
      await bench.hangup();
      await bench.advance(5 * minuteMs);
      bench.write(configOf({ name: 'production' }));
      await bench.hangup();
      const atOnce = await bench.scrape();
      const atOnceFresh = freshness(atOnce, bench.clock);
      const asked = bench.vendors[1]?.simulator.journal.count();
      await bench.advance(5 * minuteMs);
      const askedLater = bench.vendors[1]?.simulator.journal.count();
      const page = await bench.scrape();
      const without = bench.pages.at(-1);
      bench.write(both);
      await bench.advance(minuteMs);
      const back = await bench.scrape();

      expect(bench.logs('configuration reloaded').length).toBeGreaterThanOrEqual(3);
      expect(atOnce.series('newrelic_up')).toEqual([production]);
      expect(atOnceFresh).toEqual(['production 101', 'production 102']);
      expect(atOnce.series('newrelic_application_requests_per_minute')).toHaveLength(3);
      expect(without).not.toContain('account="neighbour"');
      expect(asked).toBeGreaterThan(10);
      expect(askedLater).toBe(asked);
      expect(page.series('newrelic_application_info')).toHaveLength(2);
      expect(freshness(back, bench.clock)).toEqual(everyone);
      expect(Math.max(...pollGaps(bench))).toBeLessThanOrEqual(minuteMs);
    });
  });
});

describe('8.2 a reload of an account', () => {
  const paused = {
    when: { fromMs: 2 * minuteMs, calls: { last: 1 } },
    fault: {
      kind: 'throttled',
      hints: [{ header: 'Retry-After', inSeconds: 240, form: 'seconds' }],
    },
  } as const;
  /** How long after the 429 the next call came. */
  const pauseSeconds = ({ faulty: { faults, simulator } }: TimedBench): number => {
    const hitMs = faults.hits()[0]?.request.monotonicMs ?? Number.NaN;
    const [next] = simulator.journal.entries(({ monotonicMs }) => monotonicMs > hitMs);
    return ((next?.monotonicMs ?? 0) - hitMs) / secondMs;
  };

  it('does not end a pause that the vendor has asked for', async () => {
    await withReloading({ script: [paused] }, async (bench) => {
      await bench.advance(3 * minuteMs);
      const before = await bench.scrape();
      for (const concurrency of [4, 5, 6]) {
        bench.write(configOf({ name: 'production', concurrency }, { name: 'neighbour' }));
        await bench.hangup();
        await bench.advance(10 * secondMs);
      }
      const during = await bench.scrape();
      await bench.advance(5 * minuteMs);

      expect(bench.logs('configuration reloaded').length).toBeGreaterThanOrEqual(3);
      expect(pauseSeconds(bench)).toBeGreaterThanOrEqual(240);
      expect(publishedOf(during, shop)).toEqual(publishedOf(before, shop));
      expect(freshness(await bench.scrape(), bench.clock)).toEqual(everyone);
    });
  });

  it('does not end such a pause either by taking it out for longer than a minute', async () => {
    await withReloading({ script: [paused] }, async (bench) => {
      await bench.advance(2.5 * minuteMs);
      bench.write(configOf({ name: 'neighbour' }));
      await bench.hangup();
      await bench.advance(1.5 * minuteMs);
      const without = await bench.scrape();
      bench.write(both);
      await bench.hangup();
      await bench.advance(5 * minuteMs);

      expect(without.series('newrelic_up')).toEqual([{ account: 'neighbour' }]);
      expect(pauseSeconds(bench)).toBeGreaterThanOrEqual(240);
      expect(freshness(await bench.scrape(), bench.clock)).toEqual(everyone);
    });
  });

  it('does not make values younger that are held while polls fail', slow, async () => {
    const rule = {
      when: { fromMs: 2 * minuteMs },
      fault: { kind: 'status', status: 503 },
    } as const;
    await withReloading({ script: [rule] }, async (bench) => {
      const counts: number[] = [];
      for (let minute = 0; minute < 20; minute += 1) {
        const concurrency = 2 + (minute % 5);
        bench.write(configOf({ name: 'production', concurrency }, { name: 'neighbour' }));
        await bench.hangup();
        await bench.advance(minuteMs);
        counts.push(Object.keys(publishedOf(await bench.scrape(), shop)).length);
      }

      expect(bench.logs('configuration reloaded').length).toBeGreaterThanOrEqual(20);
      expect(bench.faulty.faults.hits().length).toBeGreaterThan(20);
      expect(counts.slice(0, 15)).toEqual(counts.slice(0, 15).map(() => 7));
      expect(counts.slice(-2)).toEqual([0, 0]);
    });
  });

  it(
    'again and again while calls are under way breaks no budget and shows no half poll; the last one wins',
    slow,
    async () => {
      const requests_per_minute = 12;
      const options = {
        simulator: { latencyMs: 3000 },
        account: { requestsPerMinute: requests_per_minute },
      };
      await withReloading(options, async (bench) => {
        await bench.advance(2 * minuteMs);
        for (let round = 0; round < 60; round += 1) {
          const concurrency = 1 + (round % 8);
          bench.write(
            configOf(
              { name: 'production', requests_per_minute, concurrency },
              { name: 'neighbour' },
            ),
          );
          bench.platform.hangup();
          bench.platform.hangup();
          await bench.advance(1500);
        }
        bench.write(configOf({ name: 'production', requests_per_minute, concurrency: 3 }));
        await bench.hangup();
        await bench.advance(5 * minuteMs);
        const page = await bench.scrape();

        const { journal } = bench.faulty.simulator;
        expect(bench.logs('configuration reloaded').length).toBeGreaterThanOrEqual(60);
        expect(journal.count(({ status }) => status === undefined)).toBeGreaterThan(2);
        expect(bench.daemon.status().map(({ name }) => name)).toEqual(['production']);
        expect(freshness(page, bench.clock)).toEqual(['production 101', 'production 102']);
      });
    },
  );
});

describe('a reload that moves an account to the other API and back', () => {
  it('shows each host under one id at a time, and disturbs no other account', slow, async () => {
    await expect(expectMovedAndBack(3000)).resolves.toBeUndefined();
  });
});
