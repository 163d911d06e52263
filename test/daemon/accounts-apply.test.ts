import { describe, expect, it } from 'vitest';
import type { AppEntry, Config } from '../../src/model/config.ts';
import { seriesOf } from '../../src/model/polled-series.ts';
import type { PresetName } from '../../src/model/presets.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aMetric, anEntry } from '../support/builders.ts';
import {
  accountOne,
  aRunningDaemon,
  entryByName,
  type RunningDaemon,
} from '../support/running-daemon.ts';

const one = accountOne;
const byName = entryByName;

/** A daemon that has run for three minutes. */
async function aBench(config: Config): Promise<RunningDaemon> {
  const bench = await aRunningDaemon(config);
  await bench.platform.clock.advance(180_000);
  return bench;
}

const shop = 'newrelic_application_requests_per_minute{account="one",app_id="101"';
const cart = 'newrelic_application_requests_per_minute{account="one",app_id="102"';

/** Of applications alone. */
const ownCalls = aMetric('HttpDispatcher', {
  value: 'call_count',
  as: 'own_calls',
  scope: 'applications',
});

describe('apply', () => {
  it('goes on naming a metric that never has a value when only another entry changes', async () => {
    const misspelt = { ...ownCalls, metric: 'Nowhere/At/All', scope: 'both' } as const;
    const watched = anEntry({
      account: 'one',
      selector: { kind: 'name', name: 'shop' },
      series: seriesOf(['throughput', misspelt], ['web', 'other']),
    });
    // Read again, no entry is the same object.
    const configOf = (team: string): Config => ({
      accounts: [one()],
      apps: [{ ...watched }, { ...byName('cart'), labels: { team } }],
    });
    const { daemon, platform } = await aBench(configOf('a'));
    await platform.clock.advance(180_000);
    const shown = async (): Promise<readonly unknown[]> => {
      const text = await daemon.metrics.text();
      return [daemon.status()[0]?.state, text.includes('newrelic_exporter_metric_missing{')];
    };

    const before = await shown();
    await daemon.apply(configOf('b'));

    expect([before, await shown()]).toEqual([
      ['degraded', true],
      ['degraded', true],
    ]);
  });

  it('does not disturb an account that stays the same', async () => {
    const config = { accounts: [one()], apps: [byName('shop')] };
    const bench = await aBench(config);
    const before = bench.simulator.journal.count();

    await bench.daemon.apply(structuredClone(config));
    await bench.platform.clock.advance(100);

    expect(bench.simulator.journal.count()).toBe(before);
    expect(await bench.page()).toContain(shop);
  });

  it('drops what is no longer wanted at once, keeps what is, and fetches what is new', async () => {
    const bench = await aBench({ accounts: [one()], apps: [byName('shop'), byName('cart')] });

    await bench.daemon.apply({ accounts: [one()], apps: [byName('cart')] });
    const atOnce = await bench.page();
    await bench.daemon.apply({ accounts: [one()], apps: [byName('cart'), byName('shop')] });
    await bench.platform.clock.advance(3000);
    const later = await bench.page();

    expect(atOnce).not.toContain('app_id="101"');
    expect(atOnce).toContain(cart);
    expect(atOnce).toContain('newrelic_up{account="one"} 1\n');
    expect(later).toContain(shop);
    expect(later).toContain(cart);
  });

  it('shows new labels on the values that are there', async () => {
    const bench = await aBench({ accounts: [one()], apps: [byName('shop')] });
    const labelled = { ...byName('shop'), labels: { team: 'payments' } };

    await bench.daemon.apply({ accounts: [one()], apps: [labelled] });

    expect(await bench.page()).toMatch(/_requests_per_minute\{.*,team="payments"\} 120\n/u);
  });

  it('keeps the values of the metrics that stay, and has none yet of a new one', async () => {
    const entryOf = (...metrics: PresetName[]): AppEntry =>
      anEntry({ account: 'one', poll: { metrics: [...metrics, ownCalls] } });
    const bench = await aBench({
      accounts: [one()],
      apps: [entryOf('apdex', 'memory', 'cpu')],
    });
    const valuesOf = async (): Promise<readonly string[]> =>
      (await bench.page())
        .split('\n')
        .filter((line) =>
          /^(?:own_calls|newrelic_application_(?:host_)?(?:requests|apdex|memory|cpu))/u.test(line),
        );
    const before = await valuesOf();

    await bench.daemon.apply({
      accounts: [one()],
      apps: [entryOf('throughput', 'apdex', 'memory')],
    });

    expect(bench.daemon.status()).toMatchObject([{ applications: 2, hosts: 4 }]);
    const stay = before.filter((line) => !line.includes('_cpu_'));
    expect(stay.length).toBeLessThan(before.length);
    expect(await valuesOf()).toEqual(stay);
  });

  it('removes an account with everything it showed', async () => {
    const other = one({ name: 'two' });
    const bench = await aBench({
      accounts: [one(), other],
      apps: [byName('shop'), byName('cart', 'two')],
    });

    await bench.daemon.apply({ accounts: [one()], apps: [byName('shop')] });

    const everything = `${await bench.page()}${await bench.daemon.metrics.text()}`;
    expect(everything).not.toContain('account="two"');
    expect(everything).toContain(shop);
    expect(bench.daemon.status().map(({ name }) => name)).toEqual(['one']);
  });

  it('changes nothing when a new account has no key', async () => {
    const bench = await aBench({ accounts: [one()], apps: [byName('shop')] });
    const before = await bench.page();
    const keyless = one({ name: 'two', apiKey: { kind: 'env', name: 'MISSING' } });

    const applying = bench.daemon.apply({
      accounts: [keyless],
      apps: [byName('cart', 'two')],
    });

    await expect(applying).rejects.toThrow('account two: the environment variable MISSING');
    expect(await bench.page()).toBe(before);
    await bench.platform.clock.advance(120_000);
    expect(bench.daemon.status()).toMatchObject([{ name: 'one', up: true }]);
  });
});

