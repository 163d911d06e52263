import { describe, expect, it } from 'vitest';
import { anyRegion } from '../../src/model/region.ts';
import { slow } from '../support/slow.ts';
import { failureOf, findingsIn, placesOf, type Row, wordsOf } from './config-failure.ts';

const apps = 'apps: [{id: 1}]';

/** The text of one entry of `apps`. */
function app(keys: string): string {
  return `apps: [{${keys}}]`;
}

/** An entry with an id, whose other keys begin at column 16. */
function withKey(keys: string): string {
  return app(`id: 1, ${keys}`);
}

/** The text of one account with a key, whose other keys begin at column 38. */
function account(keys: string): string {
  return `accounts: [{name: a, api_key_env: K, ${keys}}]\n${apps}`;
}

const twoAccounts = 'accounts: [{name: ab, api_key_env: A}, {name: cd, api_key_env: B}]';

const shape: readonly Row[] = [
  ['poll: {}', '1:1', 'missing key "apps"'],
  ['apps:', '1:1', '"apps" must be a list, not nothing'],
  ['apps: []', '1:7', '"apps" must not be empty'],
  ['apps:\n  -id: 1', '2:3', 'must be a list, not a map', 'with the blank'],
  ['apps: [x, 7, null]', '1:8 1:11 1:14', 'must be a map, not "x"', 'not 7', 'not nothing'],
  [`poll: []\n${apps}`, '1:7', '"poll" must be a map, not a list'],
  [
    `sink: 1\n${apps}`,
    '1:1',
    'unknown key "sink"',
    'the keys here are accounts, poll, include, apps',
  ],
  ['apps: [{nmae: x}]', '1:9', 'unknown key "nmae"', 'did you mean "name"?'],
  ['c: &c {hosts: false}\napps: [{<<: *c, id: 1}]', '1:1', 'unknown key "c"'],
  [
    'apps: [{id: 1}]\nappps: 1\napps: []',
    '2:1 3:1',
    'duplicate key "apps"',
    'did you mean "apps"?',
  ],
  [app('id: shop'), '1:13', 'whole number of at least 1'],
  [app('id: MXxBUE18QVBQTElDQVRJT058Nzc'), '1:13', 'the GUID of 77: write that'],
  [app('guid: x'), '1:9', 'unknown key "guid"', 'did you mean "id"?'],
  [withKey('api_key_env: x'), '1:16', '"api_key_env" belongs to an entry of "accounts"'],
  [
    `poll: {hosts: false, scale: 2}\n${apps}`,
    '1:8 1:22',
    'an entry of "apps"',
    'a map in "metrics"',
  ],
  [account('interval: 5m'), '1:38', '"interval" belongs to "poll" or to an entry of "apps"'],
  [
    'api.key:\napi.server: x\nweb.x: 1',
    '0:0 1:1',
    'mrf/newrelic_exporter',
    'metrics.md#from-other',
  ],
  ['applications: [{id: 1, name: x}]', '0:0', 'ContaAzul/newrelic_exporter', 'https://'],
  ['api_key: x\nmodules: {}', '0:0 1:1', 'the API key must not be in this file'],
  ['modules: {}', '0:0', 'another program', 'none of the keys accounts, poll, include, apps'],
  [app(`id: ${'9'.repeat(20)}`), '1:13', `at most ${'9'.repeat(19)}`],
  [app('name: ""'), '1:15', '"name" must not be empty'],
  [app('name: 5'), '1:15', 'must be a string, not 5', 'put it in quotes: "5"'],
  [app('name: "a\\nb"'), '1:15', 'control characters'],
  [app('name: "\\ud800"'), '1:15', 'control characters'],
  [app('match: 5'), '1:16', 'regular expression in quotes, not 5'],
  [app('match: ""'), '1:16', 'must not be empty'],
  [app('match: "*-prod"'), '1:16', 'nothing stands before', 'for any text write ".*"'],
  [
    withKey('exclude: "-staging$"'),
    '1:25',
    'true or false',
    '{ match: "-staging$", exclude: true }',
  ],
  [withKey('exclude: yes'), '1:25', 'true or false', 'write exclude: true'],
  [withKey('exclude: "False"'), '1:25', 'true or false', 'write exclude: false'],
  [withKey('exclude: [a, b]'), '1:25', 'true or false', 'before this one: - { match: "a", exclude'],
  [account('source: graphql'), '1:46', 'must be rest or nerdgraph', 'did you mean "nerdgraph"?'],
  [withKey('metrics: throughput'), '1:25', 'must be a list', 'write metrics: ["throughput"]'],
  [withKey('metrics: [p95]'), '1:26', 'must be a preset', 'percentiles come from "queries"'],
  ['apps: [Checkout]', '1:8', 'must be a map', 'write - name: "Checkout"'],
  ['apps: Checkout', '1:7', 'must be a list', 'write - name: "Checkout"'],
  ...['flase', '[self]', '{}', '{ match: "" }', '{ match: a, more: b }'].map(
    (hosts): Row => [withKey(`hosts: ${hosts}`), '1:23', 'true, false, self or a map'],
  ),
  [withKey('application: 0'), '1:29', 'must be true or false, not 0'],
  [withKey('transactions: [wbe]'), '1:31', 'must be web or other, not "wbe"'],
  [withKey('transactions: [web, web]'), '1:36', 'only once'],
  [withKey('transactions: []'), '1:30', 'must not be empty'],
  [withKey('interval: 60'), '1:26', 'needs a unit', 'such as 60s'],
  [withKey('interval: 500ms'), '1:26', 'at least 1s'],
  [withKey('interval: 25h'), '1:26', 'at most 1d'],
  [withKey('interval: "${INTERVAL}"'), '1:26', '$INTERVAL are not replaced', 'envsubst'],
  [withKey('window: 59s'), '1:24', 'at least 1m'],
  [withKey('window: 2d'), '1:24', '"window" must be at most 1d'],
  [
    'queries: [{as: a, nrql: SELECT count(*) FROM Log, window: 32d}]',
    '1:59',
    '"window" must be at most 31d, a month: for more, keep the gauge in Prometheus',
  ],
  [withKey('stale_after: 0s'), '1:29', 'at least 1s'],
  [withKey('labels: {a-b: x}'), '1:25', '"a-b" is not a valid label name'],
  [withKey('labels: {__a: x}'), '1:25', 'start with "__"'],
  [withKey('labels: {host_id: x}'), '1:25', 'the exporter sets this label itself'],
  [withKey('labels: {job: x}'), '1:25', 'scrape targets'],
  [withKey('labels: {a: ""}'), '1:28', 'must not be empty'],
  [withKey('labels: [a]'), '1:24', 'must be a map, not a list'],
  [account('labels: {a-b: x, job: x, a: ""}'), '1:47 1:55 1:66', 'valid label name', 'must not be'],
  [account('labels: {host_id: x, query: x}'), '1:47 1:59', 'the exporter sets this label itself'],
  [account('labels: [a]'), '1:46', 'must be a map, not a list'],
  ['apps: [{match: a, exclude: true, hosts: false}, {id: 1}]', '1:34', '"hosts" has no effect'],
  [
    'apps: [{match: a, exclude: true, raw: true, labels: {b: c}}, {id: 1}]',
    '1:34 1:45',
    '"labels" has',
  ],
  ['apps: [{match: a, exclude: true}, {id: 1, exclude: true}]', '1:8', 'nothing is polled'],
];

