import { metricMessageCases } from './metric-message-cases.ts';

/** A configuration that causes messages. Its file names and variables are read, too. */
export interface MessageCase {
  readonly text: string;
  /** Contents by absolute path, or the code that reading the file fails with. */
  readonly files?: Readonly<Record<string, string | Uint8Array | { readonly code: string }>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Permissions by path. */
  readonly modes?: Readonly<Record<string, number>>;
}

const goodKey = `NRAK-${'A'.repeat(27)}`;
const apps = 'apps: [{id: 1}]';

function rows(...lines: readonly string[]): string {
  return lines.join('\n');
}

/** The text of one entry of `apps`. */
function app(keys: string): MessageCase {
  return { text: `apps: [{${keys}}]` };
}

/** The text of one account with a key. */
function account(keys: string): MessageCase {
  return { text: `accounts: [{name: a, api_key_env: K, ${keys}}]\n${apps}` };
}

/** A good file whose API key is this. */
function key(content: string, rest: Partial<MessageCase> = {}): MessageCase {
  const text = `accounts: [{name: a, api_key_file: /key}]\n${apps}`;
  return { text, files: { '/key': content }, ...rest };
}

/** A good file of which the key file cannot be read. */
function unreadable(code: string): MessageCase {
  return {
    text: `accounts: [{name: a, api_key_file: /key}]\n${apps}`,
    files: { '/key': { code } },
  };
}

const syntax: readonly MessageCase[] = [
  { text: '' },
  { text: '- id: 1' },
  { text: 'apps: [{id: 1}]\n---\nmore: 1' },
  { text: 'apps: [{id: 1}]\napps: []' },
  { text: '? [a]\n: 1\napps: [{id: 1}]' },
  { text: 'apps: *x' },
  { text: `a: &a [${'x,'.repeat(999)}x]\nb: &b [${'*a,'.repeat(99)}*a]\nc: [*b, *b]\n${apps}` },
  { text: `apps: ${'['.repeat(60)}` },
  { text: 'apps:\n\t- id: 1' },
  { text: 'apps: !secret [{id: 1}]' },
  { text: 'apps:\n  - name: @shop' },
  { text: 'apps:\n  - name: Shop: production' },
  { text: 'apps:\n  - match: "\\d+"' },
  { text: 'apps:\n  - name: "x\n    hosts: false' },
  { text: "apps:\n  - name: 'x" },
  { text: 'apps:\n  - id: 1\n    transactions: [web\n  - id: 2' },
  { text: 'apps:\n  - id: 1\n    labels: {a: [b], c: d\n  - id: 2' },
  { text: 'apps:\n  - name: x\n   hosts: false' },
  { text: 'apps:\n  - name: x\n     hosts: false' },
  { text: 'apps:\n  - name: x\n  hosts: false' },
  { text: 'apps:\n- id: 1\n - id: 2' },
  { text: 'apps:\n  - name:x\n    hosts: true' },
  { text: 'apps\n  - id: 1' },
  { text: 'apps:\n  - {id: 1}}' },
];

const shape: readonly MessageCase[] = [
  { text: 'poll: {}' },
  { text: 'apps:' },
  { text: 'apps: []' },
  { text: 'apps: {id: 1}' },
  { text: 'apps:\n  -id: 1' },
  { text: 'apps:\n  - x\n  - 31584797\n  - null\n  -' },
  { text: `poll: []\n${apps}` },
  { text: `sink: 1\n${apps}` },
  { text: 'apps: [{nmae: x}]' },
  { text: 'common: &c {hosts: false}\napps:\n  - <<: *c\n    id: 1' },
  app('id: shop'),
  app('id: 0x10'),
  app(`id: ${'9'.repeat(20)}`),
  app('name: ""'),
  app('name: 5'),
  app('name: "a\\nb"'),
  app('match: 5'),
  app('match: ""'),
  app('id: 1, hosts: flase'),
  app('id: 1, hosts: [x]'),
  app('id: 1, application: 0'),
  app('id: 1, transactions: [wbe]'),
  app('id: 1, transactions: [web, web]'),
  app('id: 1, interval: 60'),
  app('id: 1, interval: 1 minute'),
  app('id: 1, interval: true'),
  app('id: 1, interval: 500ms'),
  app('id: 1, interval: 25h'),
  app('id: 1, interval: "${INTERVAL}"'),
  app('id: 1, labels: {a-b: x}'),
  app('id: 1, labels: {__a: x}'),
  app('id: 1, labels: {app_id: x}'),
  app('id: 1, labels: {job: x}'),
  app('id: 1, labels: {a: 1}'),
  account('region: ue'),
  account('source: graphql'),
  account('api_key_header: x-api-key'),
  account('requests_per_minute: 0'),
  account('concurrency: many'),
  account('account_id: x'),
  account('account_id: 99999999999'),
  account('base_url: ftp://h'),
  account('base_url: "https://u:p@h"'),
  account('base_url: "https://h/?key=x"'),
  account('base_url: "${BASE_URL}"'),
  account('proxy_url: socks5://h:1'),
  account('proxy_url: "http://h/x"'),
  account('proxy_url: "http://u:50%@h"'),
  { text: `accounts: [{name: a, api_key_env: $KEY}]\n${apps}` },
  { text: `accounts: [{name: a, api_key_env: 5}]\n${apps}` },
];

