import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/simulator/fault.ts';
import type { Intercept } from '../../../src/simulator/simulator-options.ts';
import { printedBy } from '../survey/ask-bench.ts';

const applications = [
  { id: 11, name: 'shop', kind: 'web', webRpm: 120, hosts: 1 },
  { id: 12, name: 'cart', kind: 'web', webRpm: 60, hosts: 1 },
] as const;

const usualAccounts =
  '[{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, source: nerdgraph, account_id: 1234567 }]';

interface Circumstances {
  readonly accounts?: string;
  /** Other lines of the file. */
  readonly rest?: string;
  /** The results of `SHOW EVENT TYPES`, or what is in place of them. Default: New Relic fails. */
  readonly eventTypes?: unknown;
  readonly intercept?: Intercept;
}

/** What `check-config --online` says of queries, and how often it asked for event types. */
async function checked(
  queries: string,
  {
    accounts = usualAccounts,
    rest = 'apps: [{ match: "." }]',
    eventTypes,
    // The simulator reads of one type.
    intercept = () => (_, ask) => ask((text) => text.replace(', Mobile', '')),
  }: Circumstances = {},
) {
  const text = [`accounts: ${accounts}`, rest, 'queries:', queries].join('\n');
  const asked: string[] = [];
  const result = await printedBy(
    {
      ingestDelayMs: 0,
      fleet: { traffic: 'flat', applications },
      intercept: (request, response) => {
        for (const { text: nrql } of request.graphql?.asks ?? []) {
          if (!nrql.startsWith('SHOW ')) continue;
          asked.push(nrql);
          response.writeHead(eventTypes === undefined ? 400 : 200, {});
          response.end(
            JSON.stringify({ data: { actor: { account: { nrql: { results: eventTypes } } } } }),
          );
          return 'handled';
        }
        return intercept(request, response);
      },
    },
    ['check-config', '--online', 'c.yaml'],
    { 'c.yaml': text },
  );
  return { ...result, asked };
}

const none = "appId = 11 AND metricTimesliceName = 'none'";

function typesOf(...names: readonly string[]): unknown {
  return names.map((eventType) => ({ eventType }));
}

