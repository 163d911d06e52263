import { describe, expect, it } from 'vitest';
import { findingsIn, placesOf, type Row, wordsOf } from './config-failure.ts';

const apps = 'apps: [{id: 1}]';

function account(keys: string): string {
  return `accounts: [{name: a, api_key_env: A, ${keys}}]\n${apps}`;
}

/** A file with two accounts, and an entry of each. */
function accounts(first: string, second: string): string {
  return `accounts: [{name: a, ${first}}, {name: b, ${second}}]\napps: [{id: 1, account: a}, {id: 1, account: b}]`;
}

const nerdgraph = 'api_key_env: K, source: nerdgraph, account_id:';

function named(value: string, as: string, scale = 1): string {
  return `apps: [{id: 1, metrics: [{metric: M, value: ${value}, scale: ${scale}, as: ${as}}]}]`;
}

function queried(nrql: string, as: string): string {
  return `accounts: [{name: a, ${nerdgraph} 1}]\nqueries: [{as: ${as}, nrql: "${nrql}"}]`;
}

const cases: readonly Row[] = [
  [named('count', 'newrelic_calls'), '1:66', 'begins like the exporter', 'a name of your own'],
  [
    named('count', 'newrelic_application_calls'),
    '1:66',
    '"newrelic_application_calls" begins like',
  ],
  [
    queried('SELECT count(*) FROM T', 'newrelic_calls'),
    '2:16',
    'a later version may have it',
    'a name of your own',
  ],
  [
    queried('SELECT count(*) AS n FROM T', '{ n: newrelic_calls }'),
    '2:21',
    '"newrelic_calls" begins like',
  ],

  [account('requests_per_minute: 1001'), '1:59', "above 1000, New Relic's quota for one key"],
  [
    account('source: nerdgraph, account_id: 1, requests_per_minute: 3001'),
    '1:93',
    "above 3000, New Relic's quota of NRQL",
  ],
  [account('base_url: "http://gateway"'), '1:48', 'plain http', 'use https'],
  [account('base_url: "https://insights-api.newrelic.com"'), '1:48', 'not New Relic', '"region"'],
  [
    account('base_url: "https://api.newrelic.com"'),
    '1:48',
    '"base_url" is New',
    'write region: us',
  ],
  [
    account('base_url: "https://api.eu.newrelic.com/"'),
    '1:48',
    '"base_url" is New',
    'write region: eu',
  ],
  [
    account('base_url: "https://API.jp.newrelic.com"'),
    '1:48',
    '"base_url" is New',
    'write region: jp',
  ],
  [
    account('base_url: "https://gov-api.newrelic.com"'),
    '1:48',
    '"base_url" is New',
    'write region: gov',
  ],
  [account('proxy_url: "http://u:p@h:1"'), '1:49', '"proxy_url" holds a login', '"proxy_url_file"'],
  [account('proxy_url: "http://u@h:1"'), '1:49', 'holds a login', '"proxy_url_env"'],
  [`poll: {delay: 0s}\n${apps}`, '1:15', '"delay" is under 60s', 'too low'],
  ['apps: [{name: shop-*}]', '1:15', '"name" has a star', '"match"'],
  [named('count', 'x', 1).replace('metric: M', 'metric: A/*'), '1:35', '"metric" has a star'],
  [
    accounts('api_key_env: K', 'api_key_env: K'),
    '1:62',
    'the accounts "a" and "b" have the same API key',
    'its own key',
  ],
  [accounts('api_key_file: k', 'api_key_file: k'), '1:64', 'the same API key'],
  [
    accounts(`${nerdgraph} 1`, `${nerdgraph} 1`),
    '1:96',
    'the same API key and the same account_id',
  ],
  [`poll: {interval: 30s}\n${apps}`, '1:18', '"interval" is under 60s'],
  [`poll: {interval: 2m, stale_after: 30s}\n${apps}`, '1:35', '(30s) is not longer', 'least 4m'],
  [
    'apps: [{id: 1, interval: 30m}]',
    '1:26 1:26',
    '"stale_after" (15m) is not longer',
    'least 1h',
    '"interval" (30m) is longer than "window" (5m)',
  ],
  [
    `accounts: [{name: a, api_key_env: K, source: nerdgraph, account_id: 1}]\nqueries: [{as: q, nrql: SELECT count(*) FROM A, interval: 1h}]`,
    '2:59 2:59',
    '"stale_after" (15m) is not longer',
    'least 2h',
  ],
  [
    'poll: {stale_after: 10m}\napps: [{id: 1, interval: 30m}]',
    '2:26 2:26',
    '(10m) is not longer',
    'least 1h',
  ],
  ['apps: [{id: 1}, {id: 1}]', '1:22', 'an earlier entry already has the selector id=1'],
  ['apps: [{match: .*}, {id: 1}, {match: ^a}]', '1:26 1:38', 'match=.* already selects every'],
  ['apps: [{match: .}, {id: 1, exclude: true}]', '1:25', 'already selects', 'put it before'],
  [
    'apps: [{match: ., exclude: true}, {id: 1001}]',
    '1:40',
    'match=. excludes every application: this one has no effect',
  ],
  ['apps: [{id: 1, exclude: true}, {id: 1}]', '1:37', 'an earlier entry already has the selector'],
  ['apps: [{match: "shop-*"}]', '1:16', '"match" has a star', 'write ".*": "shop-.*"'],
  ['apps: [{id: 1, hosts: {exclude: ^web*}}]', '1:33', '"exclude" has a star', '"^web.*"'],
  ['apps: [{match: /^shop/i}]', '1:16', 'between slashes', 'write "(?i)^shop"'],
  ['apps: [{match: /a|b/}]', '1:16', 'between slashes', 'write "a|b"'],
  [
    'apps: [{id: 1, window: default, delay: 5m}]',
    '1:40',
    'no effect with "window: default"',
    '30m',
  ],
  [`poll: {window: default, delay: 5m}\n${apps}`, '1:32', 'the REST API chooses both ends'],
  ['poll: {window: default}\napps: [{id: 1, delay: 5m}]', '2:23', 'no effect'],
  [
    accounts('api_key_env: A', 'api_key_env: B').replace(', {id: 1, account: b}', ''),
    '1:46',
    'the account "b": it is not polled',
    'remove the account',
  ],
  [named('average_response_time', 'x_ms'), '1:82', 'in "_ms", but the values are seconds'],
  [named('average_time', 'x_ms'), '1:73', '"as: x_seconds" or "scale: 1000"'],
  [named('average_time', 'x_seconds', 1000), '1:76', 'seconds × 1000', '"as: x_milliseconds"'],
  [named('percent', 'x_percent'), '1:68', 'are ratios', '"as: x_ratio" or "scale: 100"'],
  [named('call_count', 'x_per_minute'), '1:71', 'are numbers'],
  [named('errors_per_minute', 'x_per_second'), '1:78', 'are rates per minute'],
  [named('total_used_mb', 'x_seconds'), '1:74', 'are bytes', '"as: x_bytes"'],
  [named('count', '_ms'), '1:66', 'are numbers'],
  [
    queried('SELECT average(duration) FROM Transaction', 'x_ms'),
    '2:16',
    'in "_ms", but the values are seconds',
    'write "as: x_seconds" or "duration * 1000"',
  ],
  [
    queried(
      'SELECT max(d) AS a, percentile(`backendDuration`, 9) AS b FROM Transaction, PageView',
      '{a: a_ms, b: b_ms}',
    ),
    '2:16',
    '"as: b_seconds" or "backendDuration * 1000"',
  ],
];