/** Values beside those that are allowed. */
const bounds: readonly MessageCase[] = [
  ...['0', '-5', '1.5', '1e17', '"007"', '1_000'].map((id) => app(`id: ${id}`)),
  ...['"no"', '[self]', '{}', '{ match: "" }', '{ match: a, more: b }', '{ match: "a(" }'].map(
    (hosts) => app(`id: 1, hosts: ${hosts}`),
  ),
  ...['{host_id: x}', '{a: true}', '{a: ""}', '[a]'].map((labels) =>
    app(`id: 1, labels: ${labels}`),
  ),
  ...['window: 59s', 'window: vendor', 'delay: -1m', 'stale_after: 0s', 'transactions: []'].map(
    (setting) => app(`id: 1, ${setting}`),
  ),
  app('name: "\\ud800"'),
  ...[
    'requests_per_minute: 1.5',
    'requests_per_minute: "9"',
    'requests_per_minute: 99999999999999999999',
    'concurrency: 101',
    'timeout: 30',
    'timeout: 11m',
    'region: eu, base_url: "https://h"',
    'base_url: 5',
    'base_url: "https://h:99999"',
    'base_url: "https://h/#x"',
    'proxy_url: "http://u:p@h/x"',
    'ca_file: ""',
    'source: nerdgraph, acount_id: 1',
    'source: nerdgraph, concurrency: 26, retries: 1',
  ].map(account),
  ...['0', '-1', '1.5', '"007"', 'true', '1e17', '2147483648', '0x10'].map((id) =>
    account(`account_id: ${id}`),
  ),
];

/** Keys in the file, wherever they are. */
const secrets: readonly MessageCase[] = [
  account('Api-Key: abc'),
  account('api_key_file: NRAK-1234'),
  { text: `token: [abc]\n${apps}` },
  { text: `NRAK-ABC: 1\n${apps}` },
  app('name: NRAK-ABC'),
  app('id: 1, labels: {team: nrak-abc}'),
];

const patterns: readonly MessageCase[] = [
  'a(',
  'a(?=b)',
  'a(?<!b)',
  '(a)\\\\1',
  '\\\\u0041',
  '\\\\cA',
  '[^]',
  '[]',
  '\\\\p{Script=Greek}',
  '\\\\p{Letter}',
  'a{5,3}',
  '(?>a)',
  '(?:ab){1000}',
  `(?:${'a'.repeat(90)}){1000}`,
  'a'.repeat(2001),
].map((pattern) => app(`match: "${pattern}"`));

const tooManyPatterns = app(
  Array.from({ length: 110 }, (_, index) => `match: "a{1000}b{900}${index + 1000}"`).join('}, {'),
);

const references: readonly MessageCase[] = [
  app('hosts: true'),
  app('id: 1, name: x'),
  app('id: 1, account: b'),
  app('id: 1, hosts: false, application: false'),
  { text: `accounts: [{name: a, region: us}]\n${apps}` },
  { text: `accounts: [{name: a, api_key_env: A}, {name: a, api_key_env: B}]\n${apps}` },
  {
    text: 'accounts: [{name: ab, api_key_env: A}, {name: cd, api_key_env: B}]\napps: [{id: 1, account: ac}]',
  },
  { text: 'accounts: [{name: ab, api_key_env: A}, {name: cd, api_key_env: B}]\napps: [{id: 1}]' },
  { text: `accounts: [{name: a, api_key: hunter2}]\n${apps}` },
  account('source: nerdgraph'),
  account('source: nerdgraph, account_id: 1, concurrency: 26'),
];

