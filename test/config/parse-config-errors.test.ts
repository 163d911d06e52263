import { describe, expect, it } from 'vitest';
import { failureOf, headlinesOf } from './config-failure.ts';

const apps = 'apps: [{id: 1}]';

/** A file with one app, written as a flow map. */
function app(keys: string): string {
  return `apps: [{${keys}}]`;
}

/** A file with one account, written as a flow map. */
function account(keys: string): string {
  return `accounts: [{name: a, ${keys}}]\n${apps}`;
}

/** A file with a valid account that has some more keys. */
function accountWith(keys: string): string {
  return account(`api_key_env: KEY, ${keys}`);
}

const secretHelp =
  '    = help: put the key into a file and name it with "api_key_file", or into an environment variable and name that with "api_key_env"';

describe('parseConfig, with errors', () => {
  it.each([
    {
      name: 'an unknown key',
      text: 'apps:\n  - nmae: shop\n',
      message:
        'config.yaml:2:5: unknown key "nmae"\n  2 |   - nmae: shop\n    |     ^^^^\n    = help: did you mean "name"?',
    },
    {
      name: 'an unknown key without a similar one',
      text: `${apps}\nsink: x\n`,
      message:
        'config.yaml:2:1: unknown key "sink"\n  2 | sink: x\n    | ^^^^\n    = help: the keys here are accounts, poll, apps',
    },
    {
      name: 'a missing list of apps',
      text: 'poll:\n  raw: true\n',
      message: 'config.yaml:1:1: missing key "apps"\n  1 | poll:\n    | ^^^^^',
    },
    {
      name: 'a number without a unit',
      text: `poll:\n  interval: 60\n${apps}`,
      message:
        'config.yaml:2:13: "interval" needs a unit: ms, s, m or h, such as 60s\n  2 |   interval: 60\n    |             ^^',
    },
    {
      name: 'a label value that is not a text',
      text: app('id: 1, labels: {tier: 1}'),
      message:
        'config.yaml:1:31: "tier" must be a string, not 1\n  1 | apps: [{id: 1, labels: {tier: 1}}]\n    |                               ^\n    = help: put it in quotes: "1"',
    },
    {
      name: 'an unknown account',
      text: `accounts:\n  - {name: production, api_key_env: KEY}\napps:\n  - {id: 1, account: prodution}\n`,
      message:
        'config.yaml:4:22: unknown account "prodution"\n  4 |   - {id: 1, account: prodution}\n    |                      ^^^^^^^^^\n    = help: did you mean "production"?',
    },
    {
      name: 'an invalid regular expression',
      text: app('match: "shop-("'),
      message:
        'config.yaml:1:16: "match" is not a valid regular expression: missing closing )\n  1 | apps: [{match: "shop-("}]\n    |                ^^^^^^^^\n    = help: the syntax is that of RE2, as in Prometheus',
    },
    {
      name: 'a key in the file',
      text: account('api_key: NRAK-1234'),
      message: `config.yaml:1:22: the API key must not be in this file\n  1 | accounts: [{name: a, api_key: ***********\n    |                      ^^^^^^^\n${secretHelp}`,
    },
    {
      name: 'an API key in place of a file name',
      text: account('api_key_file: NRAK-1234'),
      message: `config.yaml:1:36: the API key must not be in this file\n  1 | accounts: [{name: a, api_key_file: ***********\n    |                                    ^^^^^^^^^\n${secretHelp}`,
    },
  ])('explains $name in full', async ({ text, message }) => {
    expect(await failureOf(text)).toBe(message);
  });

  it.each([
    // The shape
    { text: 'apps: []', headline: '1:7: "apps" must not be empty' },
    { text: 'apps:', headline: '1:1: "apps" must be a list, not nothing' },
    { text: 'apps: {id: 1}', headline: '1:7: "apps" must be a list, not a map' },
    { text: 'apps: [1]', headline: '1:8: each entry of "apps" must be a map, not 1' },
    { text: `poll: []\n${apps}`, headline: '1:7: "poll" must be a map, not a list' },
    { text: `accounts: []\n${apps}`, headline: '1:11: "accounts" must not be empty' },
    { text: `app:\n${apps}`, headline: '1:1: unknown key "app"' },
    { text: 'app: [{id: 1}]', headline: '1:1: unknown key "app"' },
    { text: `1: 2\n${apps}`, headline: '1:1: unknown key "1"' },
    // Selectors
    {
      text: app('id: 0'),
      headline: '1:13: "id" must be a whole number of at least 1, such as 31584797',
    },
    {
      text: app('id: 1.5'),
      headline: '1:13: "id" must be a whole number of at least 1, such as 31584797',
    },
    {
      text: app('id: 1e17'),
      headline: '1:13: "id" must be a whole number of at least 1, such as 31584797',
    },
    {
      text: app('id: -5'),
      headline: '1:13: "id" must be a whole number of at least 1, such as 31584797',
    },
    {
      text: app('id: "007"'),
      headline: '1:13: "id" must be a whole number of at least 1, such as 31584797',
    },
    {
      text: app('id: shop'),
      headline: '1:13: "id" must be a whole number of at least 1, such as 31584797',
    },
    { text: app('id: 1, name: x'), headline: '1:16: "id" and "name" exclude each other' },
    { text: app('hosts: true'), headline: '1:8: an app needs one of "id", "name" and "match"' },
    { text: app('name: ""'), headline: '1:15: "name" must not be empty' },
    { text: app('name: 5'), headline: '1:15: "name" must be a string, not 5' },
    { text: app('name: "a\\nb"'), headline: '1:15: "name" must not hold control characters' },
    { text: app('name: "\\ud800"'), headline: '1:15: "name" must not hold control characters' },
    { text: app('match: ""'), headline: '1:16: "match" must not be empty' },
    {
      text: app('match: "(?<n>a)(?<n>b)"'),
      headline: '1:16: "match" is not a valid regular expression: duplicate capture group name',
    },
    // Labels
    {
      text: app('id: 1, labels: {a-b: x}'),
      headline:
        '1:25: "a-b" is not a valid label name: use letters, digits and "_", not starting with a digit',
    },
    {
      text: app('id: 1, labels: {__a: x}'),
      headline:
        '1:25: "__a" is not allowed as a label name: Prometheus keeps names that start with "__" for itself',
    },
    {
      text: app('id: 1, labels: {host_id: x}'),
      headline:
        '1:25: "host_id" is not allowed as a label name: the exporter sets this label itself',
    },
    {
      text: app('id: 1, labels: {job: x}'),
      headline:
        '1:25: "job" is not allowed as a label name: it is a common label of scrape targets, so Prometheus would rename it',
    },
    { text: app('id: 1, labels: {a: true}'), headline: '1:28: "a" must be a string, not true' },
    { text: app('id: 1, labels: {a: ""}'), headline: '1:28: "a" must not be empty' },
    { text: app('id: 1, labels: [a]'), headline: '1:24: "labels" must be a map, not a list' },
    // Other keys of an app
    ...['"no"', '[self]', '{}', '{ match: "" }', '{ match: a, more: b }', '{ match: 1 }'].map(
      (hosts) => ({
        text: app(`id: 1, hosts: ${hosts}`),
        headline:
          '1:23: "hosts" must be true, false, self or a map with the key "match" and a regular expression',
      }),
    ),
    {
      text: app('id: 1, hosts: { match: "a(" }'),
      headline: '1:32: "match" is not a valid regular expression: missing closing )',
    },
    {
      text: app('id: 1, hosts: false, application: false'),
      headline: '1:8: an app without the application and without hosts publishes nothing',
    },
    {
      text: app('id: 1, application: 0'),
      headline: '1:29: "application" must be true or false, not 0',
    },
    { text: app('id: 1, transactions: []'), headline: '1:30: "transactions" must not be empty' },
    {
      text: app('id: 1, transactions: [wbe]'),
      headline: '1:31: each entry of "transactions" must be web or other, not "wbe"',
    },
    {
      text: app('id: 1, transactions: [web, web]'),
      headline: '1:36: each entry of "transactions" must appear only once',
    },
    { text: app('id: 1, interval: 500ms'), headline: '1:26: "interval" must be at least 1s' },
    { text: app('id: 1, interval: 25h'), headline: '1:26: "interval" must be at most 24h' },
    { text: app('id: 1, window: 59s'), headline: '1:24: "window" must be at least 1m' },
    {
      text: app('id: 1, window: vendor'),
      headline:
        '1:24: "window" must be a duration of whole numbers with the units h, m, s and ms, such as 1h30m',
    },
    {
      text: app('id: 1, delay: -1m'),
      headline:
        '1:23: "delay" must be a duration of whole numbers with the units h, m, s and ms, such as 1h30m',
    },
    { text: app('id: 1, stale_after: 0s'), headline: '1:29: "stale_after" must be at least 1s' },
    // Accounts
    {
      text: account('region: us'),
      headline: '1:12: an account needs one of "api_key_file" and "api_key_env"',
    },
    {
      text: account('api_key_env: A, api_key_file: b'),
      headline: '1:38: "api_key_env" and "api_key_file" exclude each other',
    },
    {
      text: account('api_key_env: $KEY'),
      headline:
        '1:35: "api_key_env" must be the name of an environment variable, such as NEW_RELIC_API_KEY',
    },
    { text: `accounts: [{api_key_env: A}]\n${apps}`, headline: '1:12: missing key "name"' },
    {
      text: accountWith('region: eu, base_url: "https://h"'),
      headline: '1:52: "region" and "base_url" exclude each other',
    },
    { text: accountWith('region: ue'), headline: '1:48: "region" must be us or eu, not "ue"' },
    {
      text: accountWith('api_key_header: api-key'),
      headline: '1:56: "api_key_header" must be Api-Key or X-Api-Key, not "api-key"',
    },
    {
      text: accountWith('requests_per_minute: 0'),
      headline:
        '1:61: "requests_per_minute" must be a whole number from 1 to 9007199254740991, not 0',
    },
    {
      text: accountWith('requests_per_minute: 1.5'),
      headline:
        '1:61: "requests_per_minute" must be a whole number from 1 to 9007199254740991, not 1.5',
    },
    {
      text: accountWith('requests_per_minute: "9"'),
      headline:
        '1:61: "requests_per_minute" must be a whole number from 1 to 9007199254740991, not "9"',
    },
    {
      text: accountWith('requests_per_minute: 99999999999999999999'),
      headline:
        '1:61: "requests_per_minute" must be a whole number from 1 to 9007199254740991, not 99999999999999999999',
    },
    {
      text: accountWith('concurrency: 101'),
      headline: '1:53: "concurrency" must be a whole number from 1 to 100, not 101',
    },
    {
      text: accountWith('timeout: 30'),
      headline: '1:49: "timeout" needs a unit: ms, s, m or h, such as 30s',
    },
    { text: accountWith('timeout: 11m'), headline: '1:49: "timeout" must be at most 10m' },
    {
      text: accountWith('base_url: ftp://h'),
      headline: '1:50: "base_url" must be a URL such as https://api.newrelic.com',
    },
    {
      text: accountWith('base_url: "https://h:99999"'),
      headline: '1:50: "base_url" must be a URL such as https://api.newrelic.com',
    },
    {
      text: accountWith('base_url: 5'),
      headline: '1:50: "base_url" must be a URL such as https://api.newrelic.com',
    },
    {
      text: accountWith('base_url: "https://u:p@h"'),
      headline: '1:50: "base_url" must not hold a user name or password',
    },
    {
      text: accountWith('base_url: "https://h/?"'),
      headline: '1:50: "base_url" must end with the host or a path: no "?" and no "#"',
    },
    {
      text: accountWith('base_url: "https://h/#x"'),
      headline: '1:50: "base_url" must end with the host or a path: no "?" and no "#"',
    },
    {
      text: accountWith('proxy_url: "socks5://h:1"'),
      headline: '1:51: "proxy_url" must be a URL such as http://proxy:3128',
    },
    {
      text: accountWith('proxy_url: "http://u:p@h/x"'),
      headline: '1:51: "proxy_url" must end with the host and the port',
    },
    { text: accountWith('ca_file: ""'), headline: '1:49: "ca_file" must not be empty' },
    // References
    { text: app('id: 1, account: b'), headline: '1:25: unknown account "b"' },
    {
      text: `${account('api_key_env: A')}\n`.replace(apps, app('id: 1, account: b')),
      headline: '2:25: unknown account "b"',
    },
    {
      text: `accounts: [{name: a, api_key_env: A}, {name: b, api_key_env: B}]\n${apps}`,
      headline: '2:8: missing key "account"',
    },
    {
      text: `accounts: [{name: a, api_key_env: A}, {name: a, api_key_env: B}]\n${apps}`,
      headline: '1:46: an earlier account already has the name "a"',
    },
    // API keys in the file
    {
      text: accountWith('Api-Key: abc'),
      headline: '1:40: the API key must not be in this file',
    },
    { text: `token: [abc]\n${apps}`, headline: '1:1: the API key must not be in this file' },
    { text: app('name: NRAK-ABC'), headline: '1:15: the API key must not be in this file' },
    {
      text: app('id: 1, labels: {team: nrak-abc}'),
      headline: '1:31: the API key must not be in this file',
    },
    { text: `NRAK-ABC: 1\n${apps}`, headline: '1:1: the API key must not be in this file' },
  ])('$text gives $headline', async ({ text, headline }) => {
    expect(await headlinesOf(text)).toStrictEqual([`config.yaml:${headline}`]);
  });

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

    expect(await headlinesOf(text)).toStrictEqual([
      'config.yaml:5:13: "region" must be us or eu, not "usa"',
      'config.yaml:6:5: an account needs one of "api_key_file" and "api_key_env"',
      'config.yaml:6:11: an earlier account already has the name "a"',
      'config.yaml:7:15: "base_url" must not hold a user name or password',
      'config.yaml:9:13: "interval" needs a unit: ms, s, m or h, such as 60s',
      'config.yaml:11:5: unknown key "nmae"',
      'config.yaml:12:15: "job" is not allowed as a label name: it is a common label of scrape targets, so Prometheus would rename it',
      'config.yaml:14:5: "id" and "match" exclude each other',
      'config.yaml:14:12: "match" is not a valid regular expression: missing closing )',
      'config.yaml:15:5: unknown key "acount"',
      'config.yaml:16:1: unknown key "tokens"',
    ]);
    expect(await failureOf(text)).not.toContain('hunter2');
  });

  it.each([
    {
      written: '0x10',
      headline: 'config.yaml:1:13: "id" must be written in decimal digits only',
    },
    {
      written: '1_000',
      headline: 'config.yaml:1:13: "id" must be a whole number of at least 1, such as 31584797',
    },
    {
      written: '10000000000000000000',
      headline: 'config.yaml:1:13: "id" must have at most 19 digits',
    },
  ])('refuses the id $written', async ({ written, headline }) => {
    expect(await headlinesOf(`apps: [{id: ${written}}]`)).toStrictEqual([headline]);
  });

  it('suggests a valid interval for a zero', async () => {
    const [headline = ''] = await headlinesOf('poll: {interval: 0}\napps: [{id: 1}]');
    const suggested = headline.split(' ').at(-1);

    expect(headline).toContain('"interval" needs a unit: ms, s, m or h, such as ');
    expect(await headlinesOf(`poll: {interval: ${suggested}}\napps: [{nmae: x}]`)).toStrictEqual([
      'config.yaml:2:9: unknown key "nmae"',
    ]);
  });

  it('shows the first fifty errors, and how many more there are', async () => {
    const text = `apps:\n${'  - idd: 1\n'.repeat(1000)}`;

    const message = await failureOf(text);

    expect(message.match(/unknown key "idd"/gu)).toHaveLength(50);
    expect(message.endsWith('and 950 more')).toBe(true);
  });

  it('reports a wrong value with an anchor once, at its place', async () => {
    const text = 'apps:\n  - {id: 1, labels: &l {a: 1}}\n  - {id: 2, labels: *l}\n';

    expect(await headlinesOf(text)).toStrictEqual([
      'config.yaml:2:28: "a" must be a string, not 1',
    ]);
  });

  it.each([
    { text: account('api_key: hunter2') },
    { text: `${account('name2: x')}\napi_key: |\n  x\n  hunter2\n` },
    { text: `accounts:\n  - { name: a, api_key: hunter2 }\n  : [` },
    { text: accountWith('proxy_url: "http://user:hunter2@h:1/x"') },
    { text: `x: &k hunter2\napi_key: *k\n${apps}` },
  ])('never shows the secret of $text', async ({ text }) => {
    expect(await failureOf(text)).not.toContain('hunter2');
  });
});