describe('stalled', () => {
  it.each([{ account: 'one' }, { account: 'two' }])(
    'names the account that stands still, whichever of them it is: $account',
    async ({ account }) => {
      const names = ['one', 'two'];
      const pollOf = (name: string) => {
        const intervalMs = name === account ? minuteMs : 60 * minuteMs;
        return { ...anEntry({ poll: { intervalMs, discoveryIntervalMs: intervalMs } }).poll };
      };
      const bench = await aRunningDaemon({
        accounts: names.map((name) => one({ name })),
        apps: names.map((name) => ({ ...byName('shop', name), poll: pollOf(name) })),
      });
      await bench.platform.clock.advance(180_000);
      const before = bench.daemon.stalled();
      // Timers are lost; only those of one account are due soon.
      const { clock } = bench.platform;
      const after = clock.after.bind(clock);
      Object.assign(clock, { after: () => () => undefined });
      await clock.advance(15 * 60_000);
      const during = bench.daemon.stalled();
      Object.assign(clock, { after });

      expect(before).toBeUndefined();
      expect(during).toMatch(new RegExp(`^account ${account}: `, 'u'));
    },
  );

  it('names the account whose polls are due, and that nobody looks at', async () => {
    const bench = await aRunningDaemon({ accounts: [one()], apps: [byName('shop', 'one')] });
    await bench.platform.clock.advance(180_000);
    const before = bench.daemon.stalled();
    // What is to happen later is forgotten.
    Object.assign(bench.platform.clock, { after: () => () => undefined });
    await bench.platform.clock.advance(15 * 60_000);

    expect(before).toBeUndefined();
    expect(bench.daemon.stalled()).toMatch(/^account one: a poll has been due for \d+ s$/u);
  });
});