const ofAccounts: readonly Row[] = [
  [account('region: ue'), '1:46', `must be ${anyRegion}`, 'did you mean "us"?'],
  [account('region: USA'), '1:46', 'did you mean "us"?'],
  [account('region: europe'), '1:46', 'did you mean "eu"?'],
  [account('region: Japan'), '1:46', 'did you mean "jp"?'],
  [account('region: fedramp'), '1:46', 'did you mean "gov"?'],
  [account('base_url: EU'), '1:48', 'must be a URL', 'write region: eu'],
  [account('base_url: jp'), '1:48', 'must be a URL', 'write region: jp'],
  [account('source: graphql'), '1:46', 'must be rest or nerdgraph'],
  [account('api_key_header: x-api-key'), '1:54', 'did you mean "X-Api-Key"?'],
  ...['0', '1.5', '"9"', '99999999999999999999'].map(
    (number): Row => [
      account(`requests_per_minute: ${number}`),
      '1:59',
      'whole number of at least 1',
    ],
  ),
  [account('concurrency: 101'), '1:51', 'from 1 to 100, not 101'],
  ...['0', '-1', '1.5', '"007"', 'true', '1e17', 'x'].map(
    (id): Row => [account(`account_id: ${id}`), '1:50', 'whole number of at least 1'],
  ),
  [account('account_id: 2147483648'), '1:50', 'at most 2147483647'],
  [account('timeout: 11m'), '1:47', 'at most 10m'],
  ...['ftp://h', '5', '"https://h:99999"', '"https:h"'].map(
    (url): Row => [account(`base_url: ${url}`), '1:48', 'a URL such as https://'],
  ),
  [account('base_url: "https://u:p@h"'), '1:48', 'user name or password', '"api_key_file"'],
  [account('base_url: "https://h/?key=x"'), '1:48', 'no "?" and no "#"', '"api_key_file"'],
  [account('base_url: "https://h/#x"'), '1:48', 'no "?" and no "#"'],
  [account('base_url: "${BASE_URL}"'), '1:48', '$BASE_URL are not replaced'],
  [
    account('base_url: "https://api.newrelic.com/graphql"'),
    '1:48',
    'a path of the API',
    'region: us',
  ],
  [account('base_url: "https://h/x/v2/applications.json"'), '1:48', 'leave out the path'],
  [account('proxy_url: socks5://h:1'), '1:49', 'a URL such as http://proxy:3128'],
  [account('proxy_url: "http://h/x"'), '1:49', 'the host and the port'],
  [account('proxy_url: "http://u:50%@h"'), '1:49', '%25'],
  [account(`proxy_url: "http://u:${'é'.repeat(700)}@h"`), '1:49', 'at most 4000 characters'],
  [account('proxy_url_file: ""'), '1:54', 'must not be empty'],
  ...['http://u:p@h:1', 'u:p@h:1', 'http://h:1'].map(
    (url): Row => [account(`proxy_url_file: "${url}"`), '1:54', 'must be the path of a file'],
  ),
  [
    account('proxy_url_env: "http://u:p@h"'),
    '1:53',
    'name of an environment variable',
    'PROXY_URL',
  ],
  [account('ca_file: ""'), '1:47', 'must not be empty'],
  [account('source: nerdgraph, acount_id: 1'), '1:57', 'did you mean "account_id"?'],
  [`accounts: [{name: a, api_key_env: $KEY}]\n${apps}`, '1:35', '$KEY are not replaced'],
];

