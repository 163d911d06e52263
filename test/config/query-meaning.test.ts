import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { readNrql } from '../../src/config/nrql-text.ts';
import { findingsIn, wordsOf } from './config-failure.ts';

const nerdgraph =
  'accounts: [{ name: a, source: nerdgraph, account_id: 1, api_key_env: K }, { name: b, source: nerdgraph, account_id: 2, api_key_env: K }]';

function file(...queries: readonly string[]): string {
  const lines = queries.map((query) => `  - { account: a, ${query} }`);
  return [nerdgraph, 'apps: [{ match: ., account: a }]', 'queries:', ...lines].join('\n');
}

const count = 'SELECT count(*) FROM T';

/** What is wrong, and what the messages must name. */
const refusals: readonly (readonly [what: string, text: string, ...facts: readonly string[]])[] = [
  ['SINCE', file(`as: x, nrql: ${count} SINCE 1 hour ago`), 'must not have SINCE', '"window"'],
  ['until', file(`as: x, nrql: ${count} until now`), 'must not have UNTIL'],
  ['TIMESERIES', file(`as: x, nrql: ${count} TIMESERIES`), 'must not have TIMESERIES'],
  ['COMPARE WITH', file(`as: x, nrql: ${count} COMPARE WITH 1 day ago`), 'not have COMPARE WITH'],
  ['no FROM', file('as: x, nrql: SELECT count(*)'), 'no FROM', 'FROM Transaction'],
  ['no function', file('as: x, nrql: SELECT duration FROM T'), 'must select functions'],
  ['events', file('as: x, nrql: SELECT * FROM T'), 'must select functions'],
  ['no SELECT', file('as: x, nrql: SHOW EVENT TYPES'), 'no FROM', 'must select functions'],
  ['an empty text', file('as: x, nrql: ""'), 'must not be empty'],
  [
    'a long text',
    file(`as: x, nrql: "${count} WHERE a = '${'x'.repeat(4000)}'"`),
    '4000 characters',
  ],
  ['no gauge', file(`nrql: ${count}`), 'missing key "as"'],
  ['a bad gauge', file(`as: x_total, nrql: ${count}`), 'must not end in "_total"'],
  ['an own gauge', file(`as: newrelic_query_success, nrql: ${count}`), 'the exporter has itself'],
  ['an empty map', file(`as: {}, nrql: ${count}`), 'must not be empty'],
  [
    'several functions',
    file('as: x, nrql: "SELECT count(*), max(d) AS most FROM T"'),
    '"as" must be a map',
    '2 functions',
    'most: x_2',
  ],
  [
    'no such member',
    file('as: { n: x }, nrql: SELECT count(*) AS m FROM T'),
    '"as" has "n", and no function',
  ],
  [
    'a gauge for two members',
    file('as: { n: x, m: x }, nrql: "SELECT count(*) AS m, max(d) AS n FROM T"'),
    'the gauge "x" is there already',
  ],
  [
    'a member twice',
    file('as: { n: x }, nrql: "SELECT count(*) AS n, max(d) AS n FROM T"'),
    'the name "n" twice',
  ],
  [
    'a member that is a facet',
    file('as: { host: x }, nrql: SELECT count(*) AS host FROM T FACET host'),
    'the name "host" twice',
  ],
  [
    'no such facet',
    file(`as: x, labels: { hots: h }, nrql: ${count} FACET host`),
    'has "hots", and no facet',
    'did you mean "host"',
  ],
  [
    'a target label',
    file(`as: x, nrql: ${count} FACET region`),
    '"region"',
    '"region": newrelic_region',
  ],
  [
    'our label',
    file(`as: x, labels: { host: account }, nrql: ${count} FACET host`),
    'sets this label itself',
  ],
  [
    'quantile',
    file(`as: x, constant_labels: { quantile: a }, nrql: ${count}`),
    'sets this label itself',
  ],
  [
    'labels that collide',
    file(`as: x, nrql: "${count} FACET appName, app.name"`),
    'the label "app_name", which is there already',
  ],
  [
    'a facet and a constant label',
    file(`as: x, constant_labels: { host: a }, nrql: ${count} FACET host`),
    'the label "host", which is there already',
  ],
  [
    'a gauge twice',
    file(`as: x, nrql: ${count}`, `as: x, nrql: ${count}`),
    'the gauge "x" is there already',
  ],
  [
    'two units',
    file(
      'as: x, nrql: SELECT average(duration) FROM T',
      'account: b, as: x, nrql: SELECT average(queue) FROM T',
    ).replace('account: a, account: b', 'account: b'),
    'the gauge "x" has two units: duration before, queue here',
  ],
  [
    'a gauge of "metrics"',
    file(`as: host_m, nrql: ${count}`).replace(
      'account: a }]',
      'account: a, metrics: [{ metric: M, value: score, as: m }] }]',
    ),
    'also one of "metrics"',
  ],
  [
    'an unknown account',
    file(`as: x, nrql: ${count}`).replace('- { account: a', '- { account: c'),
    'unknown account "c"',
  ],
  [
    'no account',
    file(`as: x, nrql: ${count}`).replace('- { account: a,', '- {'),
    'missing key "account"',
  ],
  ['an unknown key', file(`as: x, querry: y, nrql: ${count}`), 'unknown key "querry"'],
  ['no series', file(`as: x, max_series: 0, nrql: ${count}`), 'from 1 to 100000'],
  [
    'the REST API',
    file(`as: x, nrql: ${count}`).replace('source: nerdgraph, account_id: 1', 'source: rest'),
    'there are queries only with "source: nerdgraph"',
    'the account "a"',
  ],
  [
    'tags of the REST API',
    'poll: { tags: [team] }\napps: [{ id: 1 }]',
    'there are tags only with "source: nerdgraph"',
  ],
  [
    'a tag and a label',
    `${nerdgraph}\napps: [{ id: 1, account: a, tags: [team], labels: { team: x } }]`,
    'makes "team" the label "team", which is there already',
  ],
  [
    'two tags with one label',
    `${nerdgraph}\napps: [{ id: 1, account: a, tags: { x: y, z: y } }]`,
    'makes "z" the label "y"',
  ],
  [
    'a tag and a label of a metric',
    `${nerdgraph}\napps: [{ id: 1, account: a, tags: [team], metrics: [{ metric: M, value: score, as: m, labels: { team: x } }] }]`,
    'makes "team" the label "team"',
  ],
  [
    'a tag that is our label',
    `${nerdgraph}\napps: [{ id: 1, account: a, tags: [region] }]`,
    'makes "region" the label "region"',
    '"region": newrelic_region',
  ],
];

