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

/** Until a poll is under way. */
async function untilPolling({ platform, daemon, simulator }: RunningDaemon): Promise<void> {
  const isPolling = (): boolean =>
    (daemon.status()[0]?.requestsInFlight ?? 0) > 0 &&
    simulator.journal.entries().at(-1)?.path.includes('/metrics/') === true;
  while (!isPolling()) await platform.clock.advance(20);
}

function listCalls({ simulator }: RunningDaemon): number {
  return simulator.journal.count(({ path }) => path.startsWith('/v2/applications.json'));
}

describe('settings that do not concern the vendor', () => {
  it.each<{
    what: string;
    account?: Partial<AccountConfig>;
    entry?: Parameters<typeof anEntry>[0];
  }>([
    { what: 'labels', entry: { labels: { team: 'payments' } } },
    { what: 'how long values are held', entry: { poll: { staleAfterMs: 600_000 } } },
    { what: 'a longer interval of discovery', entry: { poll: { discoveryIntervalMs: 300_000 } } },
    { what: 'the budget', account: { requestsPerMinute: 700 } },
    { what: 'the time for one call', account: { timeoutMs: 20_000 } },
  ])('cost no call and no connection: $what', async ({ account = {}, entry = {} }) => {
    const bench = await threeMinutesOld();
    const before = bench.simulator.journal.count();

    await update(bench, account, [{ ...shop, ...anEntry({ ...shop, ...entry }) }]);
    await bench.platform.clock.advance(5000);

    expect(bench.simulator.journal.count()).toBe(before);
    expect(bench.opened).toMatchObject([{ isClosed: false }]);
  });

  it('let the next discovery come in time for a shorter interval', async () => {
    const bench = await threeMinutesOld({}, {});
    const slowly = anEntry({ ...shop, poll: { discoveryIntervalMs: 3_600_000 } });
    const quickly = anEntry({ ...shop, poll: { discoveryIntervalMs: 60_000 } });
    await update(bench, {}, [slowly]);
    await bench.platform.clock.advance(300_000);
    const before = listCalls(bench);

    await update(bench, {}, [quickly]);
    await bench.platform.clock.advance(1000);
    const afterwards = listCalls(bench);
    await bench.platform.clock.advance(120_000);

    expect(afterwards - before).toBe(1);
    expect(listCalls(bench) - before).toBe(3);
  });
});

describe('entries that choose something else', () => {
  it('are looked for at once, and a discovery under way for the old ones is dropped', async () => {
    const bench = await threeMinutesOld();
    while (listCalls(bench) < 4) await bench.platform.clock.advance(20);
    const before = listCalls(bench);

    await update(bench, {}, [shop, entryByName('cart')]);
    await bench.platform.clock.advance(3000);

    expect(listCalls(bench) - before).toBe(1);
    expect(await bench.page()).toContain('requests_per_minute{account="one",app_id="102"');
    expect(await bench.daemon.metrics.text()).toContain(
      'api_requests_total{account="one",operation="list_applications",code="aborted"} 1\n',
    );
  });
});

describe('as many entries as before, of which one chooses something else', () => {
  it('are looked for at once', async () => {
    const bench = await threeMinutesOld();
    const before = listCalls(bench);

    await update(bench, {}, [entryByName('cart')]);
    await bench.platform.clock.advance(1000);

    expect(listCalls(bench) - before).toBe(1);
    expect(await bench.page()).toContain('requests_per_minute{account="one",app_id="102"');
  });
});

describe('other connections to the vendor', () => {
  it.each<{ what: string; next: Partial<AccountConfig>; options: object }>([
    { what: 'concurrency', next: { concurrency: 3 }, options: { connections: 3 } },
    {
      what: 'a proxy',
      next: { proxyUrl: 'http://proxy:3128' },
      options: { proxyUrl: 'http://proxy:3128' },
    },
    { what: 'a CA bundle', next: { caFile: '/ca.pem' }, options: { ca: firstCa } },
  ])('are taken at once, while polls go on: $what', async ({ next, options }) => {
    const bench = await threeMinutesOld({}, { files: { '/ca.pem': firstCa } });
    await untilPolling(bench);
    const listed = listCalls(bench);

    await update(bench, next);
    const [old, fresh] = bench.opened;
    const isOldOpenAtFirst = old?.isClosed === false;
    const usedBefore = old?.requests;
    await bench.platform.clock.advance(1000);

    expect(fresh?.options).toMatchObject(options);
    expect(fresh?.requests).toBeGreaterThan(0);
    expect(isOldOpenAtFirst).toBe(true);
    expect(old).toMatchObject({ isClosed: true, requests: usedBefore });
    expect(listCalls(bench) - listed).toBe(1);
    const metrics = await bench.daemon.metrics.text();
    expect(metrics).toContain('newrelic_exporter_polls_failed_total{account="one"} 0\n');
    expect(metrics).not.toMatch(/application_metrics",code="aborted"/u);
  });

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

  it('never have more requests under way than the concurrency, including those on the old connections', async () => {
    let inFlight = 0;
    let most = 0;
    const bench = await aRunningDaemon(
      { accounts: [accountOne({ concurrency: 3 })], apps: [anEntry({ account: 'one' })] },
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

    for (let round = 0; round < 5; round += 1) {
      const proxyUrl = `http://proxy-${round}:3128`;
      await bench.daemon.apply({
        accounts: [accountOne({ concurrency: 3, proxyUrl })],
        apps: [anEntry({ account: 'one' })],
      });
      await bench.platform.clock.advance(7000);
    }

    expect(bench.opened).toHaveLength(6);
    expect(most).toBe(3);
  });

  it('send the key in the new header on the existing connections', async () => {
    const headers: Readonly<Record<string, string>>[] = [];
    const bench = await threeMinutesOld(
      {},
      {
        wire: (raw) => ({
          ...raw,
          send: async (request, sent, signal) => {
            headers.push(sent);
            return raw.send(request, sent, signal);
          },
        }),
      },
    );
    const before = headers.length;

    await update(bench, { apiKeyHeader: 'X-Api-Key' });
    await bench.platform.clock.advance(1000);

    expect(headers.slice(before)[0]).toEqual({ 'X-Api-Key': 'NRAK-A' });
    expect(bench.opened).toHaveLength(1);
  });
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