describe('check-config --online, for queries', () => {
  it('runs each of them once and shows its first rows, at its place in the file', async () => {
    const { exitCode, stdout, asked } = await checked(
      '  - { as: calls, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 5 }',
    );

    expect(exitCode).toBe(0);
    expect(asked).toEqual([]);
    expect(stdout).toContain(
      'ok      c.yaml:4:24: account main: query calls: 2 rows, 2 series; calls{app_name="cart"} 300; calls{app_name="shop"} 600\n',
    );
  });

  const some = 'SELECT count(*) FROM Transaction';

  it.each([
    ['what New Relic refuses', `${some} WHERE a ~ 1`, 1, 'correct it in "queries"'],
    [
      'what finds nothing',
      `${some} WHERE appName = 'none' FACET appName LIMIT 5`,
      0,
      // Without the advice to run what runs.
      'check FROM and WHERE, or ask for a longer window',
    ],
    ['absent values', 'SELECT average(nothing) FROM Transaction', 0, 'how the attributes'],
    ['values that are texts', 'SELECT latest(appName) FROM Transaction', 0, 'values are texts'],
    [
      'a row with more series than there may be',
      'SELECT count(*) AS a, average(duration) AS b FROM Transaction',
      0,
      'raise it',
      '{ a: calls, b: times }, max_series: 1',
    ],
    [
      'series beyond max_series',
      `${some} FACET appName LIMIT 5`,
      0,
      'raise max_series, or',
      'calls, max_series: 1',
    ],
    ['as many rows as LIMIT allows', `${some} FACET appName LIMIT 2`, 0, 'raise LIMIT'],
  ])('says what to do about %s', async (_, nrql, code, remedy, as = 'calls') => {
    const { exitCode, stdout } = await checked(`  - { as: ${as}, nrql: "${nrql}" }`);

    expect(exitCode).toBe(code);
    expect(stdout).toMatch(/c\.yaml:4:\d+: account main: query calls/u);
    expect(stdout).toContain(remedy);
  });

  it('says nothing of LIMIT without a FACET, or with fewer rows', async () => {
    const { stdout } = await checked(
      `  - { as: one, nrql: SELECT count(*) FROM Transaction LIMIT 1 }
  - { as: two, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 3 }`,
    );

    expect(stdout).not.toContain('raise LIMIT');
  });

  it.each([
    ['0 for ever', 'SELECT count(*) FROM Transactions', 'did you mean Transaction?'],
    ['another case', 'SELECT count(*) FROM transaction', 'did you mean Transaction?'],
    ['no row', 'SELECT count(*) FROM Transactions FACET x LIMIT 3', 'did you mean Transaction?'],
    ['null', 'SELECT average(duration) FROM PageVeiw', 'did you mean PageView?'],
    ['something else', 'SELECT count(*) FROM Mobile', 'no data of the type Mobile in the last day'],
    [
      'one of two',
      "SELECT count(*) FROM Transaction, Mobile WHERE appName = 'x'",
      'the type Mobile',
    ],
    ['another metric', 'SELECT sum(x) FROM Metrics', 'did you mean Metric?'],
  ])('warns of data that the account does not have: %s', async (_, nrql, remedy) => {
    const { exitCode, stdout, asked } = await checked(`  - { as: calls, nrql: "${nrql}" }`, {
      eventTypes: typesOf('PageView', 'Transaction'),
    });

    expect(exitCode).toBe(0);
    expect(asked).toEqual(['SHOW EVENT TYPES SINCE 1 day ago']);
    expect(stdout).toContain(remedy);
    expect(stdout).toMatch(/warning c\.yaml:4:24: account main: query calls/u);
  });

  it.each([
    ['data that is there', 'SELECT count(*) FROM MobileSession FACET x LIMIT 3', 'check WHERE'],
    ['a 0 of data that is there', 'SELECT count(*) FROM MobileSession', 'calls{} 0'],
    ['metrics', `SELECT average(newrelic.timeslice.value) FROM Metric WHERE ${none}`, 'are null'],
    ['what cannot be told', 'SELECT count(*) FROM (SELECT max(x) FROM Y FACET z)', ''],
  ])('blames no event type for %s', async (_, nrql, remedy) => {
    const { stdout } = await checked(`  - { as: calls, nrql: "${nrql}" }`, {
      eventTypes: typesOf('MobileSession', 'Transaction'),
    });

    expect(stdout).toContain(remedy);
    expect(stdout).not.toContain('no data of the type');
  });

  it.each([
    ['New Relic fails', undefined],
    ['there is no list', null],
    ['the list is empty', []],
    ['rows are something else', [{ eventType: 'PageView' }, { name: 'Transaction' }]],
  ])('says nothing of event types if %s', async (_, eventTypes) => {
    const { exitCode, stdout, asked } = await checked(
      '  - { as: calls, nrql: SELECT count(*) FROM Transactions }',
      { eventTypes },
    );

    expect([exitCode, asked.length]).toEqual([0, 1]);
    expect(stdout).toContain('ok      c.yaml:4:24: account main: query calls: 1 row, 1 series');
  });

  it.each<[string, Fault, exits: number, finding: string, remedy: string]>([
    [
      "New Relic's notice",
      { kind: 'messages', message: 'Counts data points.' },
      0,
      'note    c.yaml:4:24: account main: query calls: 2 rows',
      'New Relic says: Counts data points.',
    ],
    [
      'what the rows lack of the total',
      { kind: 'short', keep: 1, sign: 'none' },
      1,
      'error   c.yaml:4:24: account main: query calls: query: ',
      'add WHERE appName IS NOT NULL, or ask without FACET',
    ],
  ])('shows %s, with its query', async (_, fault, exits, finding, remedy) => {
    const file = [
      `accounts: ${usualAccounts}`,
      'apps: []',
      'queries:',
      '  - { as: calls, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 5 }',
    ].join('\n');
    const { exitCode, stdout } = await printedBy(
      { ingestDelayMs: 0, fleet: { traffic: 'flat', applications } },
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': file },
      undefined,
      [{ when: { operation: 'nrql' }, fault }],
    );

    expect(stdout).toContain(finding);
    expect(stdout).toContain(remedy);
    expect(stdout).not.toContain('was not as documented');
    expect(exitCode).toBe(exits);
  });

  it('asks once an account, whatever the number of queries', async () => {
    const { asked } = await checked(
      `  - { as: a, nrql: SELECT count(*) FROM Transactions }
  - { as: b, nrql: SELECT count(*) FROM Spans }
  - { as: c, nrql: SELECT count(*) FROM Transaction }`,
      { eventTypes: typesOf('Transaction') },
    );

    expect(asked).toHaveLength(1);
  });

  it('finds the entry of a query that is asked in several accounts', async () => {
    const other = usualAccounts.slice(1, -1).replace('main', 'other');
    const { stdout } = await checked(
      `  - { as: a, account: "*", nrql: SELECT count(*) FROM Transaction }
  - { as: b, account: [main, other], nrql: SELECT count(*) FROM Transaction }
  - { as: c, account: other, nrql: SELECT count(*) FROM Transaction }`,
      { accounts: `[${usualAccounts.slice(1, -1)}, ${other}]`, rest: '' },
    );

    const found = stdout.matchAll(/c\.yaml:(\d+):\d+: account (\w+): query (\w)/gu);
    expect([...found].map(([, ...parts]) => parts.join(' '))).toEqual([
      '4 main a',
      '5 main b',
      '4 other a',
      '5 other b',
      '6 other c',
    ]);
  });

  it('asks them although no list of applications can be read', async () => {
    const { exitCode, stdout } = await checked(
      '  - { as: calls, nrql: SELECT count(*) FROM Transaction }',
      {
        intercept: (request, response) => {
          const isList = request.graphql?.asks.some((ask) => ask.operation === 'entity_search');
          if (isList !== true) return 'pass';
          response.writeHead(400, {});
          response.end('{}');
          return 'handled';
        },
      },
    );

    expect(exitCode).toBe(1);
    expect(stdout).toContain('account main: discovery failed: list_applications: status 400');
    expect(stdout).toContain('query calls: 1 row, 1 series; calls{} 900');
  });
});

