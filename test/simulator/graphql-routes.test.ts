import { describe, expect, it } from 'vitest';
import type { GraphqlOptions } from '../../src/simulator/graphql-options.ts';
import { aNerdgraphAccount, type NerdgraphAccount } from './nerdgraph-account.ts';

const nrqlOf = (text: string, more = ''): string =>
  `{ actor { account(id: 1234567) { nrql(query: ${JSON.stringify(text)}${more}) { results } } } }`;
const searching = (more: string, fields: string): string =>
  `{ actor { entitySearch(query: "domain = 'APM'" ${more}) { ${fields} } } }`;
const countHosts =
  "SELECT uniqueCount(host) AS hosts FROM Metric WHERE appId = 1 AND metricTimesliceName IN ('HttpDispatcher','Agent/MetricsReported/count') SINCE 30 minutes ago";

function tenHosts(options: GraphqlOptions = {}): NerdgraphAccount {
  return aNerdgraphAccount(
    { applications: [{ id: 1, kind: 'web', webRpm: 600, hosts: 10 }] },
    options,
  );
}

function failureOf(errorClass: string, path: readonly string[], classification?: string): unknown {
  return expect.objectContaining({
    path,
    locations: [expect.objectContaining({ line: 1 })],
    extensions: { errorClass, ...(classification === undefined ? {} : { classification }) },
  });
}