describe('a query or a tag that cannot be published', () => {
  it.each(refusals)('is refused: %s', async (_, text, ...facts) => {
    const words = wordsOf(await findingsIn(text));
    for (const fact of facts) expect(words).toContain(fact);
  });
});

describe('a query', () => {
  it.each([
    ['SELECT count(*) FROM T', 'SELECT count(*) AS gauge_value FROM T'],
    [
      "SELECT filter(max(d), WHERE a = 'FROM (') FROM T",
      "SELECT filter(max(d), WHERE a = 'FROM (') AS gauge_value FROM T",
    ],
    ['FROM T select max(`a ) b`) facet x', 'FROM T select max(`a ) b`) AS gauge_value facet x'],
    ['SELECT count(*) as n FROM T', 'SELECT count(*) as n FROM T'],
  ])('whose function has no name gets one: %s', async (nrql, asked) => {
    const { config } = await parseConfig(file(`as: x, nrql: ${JSON.stringify(nrql)}`), {
      fileName: 'c.yaml',
      directory: '/',
    });
    expect(config.queries?.[0]?.query.nrql).toBe(asked);
  });

  it.each([
    [
      'as in the example',
      'as: x_seconds, nrql: "SELECT percentile(duration, 50, 95) AS d FROM T FACET appName, name LIMIT 50", labels: { appName: app_name }',
    ],
    [
      'with refused words in texts',
      `as: x, nrql: "${count} WHERE a = 'SINCE' AND \`until\` = 'FROM'"`,
    ],
    [
      'with a subquery',
      'as: x, nrql: "SELECT max(n) FROM (SELECT count(*) AS n FROM T FACET host)"',
    ],
    ['with its clauses in another order', 'as: x, nrql: from T select count(*) facet host'],
    ['with arithmetic', 'as: x, nrql: "SELECT sum(bytes) / 1e9 FROM T"'],
    ['with arithmetic in brackets', 'as: x, nrql: "SELECT (sum(a) + sum(b)) / 2 FROM T"'],
    ['with a name of two words', `as: { the d: x }, nrql: "SELECT max(d) AS 'the d' FROM T"`],
    [
      'with cases',
      `as: x, nrql: "${count} FACET CASES(WHERE a = 'x, y' AS one, WHERE b) AS which"`,
    ],
    [
      'with letters of others',
      `as: x, nrql: "${count} WHERE город = 'Москва' FACET город AS city"`,
    ],
    ['with a filter', 'as: x, nrql: "SELECT filter(count(*), WHERE a IN (1, 2)) FROM T"'],
    ['with a time zone', `as: x, nrql: "${count} WITH TIMEZONE 'UTC'"`],
  ])('is accepted: %s', async (_, query) => {
    expect(await findingsIn(file(query))).toEqual([]);
  });

  it('is read without its comments and line ends', () => {
    const { text, clauses } = readNrql(
      "SELECT count(*) -- all, of\n FROM T /* FACET x */\n FACET `a b`, c.d AS e // 'end",
    );

    expect(text).toBe('SELECT count(*) FROM T FACET `a b`, c.d AS e');
    expect(clauses.get('SELECT')?.map(({ expression }) => expression)).toEqual(['count(*)']);
    expect(clauses.get('FACET')?.map((item) => item.alias ?? item.expression)).toEqual([
      'a b',
      'e',
    ]);
  });
});
