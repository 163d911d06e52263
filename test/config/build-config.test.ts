import { RE2JS } from 're2js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import type { AccountConfig, AppEntry, Config } from '../../src/model/config.ts';
import { type CustomMetric, seriesOf } from '../../src/model/polled-series.ts';
import { choosesHost } from '../../src/model/selected-application.ts';

const source = { fileName: 'config.yaml', directory: '/etc/exporter' };

async function configOf(text: string): Promise<Config> {
  return (await parseConfig(text, source)).config;
}

async function firstApp(text: string): Promise<AppEntry | undefined> {
  return (await configOf(text)).apps[0];
}

async function firstAccount(lines: string): Promise<AccountConfig | undefined> {
  const text = `accounts: [{name: a, api_key_env: KEY, ${lines}}]\napps: [{id: 1}]`;
  return (await configOf(text)).accounts[0];
}

describe('parseConfig', () => {
  it('applies every default', async () => {
    expect(await configOf('apps:\n  - id: 31584797\n')).toStrictEqual({
      accounts: [
        {
          name: 'default',
          baseUrl: 'https://api.newrelic.com',
          region: 'us',
          source: { kind: 'rest', accountId: undefined },
          apiKey: { kind: 'env', name: 'NEW_RELIC_API_KEY' },
          apiKeyHeader: 'Api-Key',
          requestsPerMinute: 800,
          concurrency: 8,
          timeoutMs: 30_000,
          proxyUrl: undefined,
          caFile: undefined,
        },
      ],
      apps: [
        {
          account: 'default',
          selector: { kind: 'id', id: '31584797' },
          labels: {},
          hosts: true,
          exclude: false,
          application: true,
          transactions: ['web', 'other'],
          series: seriesOf(['throughput'], ['web', 'other']),
          poll: {
            intervalMs: 60_000,
            discoveryIntervalMs: 60_000,
            window: { kind: 'range', lengthMs: 300_000 },
            delayMs: 180_000,
            staleAfterMs: 900_000,
            hostNames: true,
            raw: false,
            metrics: ['throughput'],
          },
        },
      ],
    });
  });

  it('reads every key of an account', async () => {
    const text = `
accounts:
  - name: production
    source: nerdgraph
    account_id: 1234567
    base_url: https://Gateway.example.com/newrelic/
    api_key_file: secrets/key
    api_key_header: X-Api-Key
    requests_per_minute: 100
    concurrency: 2
    timeout: 1m30s
    proxy_url: http://user:pass@proxy:3128/
    ca_file: /etc/ca.pem
    labels: { env: live }
apps: [{id: 1}]`;

    expect((await configOf(text)).accounts).toStrictEqual([
      {
        name: 'production',
        baseUrl: 'https://gateway.example.com/newrelic',
        source: { kind: 'nerdgraph', accountId: 1_234_567 },
        apiKey: { kind: 'file', path: '/etc/exporter/secrets/key' },
        apiKeyHeader: 'X-Api-Key',
        requestsPerMinute: 100,
        concurrency: 2,
        timeoutMs: 90_000,
        proxyUrl: 'http://user:pass@proxy:3128',
        caFile: '/etc/ca.pem',
        labels: { env: 'live' },
      },
    ]);
  });

  it.each([
    { written: 'certs/ca.pem', path: '/etc/exporter/certs/ca.pem' },
    { written: '../ca.pem', path: '/etc/ca.pem' },
    { written: '/run/ca.pem', path: '/run/ca.pem' },
  ])('finds the CA file $written from the directory of the configuration', async (row) => {
    expect((await firstAccount(`ca_file: ${row.written}`))?.caFile).toBe(row.path);
  });

  it.each([
    { lines: 'proxy_url_env: PROXY', from: { kind: 'env', name: 'PROXY' } },
    { lines: 'proxy_url_file: run/proxy', from: { kind: 'file', path: '/etc/exporter/run/proxy' } },
    { lines: 'proxy_url: "http://proxy"', from: undefined },
  ])('finds the proxy for $lines', async ({ lines, from }) => {
    expect((await firstAccount(lines))?.proxyUrlFrom).toEqual(from);
  });

  it.each([
    { lines: 'region: us', baseUrl: 'https://api.newrelic.com' },
    { lines: 'region: eu', baseUrl: 'https://api.eu.newrelic.com' },
    { lines: 'region: jp', baseUrl: 'https://api.jp.newrelic.com' },
    { lines: 'region: gov', baseUrl: 'https://gov-api.newrelic.com' },
    { lines: 'base_url: "http://[::1]:8080//"', baseUrl: 'http://[::1]:8080' },
  ])('finds the address for $lines', async ({ lines, baseUrl }) => {
    expect((await firstAccount(lines))?.baseUrl).toBe(baseUrl);
  });

  it.each([
    { lines: 'timeout: 20s', region: 'us' },
    { lines: 'region: jp', region: 'jp' },
    { lines: 'base_url: "https://api.eu.newrelic.com"', region: undefined },
  ])('knows the region only where no address is written: $lines', async ({ lines, region }) => {
    expect((await firstAccount(lines))?.region).toBe(region);
  });

  it.each([
    { lines: 'source: rest', source: { kind: 'rest', accountId: undefined }, concurrency: 8 },
    {
      lines: 'source: rest, account_id: 12',
      source: { kind: 'rest', accountId: 12 },
      concurrency: 8,
    },
    {
      lines: 'source: rest, concurrency: 100',
      source: { kind: 'rest', accountId: undefined },
      concurrency: 100,
    },
    {
      lines: 'source: nerdgraph, account_id: 1',
      source: { kind: 'nerdgraph', accountId: 1 },
      concurrency: 5,
    },
    {
      lines: 'source: nerdgraph, account_id: "2147483647", concurrency: 25',
      source: { kind: 'nerdgraph', accountId: 2_147_483_647 },
      concurrency: 25,
    },
  ])('finds the source and the calls at a time for $lines', async (row) => {
    expect(await firstAccount(row.lines)).toMatchObject({
      source: row.source,
      concurrency: row.concurrency,
      requestsPerMinute: 800,
    });
  });

  it.each([
    { written: '9007199254740993', id: '9007199254740993' },
    { written: '9223372036854775807', id: '9223372036854775807' },
    { written: '"31584797"', id: '31584797' },
    { written: '1', id: '1' },
  ])('keeps the id $written exact', async ({ written, id }) => {
    expect((await firstApp(`apps: [{id: ${written}}]`))?.selector).toStrictEqual({
      kind: 'id',
      id,
    });
  });

  it('shares the equal parts of entries, so that it is sent quickly', async () => {
    const entry = '{ match: "^a", labels: { team: a }, interval: 5m }';
    const { apps } = await configOf(`apps: [${entry}, ${entry}, { id: 1 }]`);

    expect(apps[1]?.poll).toBe(apps[0]?.poll);
    expect(apps[1]?.labels).toBe(apps[0]?.labels);
    expect(apps[2]?.transactions).toBe(apps[0]?.transactions);
    expect(apps[2]?.poll).not.toStrictEqual(apps[0]?.poll);
  });

  it('gives a metric that the file names every default', async () => {
    const app = await firstApp(
      'apps: [{id: 1, metrics: [{metric: Apdex, value: s, as: apdex_s}]}]',
    );

    expect(app?.poll.metrics).toStrictEqual([
      {
        metric: 'Apdex',
        value: 's',
        as: 'apdex_s',
        scale: 1,
        help: undefined,
        labels: {},
        scope: 'both',
      },
    ]);
  });

  it('gives a gauge one help text, wherever it is named', async () => {
    const { apps } = await configOf(`
poll: {metrics: [{metric: A, value: s, as: one}, {metric: A, value: s, as: three}]}
apps:
  - {id: 1}
  - id: 2
    metrics:
      - {metric: A, value: s, as: one, labels: {a: b}}
      - {metric: A, value: s, as: two}
      - {metric: A, value: t, as: two, labels: {a: b}}
      - {metric: B, value: s, as: three, help: Three.}`);

    const helps = apps.map(({ series }) => series.map(({ gauge }) => [gauge.name, gauge.help]));
    const ofSeveral =
      'Several metrics of New Relic over the polled window, told apart by their labels.';
    expect(helps).toEqual([
      [
        ['one', "s of New Relic's metric A over the polled window."],
        ['three', 'Three.'],
      ],
      [
        ['one', "s of New Relic's metric A over the polled window."],
        ['two', ofSeveral],
        ['two', ofSeveral],
        ['three', 'Three.'],
      ],
    ]);
    expect(apps[0]?.series).toEqual(seriesOf(apps[0]?.poll.metrics ?? [], ['web', 'other']));
  });

  it('shares the series of entries with the same metrics and transactions', async () => {
    const { apps } = await configOf(`
poll: {metrics: [apdex]}
apps:
  - {id: 1}
  - {id: 2, interval: 5m}
  - {id: 3, transactions: [web]}
  - {id: 4, metrics: [apdex]}
  - {id: 5, metrics: [errors]}`);

    expect(apps[1]?.series).toBe(apps[0]?.series);
    expect(apps[2]?.series).not.toBe(apps[0]?.series);
    expect(apps[3]?.series).toBe(apps[0]?.series);
    expect(apps[3]?.poll).toBe(apps[0]?.poll);
    expect(apps[4]?.series).toStrictEqual(seriesOf(['errors'], ['web', 'other']));
  });

  it('lets an app override every key of poll', async () => {
    const text = `
poll: { interval: 2m, window: 10m, raw: true, metrics: [errors, throughput] }
apps:
  - name: "Checkout (production)"
    labels: { team: payments }
    hosts: false
    transactions: [other]
    interval: 5m
    discovery_interval: 10m
    window: default
    delay: 0
    stale_after: 1h
    host_names: false
    raw: false
    metrics:
      - apdex
      - metric: WebFrontend/QueueTime
        value: average_response_time
        as: app_queue_time_seconds
        scale: 0.5
        help: Time in the queue.
        labels: { tier: web }
        for: applications
  - name: other`;
    const queueTime: CustomMetric = {
      metric: 'WebFrontend/QueueTime',
      value: 'average_response_time',
      as: 'app_queue_time_seconds',
      scale: 0.5,
      help: 'Time in the queue.',
      labels: { tier: 'web' },
      scope: 'applications',
    };

    expect((await configOf(text)).apps).toStrictEqual([
      {
        account: 'default',
        selector: { kind: 'name', name: 'Checkout (production)' },
        labels: { team: 'payments' },
        hosts: false,
        exclude: false,
        application: true,
        transactions: ['other'],
        series: seriesOf(['apdex', queueTime], ['other']),
        poll: {
          intervalMs: 300_000,
          discoveryIntervalMs: 600_000,
          window: { kind: 'vendor_default' },
          delayMs: 0,
          staleAfterMs: 3_600_000,
          hostNames: false,
          raw: false,
          metrics: ['apdex', queueTime],
        },
      },
      expect.objectContaining({
        selector: { kind: 'name', name: 'other' },
        poll: {
          intervalMs: 120_000,
          discoveryIntervalMs: 60_000,
          window: { kind: 'range', lengthMs: 600_000 },
          delayMs: 180_000,
          staleAfterMs: 900_000,
          hostNames: true,
          raw: true,
          metrics: ['errors', 'throughput'],
        },
      }),
    ]);
  });

  it.each([
    {
      name: 'its only account by name',
      text: 'apps: [{id: 1, account: default}]',
      account: 'default',
    },
    {
      name: 'the only account by default',
      text: 'accounts: [{name: a, api_key_env: A}]\napps: [{id: 1}]',
      account: 'a',
    },
  ])('gives an app $name', async ({ text, account }) => {
    expect((await firstApp(text))?.account).toBe(account);
  });
});