const regularExpressions: readonly Row[] = [
  [app("match: 'a('"), '1:16', 'missing closing )', 'RE2'],
  [app("match: 'a(?=b)'"), '1:16', 'look-around', '"exclude: true"'],
  [app("match: 'a(?<!b)'"), '1:16', 'look-around'],
  [withKey("hosts: { match: a, exclude: '(' }"), '1:44', '"exclude" is not a valid regular'],
  [app("match: '(a)\\1'"), '1:16', 'back-references', 'group again'],
  [app("match: '\\u0041'"), '1:16', 'no \\u', '\\x{1F600}'],
  [app("match: 'a{5,3}'"), '1:16', 'invalid repeat count'],
  [withKey("hosts: { match: 'a(' }"), '1:32', 'missing closing )'],
  [app("match: '(?:ab){1000}c{5}'"), '1:16', 'comes to 2007 steps', 'at most 2000'],
  [
    app(`match: '(?:${'a'.repeat(90)}){1000}'`),
    '1:16',
    'up to 100000 characters',
    'smaller counts',
  ],
  [app(`match: '${'a'.repeat(2001)}'`), '1:16', 'has 2001 characters'],
];

const references: readonly Row[] = [
  [app('hosts: true'), '1:8', 'an app needs one of "id", "name" and "match"'],
  [withKey('name: x'), '1:16', '"id" and "name" exclude each other', 'keep one'],
  [withKey('account: b'), '1:25', 'unknown account "b"', 'the accounts are "default"'],
  [withKey('hosts: false, application: false'), '1:8', 'publishes nothing', 'leave out'],
  [account('region: eu, base_url: "https://h"'), '1:50', '"region" and "base_url" exclude'],
  [account('proxy_url: "http://h", proxy_url_file: f'), '1:61', 'exclude each other', 'keep one'],
  [account('proxy_url_env: E, proxy_url_file: f'), '1:56', 'exclude each other'],
  [account('api_key_file: k'), '1:38', '"api_key_env" and "api_key_file" exclude'],
  [`accounts: [{name: a}]\n${apps}`, '1:12', 'an account needs one of "api_key_file"'],
  [twoAccounts.replace('cd', 'ab') + `\n${apps}`, '1:47', 'already has the name "ab"'],
  [`${twoAccounts}\napps: [{id: 1, account: ac}]`, '2:25', 'did you mean "ab"?'],
  [`${twoAccounts}\n${apps}`, '2:8', 'missing key "account"', '"ab", "cd"'],
  [account('source: nerdgraph'), '1:46', 'needs "account_id"', 'check-config --online'],
  [
    account('source: nerdgraph, account_id: 1, concurrency: 26'),
    '1:85',
    'at most 25 with "source: nerdgraph"',
  ],
];