const warnings: readonly MessageCase[] = [
  account('requests_per_minute: 1001'),
  account('source: nerdgraph, account_id: 1, requests_per_minute: 3001'),
  account('source: nerdgraph, account_id: 1, base_url: "http://gateway"'),
  {
    text: 'accounts: [{name: a, api_key_env: K}, {name: b, api_key_env: K}]\napps: [{id: 1, account: a}, {id: 2, account: b}]',
  },
  {
    text: 'accounts: [{name: a, api_key_env: K}, {name: b, api_key_env: L}]\napps: [{id: 1, account: a}]',
    env: { K: goodKey, L: goodKey },
  },
  {
    text: rows(
      'accounts:',
      '  - {name: a, api_key_env: K, source: nerdgraph, account_id: 1, concurrency: 20}',
      '  - {name: b, api_key_env: K, source: nerdgraph, account_id: 1, concurrency: 20}',
      'apps: [{id: 1, account: a}, {id: 2, account: b, raw: true}]',
    ),
  },
  {
    text: rows(
      'accounts:',
      '  - {name: a, api_key_env: K, source: nerdgraph, account_id: 1, requests_per_minute: 2000}',
      '  - {name: b, api_key_env: L, source: nerdgraph, account_id: 1, requests_per_minute: 2000}',
      'poll: {raw: true}',
      'apps: [{id: 1, account: a}, {id: 2, account: b}]',
    ),
    env: { K: goodKey, L: goodKey },
  },
  { text: `poll: {interval: 30s, window: 90s}\n${apps}` },
  { text: `poll: {interval: 2m, stale_after: 30s}\n${apps}` },
  app('id: 1, interval: 30m'),
  { text: `poll: {window: default, delay: 5m}\n${apps}` },
  app('id: 1, window: default, delay: 5m'),
  { text: 'apps: [{id: 1}, {id: 2, discovery_interval: 5m}]' },
  app('id: 1, hosts: false, host_names: true'),
  app('id: 1, hosts: self, host_names: false'),
  { text: 'apps:\n  - name: ${APP}\n  - name: $SHOP\n  - match: ${PATTERN}' },
  app('name: " shop "'),
  app('match: "/shop/i"'),
  app('match: "/shop/"'),
  { text: 'apps: [{id: 1}, {id: 1}]' },
  { text: 'apps: [{match: ^shop}, {name: shop-1}]' },
  { text: 'apps: [{match: .*}, {id: 1}]' },
];

const named: readonly MessageCase[] = [
  { text: apps, env: {} },
  key('NRAL-x'),
  key(`${'0'.repeat(36)}NRAL`),
  key('NRII-x'),
  key('NRIQ-x'),
  key('NRRA-x'),
  key('NRAA-x'),
  key('NRJS-x'),
  key('something else'.replace(' ', '-')),
  key('NRAK-SHORT'),
  key('NEW_RELIC_API_KEY=NRAK-X'),
  key('Api-Key: NRAK-X'),
  key('Bearer NRAK-X'),
  key('"NRAK-X"'),
  key('NRAK-A\nNRAK-B'),
  key(''),
  key('x'.repeat(600)),
  { ...key(''), files: { '/key': new Uint8Array([0xff, 0xfe]) } },
  ...['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTREG', 'EFBIG', 'ETIMEDOUT', 'EIO'].map(
    unreadable,
  ),
  key(goodKey, { modes: { '/key': 0o666 } }),
  key(goodKey, { modes: { '/key': 0o644 } }),
  { ...account('ca_file: /ca'), files: { '/ca': 'nothing' } },
  {
    ...account('ca_file: /ca'),
    files: { '/ca': '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----' },
  },
  account('ca_file: /none'),
];

/** A configuration for every message of the configuration file. */
export const messageCases: readonly MessageCase[] = [
  ...syntax,
  ...shape,
  ...bounds,
  ...secrets,
  ...patterns,
  tooManyPatterns,
  ...references,
  ...warnings,
  ...metricMessageCases,
  ...named,
].map((one) => ({ env: { K: goodKey, NEW_RELIC_API_KEY: goodKey }, ...one }));
