import { describe, expect, it } from 'vitest';
import { findingsIn, placesOf, wordsOf } from './config-failure.ts';
import { entry, nerdgraph, ofAccount, ofEntry, ofQuery, type Row, two, words } from './people.ts';
import { elsewhere } from './people-elsewhere.ts';

/** A map where a list is wanted, and a list or a map where something else is. */
const forms: readonly Row[] = [
  [
    `accounts: { name: p, api_key_env: KEY }\n${entry}`,
    '1:11',
    '"accounts" must be a list, not a map',
    'accounts: { name: p, api_key_env: KEY }',
    'accounts: [{ name: p, api_key_env: KEY }]',
  ],
  [
    'apps: { match: "." }',
    '1:7',
    '"apps" must be',
    'apps: { match: "." }',
    'apps: [{ match: "." }]',
  ],
  [
    `accounts: { production: { api_key_env: KEY }, test: { api_key_env: OTHER, region: eu } }\napps: [{ id: 1, account: production }, { id: 1, account: test }]`,
    '1:11',
    'must be a list',
    'accounts: { production: { api_key_env: KEY }, test: { api_key_env: OTHER, region: eu } }',
    'accounts: [{ name: production, api_key_env: KEY }, { name: test, api_key_env: OTHER, region: eu }]',
  ],
  [
    `${nerdgraph}\nqueries: { shop_x: SELECT count(*) FROM Log }`,
    '2:10',
    '"queries" must be a list',
    'queries: { shop_x: SELECT count(*) FROM Log }',
    'queries: [{ as: shop_x, nrql: SELECT count(*) FROM Log }]',
  ],
  [
    'apps: { Checkout: { hosts: false } }',
    '1:7',
    '"apps" must be a list',
    'apps: { Checkout: { hosts: false } }',
    'apps: [{ name: Checkout, hosts: false }]',
  ],
  [
    ofEntry('metrics: { metric: Custom/A, value: call_count, as: a }'),
    '1:26',
    '"metrics" must be a list',
    'metrics: { metric: Custom/A, value: call_count, as: a }',
    'metrics: [{ metric: Custom/A, value: call_count, as: a }]',
  ],
  [
    `include: { teams: a.yaml }\n${entry}`,
    '1:10',
    '"include" must be a list',
    'include: { teams: a.yaml }',
    'include: [teams/*.yaml]',
  ],
  [
    'apps: [{ match: [^a, ^b], hosts: false }]',
    '1:17',
    '"match" must be a regular expression',
    '{ match: [^a, ^b], hosts: false }',
    ['{ match: ^a, hosts: false }', '{ match: ^b, hosts: false }'],
  ],
  [
    'apps: [{ name: [a, b] }]',
    '1:16',
    '"name" must be a string',
    '{ name: [a, b] }',
    ['{ name: a }', '{ name: b }'],
  ],
  [
    'apps: [{ id: [11, 12, 13] }]',
    '1:14',
    '"id" must be a whole number',
    '{ id: [11, 12, 13] }',
    ['{ id: 11 }', '{ id: 12 }'],
  ],
  [
    `${two}\napps: [{ match: ., account: [p, q] }]`,
    '2:29',
    '"account" must be a string',
    '{ match: ., account: [p, q] }',
    ['{ match: ".", account: p }', '{ match: ".", account: q }'],
  ],
  [
    `${two}\napps: [{ match: ., account: "*" }]`,
    '2:29',
    'unknown account "*"',
    '{ match: ., account: "*" }',
    ['{ match: ".", account: p }', '{ match: ".", account: q }'],
  ],
  [
    `${two}\napps: [{ match: ., account: "p, q" }]`,
    '2:29',
    'unknown account "p, q"',
    '{ match: ., account: "p, q" }',
    ['{ match: ".", account: p }', '{ match: ".", account: q }'],
  ],
  ...['all', '["*"]'].map(
    (account): Row => [
      `${two}\nqueries: [{ as: g, nrql: SELECT count(*) FROM Log, account: ${account} }]`,
      account === 'all' ? '2:61' : '2:62',
      'unknown account',
      `account: ${account}`,
      'account: "*"',
    ],
  ),
  [
    `${two}\nqueries: [{ as: g, nrql: SELECT count(*) FROM Log, account: "p,q" }]`,
    '2:61',
    'unknown account "p,q"',
    'account: "p,q"',
    'account: [p, q]',
  ],
  [ofEntry('labels: [team=a]'), '1:25', 'must be a map', 'labels: [team=a]', 'labels: { team: a }'],
  [ofEntry('labels: team=a'), '1:25', 'must be a map', 'labels: team=a', 'labels: { team: a }'],
  [
    ofEntry('labels: [{ team: a }, { tier: b }]'),
    '1:25',
    'must be a map',
    'labels: [{ team: a }, { tier: b }]',
    'labels: { team: a, tier: b }',
  ],
  [
    ofEntry('labels: [{ name: team, value: a }]'),
    '1:25',
    'must be a map',
    'labels: [{ name: team, value: a }]',
    'labels: { team: a }',
  ],
  [ofEntry('hosts: no'), '1:24', '"hosts" must be', 'hosts: no', 'hosts: false'],
  [ofEntry('hosts: "false"'), '1:24', '"hosts" must be', 'hosts: "false"', 'hosts: false'],
  [ofEntry('hosts: all'), '1:24', '"hosts" must be', 'hosts: all', 'hosts: true'],
  [
    ofEntry('hosts: [web-1, web.2]'),
    '1:24',
    '"hosts" must be',
    'hosts: [web-1, web.2]',
    'hosts: { match: ^(?:web-1|web\\.2)$ }',
  ],
  [ofEntry('application: yes'), '1:30', 'true or false', 'application: yes', 'application: true'],
  [ofEntry('raw: "on"'), '1:22', 'true or false', 'raw: "on"', 'raw: true'],
  [`poll: 2m\n${entry}`, '1:7', '"poll" must be a map', 'poll: 2m', 'poll: { interval: 2m }'],
  [
    'apps: [{ match: { regex: ^shop } }]',
    '1:17',
    '"match" must be a regular expression',
    'match: { regex: ^shop }',
    'match: ^shop',
  ],
  [
    'apps: ["31584797"]',
    '1:8',
    'must be a map',
    '"31584797"',
    '- id: "31584797"',
    '{ id: "31584797" }',
  ],
];

