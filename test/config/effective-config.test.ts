import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { effectiveConfigText } from '../../src/config/effective-config.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import { loadPatternCompiler } from '../../src/config/patterns.ts';
import type { AccountConfig, AppEntry, Config, PollConfig } from '../../src/model/config.ts';
import { type CustomMetric, metricScopes, seriesOf } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import { minuteMs } from '../../src/model/time.ts';
import { valueNames } from '../../src/model/vendor-value.ts';
import { slow } from '../support/slow.ts';

const source = { fileName: 'config.yaml', directory: '/etc/exporter' };
const compile = await loadPatternCompiler();

async function effectiveTextOf(file: string): Promise<string> {
  return effectiveConfigText((await parseConfig(file, source)).config);
}

describe('effectiveConfigText', () => {
  it('shows nothing of an entry that excludes but what it selects', async () => {
    const text = await effectiveTextOf(
      'poll: {interval: 5m}\napps: [{match: -old$, exclude: true}, {match: ., hosts: {exclude: ^db}}]',
    );

    expect(parse(text)).toMatchObject({
      poll: { interval: '5m' },
      apps: [
        { match: '-old$', exclude: true },
        { match: '.', hosts: { exclude: '^db' } },
      ],
    });
    expect(await effectiveTextOf(text)).toBe(text);
  });

  it('shows a window as it is asked for, in whole minutes', async () => {
    const text = await effectiveTextOf('apps: [{id: 1, window: 90s}]');

    expect(parse(text)).toMatchObject({ poll: { window: '2m' } });
  });

  it('shows every default, absolute paths and durations as the file has them', async () => {
    const text = await effectiveTextOf(
      'accounts: [{name: eu, region: eu, api_key_file: key}]\napps: [{id: 12}]',
    );

    expect(text).toBe(`accounts:
  - name: eu
    source: rest
    region: eu
    api_key_file: /etc/exporter/key
    api_key_header: Api-Key
    requests_per_minute: 800
    concurrency: 8
    timeout: 30s
poll:
  interval: 1m
  discovery_interval: 1m
  window: 5m
  delay: 3m
  stale_after: 15m
  host_names: true
  raw: false
  metrics:
    - throughput
apps:
  - id: 12
    labels: {}
    hosts: true
    application: true
    transactions:
      - web
      - other
`);
  });

  it('names settings of an entry only where most entries have others', async () => {
    const text = await effectiveTextOf(
      'poll: {interval: 2m}\napps: [{id: 1, interval: 90s, raw: true}, {id: 2}, {id: 3}]',
    );

    expect(text).toContain('poll:\n  interval: 2m\n');
    expect(text.slice(text.indexOf('apps:'))).toContain('    interval: 1m30s\n    raw: true\n');
    expect(text.match(/interval: 2m/gu)).toHaveLength(1);
  });

  it.each([
    { url: 'http://user:hunter2secret@proxy:3128' },
    { url: 'http://hunter2secret@proxy:3128' },
    { url: 'http://:hunter2secret@proxy:3128' },
    { url: 'http://user:hunter2%40secret@proxy:3128' },
  ])('hides the login of $url, and means the same', async ({ url }) => {
    const account = `{name: a, api_key_env: KEY, proxy_url: "${url}"}`;
    const text = await effectiveTextOf(`accounts: [${account}]\napps: [{id: 1}]`);
    const again = await parseConfig(text, source);

    expect(text).not.toContain('hunter2');
    expect(text).toContain('proxy_url: http://[redacted]@proxy:3128\n');
    expect(again.config.accounts[0]?.proxyUrl).toContain('@proxy:3128');
  });

  it('means the same to a reader of YAML 1.1, such as one in Go', async () => {
    const apps = '[{name: on, labels: {tier: "0o7", team: yes, day: 2026-11-23, time: "1:30"}}]';
    const text = await effectiveTextOf(`apps: ${apps}`);

    expect(parse(text, { version: '1.1' })).toMatchObject({
      apps: [{ name: 'on', labels: { tier: '0o7', team: 'yes', day: '2026-11-23', time: '1:30' } }],
    });
  });

  it('is a file that means the same as the example', async () => {
    const { config } = await parseConfig(await readFile('config.example.yaml', 'utf8'), source);

    expect((await parseConfig(effectiveConfigText(config), source)).config).toEqual(config);
  });

  it('is a file that means the same, whatever the configuration', slow, async () => {
    await fc.assert(
      fc.asyncProperty(configs, async (config) => {
        const text = effectiveConfigText(config);
        const again = await parseConfig(text, source);
        expect(again.config).toEqual(config);
        expect(text).toBe(effectiveConfigText(again.config));
      }),
      { numRuns: 100 },
    );
  });
});

const text = fc
  .string({ minLength: 1, maxLength: 12, unit: 'binary' })
  .filter((value) => !/[\p{Cc}\p{Cs}]/u.test(value) && !/[\uFFFE\uFFFF]/u.test(value));
const word = fc.oneof(
  text.filter((value) => value.trim() !== '' && !/NR(?:AK|AA|RA)-/iu.test(value)),
  fc.constantFrom('true', 'null', '~', '1e3', '0x10', '- x', 'a: b', '# c', '"', "'", '<<', '&a'),
);
const seconds = (max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 1, max }).map((value) => value * 1000);

/** Every setting of an account that is not told elsewhere: a new one, even an optional one, must be drawn. */
type DrawnAccount = Required<
  Omit<AccountConfig, 'region' | 'proxyUrlFrom' | 'shard' | 'sharedRequestsPerMinute'>