describe('the regular expressions and the hosts of a configuration', () => {
  const context = {
    nextTurn: async (): Promise<void> => {},
    clock: { monotonicMs: () => 0 },
    ownHostNames: ['web-1'],
  };

  it('are those that the process needs: its own host, and compiled patterns', async () => {
    const text = 'apps: [{ id: 1, hosts: self }, { id: 2, hosts: { match: "^web-" } }, { id: 3 }]';

    const { config } = await parseConfig(text, source, context);

    const [self, match, all] = config.apps.map(({ hosts }) => hosts);
    expect(self).toStrictEqual({ kind: 'self', names: ['web-1'] });
    expect(typeof match === 'object' && choosesHost(match, 'web-7')).toBe(true);
    expect(typeof match === 'object' && choosesHost(match, 'db-7')).toBe(false);
    expect(all).toBe(true);
  });

  it('leave other work its turn every few milliseconds', async () => {
    const entries = Array.from({ length: 100 }, (_, index) => `{ match: "^shop-${index}$" }`);
    let nowMs = 0;
    let turnStartMs = 0;
    const turnsMs: number[] = [];
    const clock = {
      monotonicMs: (): number => {
        nowMs += 1;
        return nowMs;
      },
    };
    const nextTurn = async (): Promise<void> => {
      turnsMs.push(nowMs - turnStartMs);
      nowMs += 1000;
      turnStartMs = nowMs;
    };

    const text = `apps: [${entries.join()}]`;
    const { config } = await parseConfig(text, source, { ...context, nextTurn, clock });

    expect(config.apps).toHaveLength(100);
    expect(turnsMs.length).toBeGreaterThanOrEqual(10);
    expect(Math.max(...turnsMs)).toBeLessThanOrEqual(10);
  });

  it('are compiled once for each text', async () => {
    const text = 'apps: [{ match: "^shop-" }, { id: 1, hosts: { match: "^shop-" } }, { match: a }]';
    const compiled = vi.spyOn(RE2JS, 'compile');
    onTestFinished(() => {
      compiled.mockRestore();
    });

    await parseConfig(text, source, context);

    expect(compiled.mock.calls.map(([written]) => written)).toEqual(['^shop-', 'a']);
  });
});