describe('check-config --online without applications', () => {
  const two = `  - { as: a, nrql: SELECT count(*) FROM Transaction }
  - { as: b, nrql: SELECT count(*) FROM Transaction }`;

  it.each(['', 'apps: []', 'apps: [{ match: ".", exclude: true }]'])(
    'asks for no list: "%s"',
    async (rest) => {
      const { exitCode, stdout, calls } = await checked(two, { rest });

      // The queries, and which accounts the key sees.
      expect([exitCode, calls]).toEqual([0, 3]);
      expect(stdout).toContain('account main: key accepted, 2 queries\n');
      expect(stdout).toMatch(/^c\.yaml: ok, 1 account, .*2 queries, 0 warnings$/mu);
      expect(stdout).not.toContain('found');
    },
  );

  it('asks no more once the key is refused, and does not call it accepted', async () => {
    const accounts = usualAccounts.replace('KEY', 'WRONG_KEY');

    const { exitCode, stdout, calls } = await checked(two, { accounts, rest: '' });

    expect([exitCode, calls]).toEqual([1, 2]);
    expect(stdout).toContain('query a: query: status 401');
    expect(stdout).not.toMatch(/key accepted|query b|fits/u);
  });

  it('calls the key accepted if New Relic answers no query, but for what it is', async () => {
    const { exitCode, stdout } = await checked(
      '  - { as: a, nrql: SELECT count(*) FROM Transaction WHERE a ~ 1 }',
      { rest: '' },
    );

    expect(exitCode).toBe(1);
    expect(stdout).toContain('key accepted, 1 query\n');
  });
});
