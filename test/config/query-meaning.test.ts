import { describe, expect, it } from 'vitest';
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
  [
    'attributes and nothing else',
    file('as: x, nrql: "SELECT host, cpu FROM T"'),
    'must select functions and nothing else: host is none',
    'such as SELECT count(*) FROM T FACET host',
  ],
  ['names of other programs', file(`name: x, query: ${count}`), 'mean "as"', 'mean "nrql"'],
  ['a name of Prometheus', file(`as: x, expr: ${count}`), 'did you mean "nrql"'],
  [
    'no account with NerdGraph',
    `accounts: [{ name: a, api_key_env: K }]\nqueries: [{ account: "*", as: x, nrql: ${count} }]`,
    '"account" is "*", and no account has "source: nerdgraph"',
  ],
  [
    'an account of the REST API in a list',
    `accounts: [{ name: a, api_key_env: K }]\nqueries: [{ account: [a], as: x, nrql: ${count} }]`,
    'the account "a" has "source: rest"',
  ],
  [
    'a list of accounts with an unknown one',
    file(`as: x, nrql: ${count}`).replace('account: a, as', 'account: [a, c], as'),
    'unknown account "c"',
  ],
  [
    'a list of accounts with one twice',
    file(`as: x, nrql: ${count}`).replace('account: a, as', 'account: [a, a], as'),
    'must appear only once',
  ],
  [
    'an empty list of accounts',
    file(`as: x, nrql: ${count}`).replace('account: a, as', 'account: [], as'),
    '"account" must not be empty',
  ],
  [
    'a star in an entry of apps',
    `${nerdgraph}\napps: [{ match: ., account: "*" }]`,
    'unknown account "*"',
  ],
  [
    'a gauge for all accounts and one of them',
    file(`as: x, nrql: ${count}`, `as: x, nrql: ${count}`).replace(
      'account: a, as',
      'account: "*", as',
    ),
    'the gauge "x" is there already in the account',
  ],
  ['until', file(`as: x, nrql: ${count} until now`), 'must not have UNTIL'],
  ['TIMESERIES', file(`as: x, nrql: ${count} TIMESERIES`), 'must not have TIMESERIES'],
  ['COMPARE WITH', file(`as: x, nrql: ${count} COMPARE WITH 1 day ago`), 'not have COMPARE WITH'],
  ['no FROM', file('as: x, nrql: SELECT count(*)'), 'no FROM', 'FROM Transaction'],
  ['no function', file('as: x, nrql: SELECT duration FROM T'), 'must select functions'],
  ['events', file('as: x, nrql: SELECT * FROM T'), 'must select functions'],
  ['nothing', file('as: x, nrql: SELECT FROM T FACET a LIMIT 5'), 'must select functions'],
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
    'labels: { region: newrelic_region }',
  ],
  [
    'our label',
    file(`as: x, labels: { host: account }, nrql: ${count} FACET host`),
    '"host" becomes the label "account"',
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
    'the label "app_name", which is there already, from "appName"',
  ],
  [
    'a facet and a constant label',
    file(`as: x, constant_labels: { host: a }, nrql: ${count} FACET host`),
    'the label "host", which is there already, in "constant_labels"',
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
    'makes "team" the label "team", which is there already, in "labels"',
  ],
  [
    'two tags with one label',
    `${nerdgraph}\napps: [{ id: 1, account: a, tags: { x: y, z: y } }]`,
    'makes "z" the label "y"',
  ],
  [
    'a tag and a label of a metric',
    `${nerdgraph}\napps: [{ id: 1, account: a, tags: [team], metrics: [{ metric: M, value: score, as: m, labels: { team: x } }] }]`,
    'makes "team" the label "team", which is there already, in the metric "m"',
  ],
  [
    'a tag that is our label',
    `${nerdgraph}\napps: [{ id: 1, account: a, tags: [region] }]`,
    'makes "region" the label "region"',
    'tags: { region: newrelic_region }',
  ],
];

describe('a query or a tag that cannot be published', () => {
  it.each(refusals)('is refused: %s', async (_, text, ...facts) => {
    const words = wordsOf(await findingsIn(text));
    for (const fact of facts) expect(words).toContain(fact);
  });
});