/** Accepted, or refused since it can never work. */
const meant: readonly Row[] = [
  ...(
    [
      ['labels: { env: "${ENV}" }', '1:32'],
      ['labels: { env: "$(ENV)" }', '1:32'],
      ['labels: { env: $ENV }', '1:32'],
      ['labels: { env: "${ENV:-dev}" }', '1:32'],
    ] as const
  ).map(
    ([keys, place]): Row => [
      ofEntry(keys),
      place,
      '"env" has a variable in it',
      /(?<= )"?\$.*(?= \})/u.exec(keys)?.[0] ?? '',
      'variables such as $ENV are not replaced in this file: write the value itself',
      'production',
    ],
  ),
  [
    ofEntry('labels: { team: "{{ .Tags.team }}" }'),
    '1:33',
    'has a variable',
    '"{{ .Tags.team }}"',
    'templates such as {{ .Tags.team }} are not replaced',
    'production',
  ],
  [
    'apps: [{ name: "shop-${ENV}" }]',
    '1:16',
    '"name" has a',
    '"shop-${ENV}"',
    '$ENV are not replaced',
    'production',
  ],
  [
    ofQuery('help: "Of ${ENV}"'),
    '2:58',
    '"help" has a',
    '"Of ${ENV}"',
    '$ENV are not replaced',
    'production',
  ],
  [
    ofAccount('base_url: https://gateway/nr/v2'),
    '1:51',
    'has a path of the API',
    'https://gateway/nr/v2',
    'https://gateway/nr',
  ],
  [
    ofAccount('base_url: https://api.eu.newrelic.com/graphql'),
    '1:51',
    'has a path of the API',
    'base_url: https://api.eu.newrelic.com/graphql',
    'region: eu',
  ],
  [
    ofQuery('window: 31d'),
    '2:60',
    '"window" (31d) is summed up again at each "interval" (1m)',
    'window: 31d',
    'interval: 1h and stale_after: 2h',
    'window: 31d, interval: 1h, stale_after: 2h',
  ],
  [
    ofEntry('interval: 10m'),
    '1:27',
    '"interval" (10m) is longer than "window" (5m)',
    'interval: 10m',
    'window: 10m',
    'interval: 10m, window: 10m',
  ],
  [
    `poll: { window: 1m }\n${ofEntry('interval: 2m')}`,
    '2:27',
    '"interval" (2m) is longer than "window" (1m)',
    'interval: 2m',
    'window: 2m',
    'interval: 2m, window: 2m',
  ],
  [
    ofEntry('window: default, interval: 40m, stale_after: 2h'),
    '1:44',
    'is longer than "window" (30m)',
    'default',
    'window: 40m',
    '40m',
  ],
  [ofEntry('window: 90s'), '1:25', '"window" is rounded up to 2m', 'window: 90s', 'window: 2m'],
  ['apps: [{ name: "^shop" }]', '1:16', 'looks like a regular', 'name: "^shop"', 'match: "^shop"'],
  ['apps: [{ name: shop$ }]', '1:16', 'looks like a regular', 'name: shop$', 'match: "shop$"'],
  ['apps: [{ name: a(b|c) }]', '1:16', 'looks like a', 'name: a(b|c)', 'match: "a(b|c)"'],
  [
    'apps: [{ name: " Checkout" }]',
    '1:16',
    'has blanks around',
    'name: " Checkout"',
    'name: "Checkout"',
  ],
  [
    ofAccount('timeout: 5m'),
    '1:50',
    'is longer than the intervals',
    'timeout: 5m',
    'at most 1m',
    'timeout: 1m',
  ],
  [
    ofEntry('hosts: self'),
    '1:24',
    'each exporter with this entry publishes the application',
    'hosts: self',
    'application: false',
    'hosts: self, application: false',
  ],
];