>;

const account = (name: string): fc.Arbitrary<DrawnAccount> =>
  fc.record({
    name: fc.constant(name),
    baseUrl: fc.constantFrom('https://api.newrelic.com', 'http://127.0.0.1:8080/gateway'),
    source: fc.constantFrom<AccountConfig['source'][]>(
      { kind: 'rest', accountId: undefined },
      { kind: 'rest', accountId: 7 },
      { kind: 'nerdgraph', accountId: 1_234_567 },
    ),
    apiKey: fc.constantFrom<AccountConfig['apiKey'][]>(
      { kind: 'env', name: 'KEY' },
      { kind: 'file', path: '/run/secrets/key file' },
    ),
    apiKeyHeader: fc.constantFrom<AccountConfig['apiKeyHeader'][]>('Api-Key', 'X-Api-Key'),
    requestsPerMinute: fc.integer({ min: 1, max: 3000 }),
    concurrency: fc.integer({ min: 1, max: 25 }),
    timeoutMs: seconds(600),
    proxyUrl: fc.constantFrom(undefined, 'http://proxy:3128'),
    caFile: fc.constantFrom(undefined, '/etc/ca.pem'),
    labels: fc.constantFrom(undefined, { tier: 'a', env: 'live' }),
  });

/** Accounts whose proxy is named elsewhere, too. */
const anyAccount = (name: string): fc.Arbitrary<AccountConfig> =>
  fc
    .tuple(
      account(name),
      fc.constantFrom<AccountConfig['proxyUrlFrom'][]>(
        { kind: 'env', name: 'PROXY' },
        { kind: 'file', path: '/run/secrets/proxy url' },
        undefined,
      ),
    )
    .map(([one, proxyUrlFrom]) =>
      proxyUrlFrom === undefined ? one : { ...one, proxyUrl: undefined, proxyUrlFrom },
    );

const customMetric = (as: string): fc.Arbitrary<CustomMetric> =>
  fc.record({
    metric: word,
    value: fc.constantFrom(...valueNames.filter((name) => name !== 'score')),
    as: fc.constant(as),
    scale: fc.double({ min: 0, minExcluded: true, noNaN: true, noDefaultInfinity: true }),
    help: fc.option(word, { nil: undefined }),
    labels: fc.dictionary(fc.constantFrom('part', 'on'), word, { noNullPrototype: true }),
    scope: fc.constantFrom(...metricScopes),
  });
/** Names of its own, since a gauge is the same everywhere, and a preset, so that something is left to read. */
const metricList = (name: string): fc.Arbitrary<PollConfig['metrics']> =>
  fc
    .tuple(
      fc.subarray([...presetNames], { minLength: 1 }),
      ...[1, 2, 3].map((index) => fc.option(customMetric(`${name}_${index}`), { nil: undefined })),
    )
    .map(([chosen, ...named]) => [...named.filter((one) => one !== undefined), ...chosen])
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

const entry = (metrics: fc.Arbitrary<PollConfig['metrics']>): fc.Arbitrary<AppEntry> =>
  fc
    .record({
      account: fc.constantFrom('first', 'yes'),
      selector: fc.oneof(
        fc
          .bigInt({ min: 1n, max: 2n ** 62n })
          .map((id) => ({ kind: 'id', id: String(id) }) as const),
        word.map((name) => ({ kind: 'name', name }) as const),
        fc
          .constantFrom('^shop-', '(?i)a.b', '"q"', ': #', 'on')
          .map((pattern) => ({ kind: 'match', pattern: compile(pattern) }) as const),
      ),
      exclude: fc.constant(false),
      labels: fc.dictionary(fc.constantFrom('team', 'tier', 'null'), word, {
        noNullPrototype: true,
      }),
      hosts: fc.constantFrom<AppEntry['hosts'][]>(
        true,
        false,
        { kind: 'self', names: [] },
        { kind: 'match', pattern: compile('a'), exclude: compile('b') },
        { kind: 'match', pattern: undefined, exclude: compile('b') },
        { kind: 'match', pattern: compile('^web-') },
      ),
      application: fc.constant(true),
      transactions: fc.constantFrom<AppEntry['transactions'][]>(['web'], ['other', 'web']),
      poll: fc.record({
        intervalMs: seconds(86_400),
        discoveryIntervalMs: seconds(86_400),
        window: fc.oneof(
          fc.constant({ kind: 'vendor_default' } as const),
          fc
            .integer({ min: 1, max: 1440 })
            .map((length) => ({ kind: 'range', lengthMs: length * minuteMs }) as const),
        ),
        delayMs: fc.nat(86_400_000),
        staleAfterMs: seconds(86_400),
        hostNames: fc.boolean(),
        raw: fc.boolean(),
        metrics,
      }),
    })
    .map((one) => ({ ...one, series: seriesOf(one.poll.metrics, one.transactions) }));

const configs: fc.Arbitrary<Config> = fc
  .tuple(metricList('a'), metricList('b'), metricList('newrelic_application_c'))
  .chain((lists) =>
    fc.record({
      accounts: fc.tuple(anyAccount('first'), anyAccount('yes')),
      apps: fc.array(entry(fc.constantFrom(...lists)), { minLength: 1, maxLength: 4 }),
    }),
  )
  .map(({ accounts, apps }) => ({
    accounts,
    apps: apps.map((one) => {
      const { labels } = accounts.find(({ name }) => name === one.account) ?? {};
      return { ...one, labels: { ...labels, ...one.labels } };
    }),
  }));