describe('NerdGraph', () => {
  it.each([
    { mistake: 'an unknown field', document: '{ actor { accounts { id colour } } }' },
    { mistake: 'an unknown argument', document: '{ actor { account(no: 1, id: 1) { id } } }' },
    { mistake: 'no argument', document: '{ actor { account { id } } }' },
    { mistake: 'a text as a number', document: '{ actor { account(id: "1") { id } } }' },
    { mistake: 'no members', document: '{ actor { accounts } }' },
    { mistake: 'members of a number', document: '{ actor { accounts { id { x } } } }' },
    { mistake: 'an unknown enum value', document: searching('sortBy: [COLOUR]', 'count') },
    { mistake: 'an enum as a text', document: searching('sortBy: ["NAME"]', 'count') },
    {
      mistake: 'a field outside its fragment',
      document: searching('', 'results { entities { applicationId } }'),
    },
    {
      mistake: 'a fragment of a foreign type',
      document: searching('', 'results { entities { ... on ApmApplicationEntity { name } } }'),
    },
    { mistake: 'an undeclared variable', document: '{ actor { account(id: $id) { id } } }' },
    { mistake: 'an unused variable', document: 'query ($id: Int) { actor { accounts { id } } }' },
    {
      mistake: 'a variable of a wrong type',
      document: 'query ($id: String!) { actor { account(id: $id) { id } } }',
    },
    {
      mistake: 'a variable that may be null',
      document: 'query ($id: Int) { actor { account(id: $id) { id } } }',
    },
    {
      mistake: 'two fields of one name',
      document: '{ actor { a: accounts { id } a: user { id } } }',
    },
    {
      mistake: 'a fragment that nobody uses',
      document: '{ actor { accounts { id } } } fragment A on Actor { user { id } }',
    },
  ])('refuses a document with $mistake, and answers nothing of it', ({ document }) => {
    const answer = aNerdgraphAccount().ask(document);

    expect(Object.keys(answer as object)).toEqual(['errors']);
  });

  it('says who asks, and which accounts there are', () => {
    const { ask } = aNerdgraphAccount({}, { accountId: 42, accountName: 'Shop' });

    expect(
      ask('{ actor { user { name email } accounts { id name } account(id: 42) { id name } } }'),
    ).toEqual({
      data: {
        actor: {
          user: { name: 'Simulated user', email: 'user@simulated.invalid' },
          accounts: [{ id: 42, name: 'Shop' }],
          account: { id: 42, name: 'Shop' },
        },
      },
    });
  });

  it('answers NRQL of one account and of several', () => {
    const { ask } = tenHosts();
    const text = JSON.stringify(countHosts);

    expect(
      ask(
        `{ actor { nrql(accounts: [1234567], query: ${text}) { results } account(id: 1234567) { nrql(query: ${text}) { results nrql queryProgress { completed } } } } }`,
      ),
    ).toEqual({
      data: {
        actor: {
          nrql: { results: [{ hosts: 10 }] },
          account: {
            nrql: {
              results: [{ hosts: 10 }],
              nrql: countHosts,
              queryProgress: { completed: true },
            },
          },
        },
      },
    });
  });

  it.each([
    { query: '{ actor { account(id: 7) { id } } }', path: ['actor', 'account'] },
    {
      query: '{ actor { nrql(accounts: [1234567, 7], query: "x") { results } } }',
      path: ['actor', 'nrql'],
    },
  ])('gives nothing of another account: $query', ({ query, path }) => {
    const answer = aNerdgraphAccount().ask(query);

    expect(answer).toEqual({
      data: { actor: { [path.at(-1) ?? '']: null } },
      errors: [failureOf('SERVER_ERROR', path, 'DataFetchingException')],
    });
    expect(answer).toHaveProperty('errors.0.message', expect.stringContaining('account 7'));
  });

  it('refuses the queries of an account that are over the limit of a minute', async () => {
    const { ask, clock, violations } = tenHosts({ nrqlPerMinute: 2 });
    const refused = {
      data: { actor: { account: { nrql: null } } },
      errors: [failureOf('TOO_MANY_REQUESTS', ['actor', 'account', 'nrql'])],
    };
    const found = { data: { actor: { account: { nrql: { results: [{ hosts: 10 }] } } } } };

    expect([ask(nrqlOf(countHosts)), ask(nrqlOf(countHosts)), ask(nrqlOf(countHosts))]).toEqual([
      found,
      found,
      refused,
    ]);
    expect(violations()).toBe(1);
    await clock.advance(60_000);
    expect(ask(nrqlOf(countHosts))).toEqual(found);
  });

  it('refuses a request with the same NRQL as too many before', async () => {
    const { ask, clock, violations } = tenHosts({ repeatsPerMinute: 2 });
    const other = `${countHosts} LIMIT 1`;

    ask(nrqlOf(countHosts));
    ask(nrqlOf(countHosts));
    expect(() => ask(nrqlOf(countHosts))).toThrow(/^429 .*TOO_MANY_REQUESTS/);
    expect(() => ask(nrqlOf(other))).not.toThrow();
    expect(violations()).toBe(1);
    await clock.advance(60_000);
    expect(() => ask(nrqlOf(countHosts))).not.toThrow();
  });

  it.each([
    { inFlight: 25, refused: false },
    { inFlight: 26, refused: true },
  ])('with $inFlight requests in flight, refuses it: $refused', ({ inFlight, refused }) => {
    const { answer } = tenHosts();

    expect(answer(nrqlOf(countHosts), inFlight).status).toBe(refused ? 429 : 200);
  });

  it.each([
    { more: '', seconds: 5, isSlow: true },
    { more: ', timeout: 29', seconds: 29, isSlow: true },
    { more: ', timeout: 30', seconds: 30, isSlow: false },
  ])('takes $seconds seconds for a query at most', ({ more, isSlow }) => {
    // Of ten hosts there are ten rows of requests and ten heartbeats.
    const answer = tenHosts({ rowsPerSecond: 20 / 30 }).ask(nrqlOf(countHosts, more));

    expect(answer).toMatchObject(
      isSlow
        ? {
            data: { actor: { account: { nrql: null } } },
            errors: [
              {
                message: 'NRDB query duration exceeded the set timeout',
                extensions: { errorClass: 'TIMEOUT' },
              },
            ],
          }
        : { data: { actor: { account: { nrql: { results: [{ hosts: 10 }] } } } } },
    );
  });

  it.each([
    { mostRows: 20, isTooBig: false },
    { mostRows: 19, isTooBig: true },
  ])('a query over 20 rows where $mostRows are allowed is too big: $isTooBig', (row) => {
    const text = JSON.stringify(tenHosts({ mostRows: row.mostRows }).ask(nrqlOf(countHosts)));

    expect(text.includes("We're sorry, but that query is a little too big.")).toBe(row.isTooBig);
  });

  it.each([
    { maxNrqlCharacters: undefined, query: 'SELECT FROM Metric', says: 'Syntax Error' },
    {
      maxNrqlCharacters: undefined,
      query: countHosts.padEnd(4097),
      says: 'is too long: it has 4097',
    },
    { maxNrqlCharacters: 99, query: countHosts, says: 'is too long' },
  ])('says what is wrong with NRQL: $says', ({ maxNrqlCharacters, query, says }) => {
    expect(aNerdgraphAccount({}, { maxNrqlCharacters }).ask(nrqlOf(query))).toMatchObject({
      data: { actor: { account: { nrql: null } } },
      errors: [
        {
          message: expect.stringContaining(says) as string,
          extensions: { errorClass: 'INVALID_INPUT' },
        },
      ],
    });
  });
});