describe('a file as people write it', () => {
  it.each([...forms, ...words, ...meant, ...elsewhere].map((row) => ({ row })))(
    'gets the place, the reason and what to write, which can be loaded: $row.0',
    async ({ row: [written, place, says, part, proposed, replacement] }) => {
      const right = replacement ?? [proposed].flat().join(', ');
      const found = await findingsIn(written);

      expect(placesOf(found)).toBe(place);
      expect(wordsOf(found)).toContain(says);
      for (const one of [proposed].flat()) expect(wordsOf(found)).toContain(one);
      expect(written.split(part)).toHaveLength(2);
      const text = written.replace(part, () => right);
      expect({ text, found: wordsOf(await findingsIn(text)) }).toEqual({ text, found: '' });
    },
  );

  it('meets forty and more mistakes that people make elsewhere, each with its own answer', () => {
    const answers = elsewhere.map(([, , says, , proposed]) => JSON.stringify([says, proposed]));

    expect(new Set(answers).size).toBe(elsewhere.length);
    expect(elsewhere.length).toBeGreaterThanOrEqual(40);
  });

  it.each([
    ofEntry('labels: { price: US$, sum: $5 }'),
    ofEntry('interval: 5m, window: 5m'),
    ofEntry('hosts: self, application: false'),
    ofAccount('timeout: 1m'),
    ofQuery('window: 1d'),
    ofQuery('interval: 1h, window: 31d, stale_after: 2h'),
    'apps: [{ name: "Cart (v2.1) [old] | EU?" }]',
  ])('says nothing of what is right: %j', async (text) => {
    expect(await findingsIn(text)).toEqual([]);
  });

  it('says how entries begin where they are too long, or too secret, to be repeated', async () => {
    const text = `accounts: { production: { api_key_env: A, base_url: "https://h" } }\n${entry}`;

    expect(wordsOf(await findingsIn(text))).toContain('write "- name: production", with the blank');
  });

  it('never repeats what may be a secret in a proposal', async () => {
    const text =
      'accounts: { name: p, api_key: hunter2, proxy_url: "http://u:hunter2@h" }\napps: []';

    expect(wordsOf(await findingsIn(text))).not.toContain('hunter2');
  });
});