describe('inspectConfig', () => {
  it.each(cases)(
    'warns of what is probably not meant, and where: %s',
    async (text, places, ...facts) => {
      const found = await findingsIn(text);

      expect(placesOf(found)).toBe(places);
      for (const fact of facts) expect(wordsOf(found)).toContain(fact);
      expect(found.filter(({ severity }) => severity !== 'warning')).toEqual([]);
    },
  );

  it('warns once of a list with an alias', async () => {
    const list = '&m [{metric: M, value: s, as: x_ms}]';
    const text = `poll: {metrics: ${list}}\napps: [{id: 1}, {id: 2, metrics: *m}]`;

    expect(placesOf(await findingsIn(text))).toBe('1:47');
  });

  it.each([
    { text: account('requests_per_minute: 1000') },
    { text: account('source: nerdgraph, account_id: 1, requests_per_minute: 3000') },
    ...['http://localhost:8080', 'http://127.0.0.2', 'http://[::1]:1', 'https://gateway'].map(
      (url) => ({ text: account(`base_url: "${url}"`) }),
    ),
    { text: accounts('api_key_env: A', 'api_key_env: B') },
    { text: accounts('api_key_env: A', 'api_key_env: A, region: eu') },
    { text: accounts('api_key_env: K', `${nerdgraph} 1`) },
    { text: accounts(`${nerdgraph} 1`, `${nerdgraph} 2`) },
    { text: 'poll: {interval: 2m, stale_after: 121s}\napps: [{id: 1}]' },
    { text: 'poll: {interval: 30m}\napps: [{id: 1, interval: 1m}]' },
    { text: 'apps: [{name: "US$ rates"}, {name: $}, {match: "^shop$"}, {match: $}]' },
    { text: 'apps: [{name: shop-1}, {match: ^shop}, {match: .}]' },
    { text: 'apps: [{match: "^shop-[0-9]$"}, {name: shop-11}, {id: 5}]' },
    { text: accounts('api_key_env: A', 'api_key_env: B').replace('id: 1', 'match: .') },
    {
      text: 'apps: [{match: "shop-.*"}, {match: "^shop-*$"}, {match: /shop/}, {match: /shop/cart}, {match: "[a-z]*"}]',
    },
    { text: 'poll: {window: default}\napps: [{id: 1}]' },
    { text: 'poll: {window: default, delay: 5m}\napps: [{id: 1, window: 5m}, {id: 2}]' },
    {
      text: `accounts: [{name: a, ${nerdgraph} 1}]\napps: [{id: 1, window: default, delay: 5m}]`,
    },
    {
      text: `accounts: [{name: a, ${nerdgraph} 1}]\nqueries: [{as: x, nrql: SELECT count(*) FROM Log}]`,
    },
    { text: named('average_time', 'x_seconds') },
    { text: named('average_time', 'x_ms', 1000) },
    { text: named('average_time', 'x_seconds', 0.125) },
    { text: named('average_time', 'x') },
    { text: named('percent', 'x_percent', 100) },
    { text: named('throughput', 'x_per_minute', 60) },
    { text: named('total_call_time_per_minute', 'x_seconds_per_minute') },
    { text: named('total_call_time_per_minute', 'x_per_minute') },
    { text: named('average_value', 'x_bytes') },
    { text: named('rate', 'x_per_minute') },
    { text: queried('SELECT average(duration) FROM PageView', 'x_seconds') },
    { text: queried('SELECT average(duration * 1000) FROM PageView', 'x_ms') },
    { text: queried('SELECT max(duration) FROM SyntheticCheck', 'x_ms') },
    { text: queried('SELECT max(duration) FROM Transaction, SyntheticCheck', 'x_ms') },
    { text: queried('SELECT max(duration) FROM (SELECT max(duration) FROM PageView)', 'x_ms') },
    { text: queried('SELECT max(bytes) FROM Transaction', 'x_ms') },
    { text: queried('SELECT apdex(duration, t: 1) FROM Transaction', 'x_ratio') },
  ])('does not warn of $text', async ({ text }) => {
    expect(await findingsIn(text)).toEqual([]);
  });
});