const secrets: readonly Row[] = [
  [`accounts: [{name: a, api_key: hunter2}]\n${apps}`, '1:22', 'must not be in this file'],
  [account('Api-Key: abc'), '1:38', '"api_key_file"', '"api_key_env"'],
  [account('api_key_file: NRAK-1234'), '1:38 1:52', 'must not be in this file'],
  [`token: [abc]\n${apps}`, '1:1', 'must not be in this file'],
  [`NRAK-ABC: 1\n${apps}`, '1:1', 'must not be in this file'],
  [app('name: NRAK-ABC'), '1:15', 'must not be in this file'],
  [withKey('labels: {team: nrak-abc}'), '1:31', 'must not be in this file'],
  [withKey('labels: {token: public}'), '', ''],
];

describe('inspectConfig', () => {
  it.each([...shape, ...ofAccounts, ...regularExpressions, ...references, ...secrets])(
    'finds what is wrong, and where: %s',
    async (text, places, ...facts) => {
      const found = await findingsIn(text);

      expect(placesOf(found)).toBe(places);
      for (const fact of facts) expect(wordsOf(found)).toContain(fact);
      expect(found.filter(({ severity }) => severity !== 'error')).toEqual([]);
    },
  );

  it('shows all problems of a file in one run, in their order', async () => {
    const text = `
accounts:
  - name: a
    api_key_env: A
    region: usa
  - name: a
    base_url: https://user:hunter2@host
poll:
  interval: 60
apps:
  - nmae: shop
    labels: { job: x }
  - id: 1
    match: "("
    acount: b
tokens: 1
`;

    expect(placesOf(await findingsIn(text))).toBe(
      '5:13 6:5 6:11 7:15 9:13 11:5 12:15 14:5 14:12 15:5 16:1',
    );
    expect(await failureOf(text)).not.toContain('hunter2');
  });

  it('shows the first fifty errors, and how many more there are', slow, async () => {
    const message = await failureOf(`apps:\n${'  - idd: 1\n'.repeat(1000)}`);

    expect(message.match(/unknown key "idd"/gu)).toHaveLength(50);
    expect(message.endsWith('and 950 more: newrelic-exporter check-config shows all')).toBe(true);
  });

  it('reports a wrong value with an anchor once, at its place', async () => {
    const text = 'apps:\n  - {id: 1, labels: &l {a: 1}}\n  - {id: 2, labels: *l}\n';

    expect(placesOf(await findingsIn(text))).toBe('2:28');
  });

  it.each([
    { text: `accounts: [{name: a, api_key: hunter2}]\n${apps}` },
    { text: `accounts: [{name: a, name2: x}]\n${apps}\napi_key: |\n  x\n  hunter2\n` },
    { text: 'accounts:\n  - { name: a, api_key: hunter2 }\n  : [' },
    { text: account('proxy_url: "http://user:hunter2@h:1/x"') },
    { text: account('proxyUrl: user:hunter2@h:1') },
    { text: account('proxy_url_env: user:hunter2@h:1') },
    { text: account('proxy_url_file: user:hunter2@h:1') },
    { text: account('proxy_password: hunter2') },
    { text: `x: &k hunter2\napi_key: *k\n${apps}` },
  ])('never shows the secret of $text', async ({ text }) => {
    expect(await failureOf(text)).not.toContain('hunter2');
  });

  it(
    'looks for a similar account only for the errors that are shown, and names ten',
    slow,
    async () => {
      const names = Array.from({ length: 1000 }, (_, index) => `account${index}`);
      const accounts = names.map((name) => `  - { name: ${name}, api_key_env: KEY }\n`).join('');
      const entries = names.map((name) => `  - { id: 1, account: ${name}x }\n`).join('');

      const failure = await failureOf(`accounts:\n${accounts}apps:\n${entries}  - id: 1\n`);
      const missing = await failureOf(`accounts:\n${accounts}apps: [{ id: 1 }]`);

      expect(failure.match(/= help: did you mean "account/gu)).toHaveLength(50);
      expect(failure.split('\n').at(-1)).toBe(
        'and 951 more: newrelic-exporter check-config shows all',
      );
      expect(missing).toMatch(/several accounts: "account0", .*"account9" and 990 more$/u);
    },
  );
});
