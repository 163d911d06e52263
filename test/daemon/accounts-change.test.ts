import { describe, expect, it } from 'vitest';
import type { AccountConfig, AccountSource } from '../../src/model/config.ts';
import { accountOne, aRunningDaemon, entryByName, keyA } from '../support/running-daemon.ts';

const nerdgraph: AccountSource = { kind: 'nerdgraph', accountId: 1_234_567 };
const env = { kind: 'env', name: 'KEY_A' } as const;

interface Row {
  readonly what: string;
  readonly before?: Partial<AccountConfig>;
  readonly after: Partial<AccountConfig>;
  /** New connections instead of the old ones. */
  readonly connects?: boolean;
  /** What New Relic is asked for at once. */
  readonly asksAgain?: boolean;
  /** Whether the values that were shown stay. */
  readonly keeps?: boolean;
}

const rows: readonly Row[] = [
  { what: 'nothing', after: {} },
  { what: 'the timeout, which only the exporter sees', after: { timeoutMs: 5000 } },
  { what: 'the budget', after: { requestsPerMinute: 60 } },
  {
    what: 'the id of REST, which nothing is polled with',
    after: { source: { kind: 'rest', accountId: 2 } },
  },
  { what: 'the place of the key alone', after: { apiKey: { kind: 'file', path: '/key' } } },
  { what: 'the value of the key', after: { apiKey: { ...env, name: 'KEY_B' } }, asksAgain: true },
  { what: 'the header of the key', after: { apiKeyHeader: 'X-Api-Key' }, asksAgain: true },
  { what: 'the concurrency', after: { concurrency: 3 }, connects: true, asksAgain: true },
  { what: 'the proxy', after: { proxyUrl: 'http://proxy:1' }, connects: true, asksAgain: true },
  {
    what: 'the address',
    after: { baseUrl: 'https://api.eu.newrelic.com' },
    connects: true,
    asksAgain: true,
    keeps: false,
  },
  {
    what: 'the source',
    after: { source: nerdgraph },
    connects: true,
    asksAgain: true,
    keeps: false,
  },
  {
    what: 'the account id of NerdGraph',
    before: { source: nerdgraph },
    after: { source: { ...nerdgraph, accountId: 7_654_321 } },
    connects: true,
    asksAgain: true,
    keeps: false,
  },
];

describe('an account of which the configuration changes', () => {
  it.each(rows)(
    'is another one, connects again or asks again only if it must: $what',
    async (row) => {
      const { before = {}, after, connects = false, asksAgain = false, keeps = true } = row;
      const apps = [entryByName('shop')];
      const bench = await aRunningDaemon(
        { accounts: [accountOne(before)], apps },
        { files: { '/key': keyA } },
      );
      await bench.platform.clock.advance(170_000);
      const calls = bench.simulator.journal.count();

      await bench.daemon.apply({ accounts: [accountOne({ ...before, ...after })], apps });
      const page = await bench.page();
      await bench.platform.clock.advance(100);

      expect(bench.opened.map(({ isClosed }) => isClosed)).toEqual(
        connects ? [true, false] : [false],
      );
      expect(bench.simulator.journal.count() > calls).toBe(asksAgain);
      expect(page.includes('newrelic_application_requests_per_minute{account="one"')).toBe(keeps);
    },
  );
});

describe('a reload of what each call is sent with', () => {
  const before = ['Api-Key', 30_000];
  it.each([
    {
      what: 'the header of the key',
      after: { apiKeyHeader: 'X-Api-Key' },
      seen: ['X-Api-Key', 30_000],
    },
    { what: 'the timeout', after: { timeoutMs: 5000 }, seen: ['Api-Key', 5000] },
  ] as const)('holds for all calls that leave from then on: $what', async ({ after, seen }) => {
    const calls: {
      readonly atMs: number;
      readonly sent: readonly [header: string, hungMs: number];
    }[] = [];
    const apps = [entryByName('shop')];
    const bench = await aRunningDaemon(
      { accounts: [accountOne()], apps },
      {
        wire: (raw) => ({
          ...raw,
          send: async (_request, headers, signal) =>
            new Promise((_resolve, reject) => {
              const { clock } = bench.platform;
              const atMs = clock.monotonicMs();
              signal.addEventListener('abort', () => {
                calls.push({
                  atMs,
                  sent: [Object.keys(headers).join(), clock.monotonicMs() - atMs],
                });
                reject(signal.reason as Error);
              });
            }),
        }),
      },
    );
    const { clock } = bench.platform;
    await clock.advance(45_000);
    const reloadMs = clock.monotonicMs();

    await bench.daemon.apply({ accounts: [accountOne(after)], apps });
    await clock.advance(120_000);

    const sentIn = (fromMs: number, untilMs: number): unknown[] =>
      calls.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs).map(({ sent }) => sent);
    expect(new Set(sentIn(0, 10_000).map(String))).toEqual(new Set([String(before)]));
    expect(new Set(sentIn(reloadMs + 1, Infinity).map(String))).toEqual(new Set([String(seen)]));
  });
});
