import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { AccountConfig, AppEntry } from '../../src/model/config.ts';
import { anEntry } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import {
  accountOne,
  aRunningDaemon,
  entryByName,
  type RunningDaemon,
  type RunningDaemonOptions,
} from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

const [firstCa = '', secondCa = ''] = rootCertificates;
const shop = entryByName('shop');

async function threeMinutesOld(
  account: Partial<AccountConfig> = {},
  options: RunningDaemonOptions = {},
): Promise<RunningDaemon> {
  const bench = await aRunningDaemon({ accounts: [accountOne(account)], apps: [shop] }, options);
  await bench.platform.clock.advance(170_000);
  return bench;
}

async function update(
  { daemon }: RunningDaemon,
  account: Partial<AccountConfig>,
  apps: readonly AppEntry[] = [shop],
): Promise<void> {
  await daemon.apply({ accounts: [accountOne(account)], apps });
}

describe('other connections to the vendor', () => {
  it('are taken when the CA file has another content under the same path', async () => {
    const files: Record<string, string> = { '/ca.pem': firstCa };
    const bench = await threeMinutesOld({ caFile: '/ca.pem' }, { files });
    files['/ca.pem'] = secondCa;

    await update(bench, { caFile: '/ca.pem' });
    await update(bench, { caFile: '/ca.pem' });

    expect(bench.opened.map(({ options }) => options.ca)).toEqual([firstCa, secondCa]);
    expect(bench.opened.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  it('give other work its turn between the bundles of several accounts', async () => {
    const names = ['one', 'two', 'three'];
    const files: Record<string, string> = { '/ca.pem': firstCa };
    const config = {
      accounts: names.map((name) => accountOne({ name, caFile: '/ca.pem' })),
      apps: names.map((name) => entryByName('shop', name)),
    };
    let turn = 0;
    const openedInTurn: number[] = [];
    const bench = await aRunningDaemon(config, { files, opening: () => openedInTurn.push(turn) });
    openedInTurn.length = 0;
    files['/ca.pem'] = secondCa;

    const state = { isApplied: false };
    const apply = async (): Promise<void> => {
      await bench.daemon.apply(config);
      state.isApplied = true;
    };
    const applying = apply();
    for (; !state.isApplied; turn += 1) await settle();
    await applying;

    expect(openedInTurn).toHaveLength(3);
    expect(new Set(openedInTurn).size).toBe(3);
  });

  it.each([
    { what: 'the same', concurrency: 3 },
    { what: 'a smaller one', concurrency: 2 },
    { what: 'a larger one', concurrency: 5 },
  ])(
    'never have more requests under way than the concurrency, $what than before, including those on the old connections',
    async ({ concurrency }) => {
      let inFlight = 0;
      let most = 0;
      const everything = [anEntry({ account: 'one' })];
      const bench = await aRunningDaemon(
        { accounts: [accountOne({ concurrency: 3 })], apps: everything },
        {
          latencyMs: 20_000,
          fleet: { applications: 20, hosts: 60, kinds: ['web'] },
          wire: (raw) => ({
            ...raw,
            send: async (...request) => {
              inFlight += 1;
              most = Math.max(most, inFlight);
              return raw.send(...request).finally(() => {
                inFlight -= 1;
              });
            },
          }),
        },
      );
      await bench.platform.clock.advance(90_000);
      const before = most;
      most = 0;

      for (let round = 0; round < 5; round += 1) {
        const proxyUrl = `http://proxy-${round}:3128`;
        await update(bench, { concurrency, proxyUrl }, everything);
        await bench.platform.clock.advance(7000);
      }

      expect(bench.opened).toHaveLength(6);
      // As each of them leaves.
      expect([before, most]).toEqual([3, concurrency]);
      await bench.platform.clock.advance(20_000);
      // Each had calls on it.
      expect(bench.opened.map(({ isClosed }) => isClosed)).toEqual([
        true,
        true,
        true,
        true,
        true,
        false,
      ]);
    },
  );
});

describe('another key', () => {
  it('is used at once, with a limit of its own', async () => {
    const bench = await aRunningDaemon({
      accounts: [accountOne({ requestsPerMinute: 5 })],
      apps: [shop],
    });
    await bench.platform.clock.advance(10_000);
    const withFirst = bench.simulator.journal.count();

    await bench.daemon.apply({
      accounts: [accountOne({ requestsPerMinute: 5, apiKey: { kind: 'env', name: 'KEY_B' } })],
      apps: [shop, entryByName('cart')],
    });
    await bench.platform.clock.advance(40_000);

    const withSecond = bench.simulator.journal.entries().slice(withFirst);
    expect(withFirst).toBe(4);
    // Of the minute that has begun with the first key only one call would be left.
    expect(withSecond.length).toBeGreaterThanOrEqual(3);
    expect(new Set(withSecond.map(({ keyIndex }) => keyIndex))).toEqual(new Set([1]));
    expect(withSecond[0]?.path).toMatch(/^\/v2\/applications\.json/u);
  });
});

describe('accounts that share a key', () => {
  it('never exceed the smaller budget while they exchange theirs', async () => {
    const fleet = { applications: 10, hosts: 200, kinds: ['web'] } as const;
    const budgets = (one: number, two: number) => ({
      accounts: [
        accountOne({ requestsPerMinute: one }),
        accountOne({ name: 'two', requestsPerMinute: two }),
      ],
      apps: [anEntry({ account: 'one' }), anEntry({ account: 'two' })],
    });
    const bench = await aRunningDaemon(budgets(200, 10), { fleet });
    const { platform, daemon, simulator } = bench;
    await platform.clock.advance(30_000);

    for (let round = 0; round < 12; round += 1) {
      await daemon.apply(round % 2 === 0 ? budgets(10, 200) : budgets(200, 10));
      await platform.clock.advance(13_000);
    }

    const sentMs = simulator.journal.entries(() => true).map(({ monotonicMs }) => monotonicMs);
    const inAMinute = sentMs.map(
      (fromMs) => sentMs.filter((atMs) => atMs >= fromMs && atMs <= fromMs + 60_000).length,
    );
    expect(sentMs.length).toBeGreaterThan(12);
    expect(Math.max(...inAMinute)).toBeLessThanOrEqual(10);
  });
});

describe('an account that moves to a key of its own', () => {
  it('leaves the whole limit of the old one to the others there', async () => {
    const moving = (name: 'KEY_A' | 'KEY_B') => ({
      accounts: [accountOne({ apiKey: { kind: 'env', name } }), accountOne({ name: 'two' })],
      apps: [shop, entryByName('cart', 'two')],
    });
    const bench = await aRunningDaemon(moving('KEY_A'));
    const shares = (): readonly number[] =>
      bench.daemon.status().map(({ budgetRequestsPerMinute }) => budgetRequestsPerMinute);
    await bench.platform.clock.advance(90_000);
    const before = shares();

    await bench.daemon.apply(moving('KEY_B'));
    await bench.platform.clock.advance(1000);

    expect(before).toEqual([400, 400]);
    expect(shares()).toEqual([800, 800]);
  });
});

describe('an account with another name', () => {
  it('plans with the whole limit at once: nobody has the old name any more', async () => {
    const named = (name: string) => ({
      accounts: [accountOne({ name })],
      apps: [entryByName('shop', name)],
    });
    const { daemon, platform } = await aRunningDaemon(named('one'));
    await platform.clock.advance(90_000);

    await daemon.apply(named('two'));

    expect(daemon.status()).toMatchObject([{ name: 'two', budgetRequestsPerMinute: 800 }]);
  });
});

describe('other applications', () => {
  it('are looked for at once, by a discovery that takes the place of the one under way', async () => {
    const bench = await aRunningDaemon(
      { accounts: [accountOne()], apps: [shop] },
      { latencyMs: 20_000 },
    );
    await bench.platform.clock.advance(5000);
    await update(bench, {}, [entryByName('cart')]);
    await bench.platform.clock.advance(21_000);

    const lists = bench.simulator.journal.entries(({ path }) =>
      path.endsWith('/applications.json'),
    );
    expect(lists.map(({ monotonicMs, status }) => [monotonicMs, status])).toEqual([
      [0, undefined],
      [5000, 200],
    ]);
    expect(bench.daemon.applications().map(({ name }) => name)).toEqual(['cart']);
  });
});

describe('a shorter interval', () => {
  it('makes polls due by turns, and not all of them at once', slow, async () => {
    const every = (minutes: number): readonly AppEntry[] => [
      anEntry({ account: 'one', hosts: false, poll: { intervalMs: minutes * 60_000 } }),
    ];
    const fleet = { applications: 60, hosts: 60, kinds: ['web'] } as const;
    const config = { accounts: [accountOne()], apps: every(60) };
    const bench = await aRunningDaemon(config, { fleet });
    await bench.platform.clock.advance(300_000);
    bench.simulator.journal.clear();

    await update(bench, {}, every(10));
    await bench.platform.clock.advance(600_000);

    const { journal } = bench.simulator;
    const isPoll = ({ path }: { readonly path: string }): boolean => path.endsWith('data.json');
    const polled = journal.entries(isPoll).map(({ applicationId }) => applicationId);
    expect(new Set(polled).size).toBe(60);
    expect(journal.maxInAnyWindow(60_000, isPoll)).toBeLessThanOrEqual(20);
  });
});

describe('another budget', () => {
  it('is used at once to plan the intervals', async () => {
    const everything = [anEntry({ account: 'one' })];
    const bench = await aRunningDaemon({
      accounts: [accountOne({ requestsPerMinute: 5 })],
      apps: everything,
    });
    await bench.platform.clock.advance(300_000);
    const [before] = bench.daemon.status();

    await update(bench, { requestsPerMinute: 60 }, everything);
    const [after] = bench.daemon.status();

    expect(before).toMatchObject({ budgetRequestsPerMinute: 5 });
    expect(before?.pollIntervalSeconds).toBeGreaterThan(80);
    expect(after).toMatchObject({ budgetRequestsPerMinute: 60, pollIntervalSeconds: 60 });
  });
});

describe('an entry that excludes', () => {
  it.each([
    { polls: 'between polls', latencyMs: 0, callsUnderWay: 0 },
    { polls: 'while polls are under way', latencyMs: 20_000, callsUnderWay: 2 },
  ])(
    'takes the series away at once, costs no call, and brings them back when it goes, $polls',
    async ({ latencyMs, callsUnderWay }) => {
      const bench = await threeMinutesOld({}, { latencyMs });
      const { clock } = bench.platform;
      const inFlight = (): number => bench.daemon.status()[0]?.requestsInFlight ?? 0;
      const excluding = { ...shop, exclude: true };
      const other = entryByName('cart');
      const ofShop = /app_name="shop"/u;
      const asked = (): number =>
        bench.simulator.journal.entries().filter(({ path }) => /\/applications\/101\//u.test(path))
          .length;
      while (inFlight() < callsUnderWay) await clock.advance(1000);

      expect(await bench.page()).toMatch(ofShop);
      await update(bench, {}, [excluding, shop, other]);
      const without = await bench.page();
      const before = asked();
      await clock.advance(180_000);
      const late = await bench.page();
      const calls = asked() - before;
      await update(bench, {}, [shop, other]);
      await clock.advance(2000 + 4 * latencyMs);

      expect(without + late).not.toMatch(ofShop);
      expect(calls).toBe(0);
      expect(bench.daemon.status()[0]).toMatchObject({
        excludedApplications: 0,
        missingSelectors: [],
      });
      expect(await bench.page()).toMatch(ofShop);
    },
  );
});
