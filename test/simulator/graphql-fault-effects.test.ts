import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/fault.ts';
import type { FaultCondition } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { type Listed, listedIn } from './nerdgraph-account.ts';

const select = 'SELECT count(newrelic.timeslice.value) AS calls FROM Metric';
const web = `${select} WHERE appId IN (1) AND metricTimesliceName = 'HttpDispatcher' FACET host SINCE 1788256200000 UNTIL 1788256500000`;
const twoQueries = `query ($a: Nrql!, $b: Nrql!) {
  actor { account(id: 1234567) {
    web: nrql(query: $a) { results otherResult }
    all: nrql(query: $b) { results otherResult }
  } }
}`;
const variables = { a: web, b: web.replace(' FACET host', '') };
const search = `{ actor { entitySearch(query: "domain = 'APM'") { count } } }`;

/** Web requests of three hosts in five minutes: 300, 200 and 100. */
const fleet = {
  traffic: 'flat' as const,
  applications: [
    {
      id: 1,
      kind: 'web' as const,
      webRpm: 120,
      hosts: [
        { name: 'a', weight: 3 },
        { name: 'b', weight: 2 },
        { name: 'c', weight: 1 },
      ],
    },
  ],
};

interface Exchange {
  readonly status: number;
  readonly type: unknown;
  readonly body: string;
}

async function exchange(
  fault: Fault,
  when: FaultCondition,
  document: string,
  apiKey = 'key',
): Promise<Exchange> {
  const clock = createFakeClock();
  const faults = createFaults([{ when, fault }], { clock });
  const simulator = createSimulator(
    { apiKeys: ['key'], fleet, intercept: faults.intercept },
    { clock },
  );
  const body = JSON.stringify({ query: document, variables });
  const {
    status,
    headers,
    body: text,
  } = await inMemoryTransport(simulator).send(
    { operation: 'host_metrics', target: '/graphql', body },
    { 'Api-Key': apiKey },
    new AbortController().signal,
  );
  return { status, type: headers['content-type'], body: text };
}

async function answerTo(
  fault: Fault,
  when: FaultCondition = {},
  document = twoQueries,
): Promise<unknown> {
  const { body } = await exchange(fault, when, document);
  const answer: unknown = JSON.parse(body);
  return answer;
}

const row = (host: string, calls: number | string): unknown => ({ facet: host, host, calls });
const goodWeb = {
  results: [row('a', 300), row('b', 200), row('c', 100)],
  otherResult: { calls: 0 },
};
const goodAll = { results: [{ calls: 600 }], otherResult: null };
const good = { data: { actor: { account: { web: goodWeb, all: goodAll } } } };

function dataOf(queries: unknown): unknown {
  return { data: { actor: { account: queries } } };
}

function errorAt(alias: string, extensions: unknown, message: string): unknown {
  return expect.objectContaining({ message, extensions, path: ['actor', 'account', alias] });
}

const shopDocument = `query ($a: Nrql!) { actor { account(id: 1234567) { nrql(query: $a) {
  results otherResult totalResult metadata { facets messages timeWindow { begin end } }
} } } }`;
const fromMs = 1_788_256_200_000;
const toMs = 1_788_256_500_000;
const shop = {
  ...goodWeb,
  totalResult: { calls: 600 },
  metadata: { facets: ['host'], messages: [], timeWindow: { begin: fromMs, end: toMs } },
};

function shopData(change: object): object {
  return dataOf({ nrql: { ...shop, ...change } }) as object;
}

async function shopAnswer(fault: Fault, when: FaultCondition = {}): Promise<unknown> {
  return answerTo(fault, when, shopDocument);
}

/** A page of two of the three applications a, b and c. */
async function listed(fault: Fault, cursor: string | null = null): Promise<Listed> {
  const clock = createFakeClock();
  const { intercept } = createFaults([{ fault }], { clock });
  const applications = ['a', 'b', 'c'].map((name) => ({ name }));
  const simulator = createSimulator(
    { apiKeys: ['key'], fleet: { applications }, intercept, graphql: { entityPageSize: 2 } },
    { clock },
  );
  const query = `query ($cursor: String) { actor { entitySearch(query: "domain = 'APM'") {
    count results(cursor: $cursor) { nextCursor entities { guid name accountId } }
  } } }`;
  const { body } = await inMemoryTransport(simulator).send(
    {
      operation: 'list_applications',
      target: '/graphql',
      body: JSON.stringify({ query, variables: { cursor } }),
    },
    { 'Api-Key': 'key' },
    new AbortController().signal,
  );
  return listedIn(JSON.parse(body));
}

const timeout = { kind: 'graphql_error', errorClass: 'TIMEOUT', message: 'too slow' } as const;

describe('a fault of NerdGraph', () => {
  it('can be an error of each query', async () => {
    expect(await answerTo({ ...timeout, classification: 'Slow' })).toEqual({
      ...(dataOf({ web: null, all: null }) as object),
      errors: [
        errorAt('web', { errorClass: 'TIMEOUT', classification: 'Slow' }, 'too slow'),
        errorAt('all', { errorClass: 'TIMEOUT', classification: 'Slow' }, 'too slow'),
      ],
    });
  });

  it('can be an error of one query, beside the data of the other', async () => {
    expect(await answerTo({ ...timeout, partial: 'web' })).toEqual({
      ...(dataOf({ web: null, all: goodAll }) as object),
      errors: [errorAt('web', { errorClass: 'TIMEOUT' }, 'too slow')],
    });
  });

  it('can be null without an error', async () => {
    expect(await answerTo({ kind: 'null_nrql' })).toEqual(dataOf({ web: null, all: null }));
  });

  it.each([
    { rows: 0, results: [], calls: 600 },
    { rows: 2, results: [row('a', 300), row('b', 200)], calls: 100 },
    { rows: 9, results: goodWeb.results, calls: 0 },
  ])('can cut the facets off after $rows', async ({ rows, results, calls }) => {
    expect(await answerTo({ kind: 'truncated', rows })).toEqual(
      dataOf({ web: { results, otherResult: { calls } }, all: goodAll }),
    );
  });

  it('can be numbers as texts', async () => {
    expect(await answerTo({ kind: 'numbers_as_text' })).toEqual(
      dataOf({
        web: { ...goodWeb, results: [row('a', '300'), row('b', '200'), row('c', '100')] },
        all: { ...goodAll, results: [{ calls: '600' }] },
      }),
    );
  });

  it.each([
    { message: undefined, says: /^This field is deprecated!/ },
    { message: 'Careful', says: /^Careful$/ },
  ])('can be a warning beside good data: $says', async ({ message, says }) => {
    const text = expect.stringMatching(says) as string;

    expect(await answerTo({ kind: 'warning', message })).toEqual({
      ...good,
      errors: [errorAt('web', {}, text), errorAt('all', {}, text)],
    });
  });

  it('can be the first rows only, without anything that says so but the sum', async () => {
    const answer = await shopAnswer({ kind: 'short', keep: 2, sign: 'none' });

    expect(answer).toEqual(
      shopData({
        results: [row('a', 300), row('b', 200)],
        otherResult: null,
        totalResult: { calls: 600 },
      }),
    );
  });

  it('can be the first rows only, with an error beside them', async () => {
    const answer = await shopAnswer({ kind: 'short', keep: 1, sign: 'error' });

    expect(answer).toEqual({
      ...shopData({ results: [row('a', 300)] }),
      errors: [
        expect.objectContaining({
          path: ['actor', 'account', 'nrql'],
          extensions: { errorClass: 'TIMEOUT' },
        }),
      ],
    });
  });

  it('can be a message beside good data', async () => {
    const { metadata } = shop;

    expect(await shopAnswer({ kind: 'messages', message: 'incomplete' })).toEqual(
      shopData({ metadata: { ...metadata, messages: ['incomplete'] } }),
    );
  });

  it('can be a facet twice, with the same sum', async () => {
    expect(await shopAnswer({ kind: 'facet_twice' })).toEqual(
      shopData({ results: [row('a', 150), row('b', 200), row('c', 100), row('a', 150)] }),
    );
  });

  it('can be rows that have only the list of their facets', async () => {
    const results = ['a', 'b', 'c'].map((facet, index) => ({ facet, calls: 300 - index * 100 }));

    expect(await shopAnswer({ kind: 'bare_facets' })).toEqual(shopData({ results }));
  });

  it('can be another window', async () => {
    const timeWindow = { begin: fromMs - 30 * 60_000, end: toMs + 60_000 };

    expect(await shopAnswer({ kind: 'other_window', beginMinutes: -30, endMinutes: 1 })).toEqual(
      shopData({ metadata: { ...shop.metadata, timeWindow } }),
    );
  });

  it('can be the answer to another question', async () => {
    const fault = { kind: 'other_answer', replace: 'FACET host', by: 'FACET appId' } as const;

    expect(await shopAnswer(fault)).toEqual(
      shopData({
        results: [{ facet: '1', appId: '1', calls: 600 }],
        metadata: { ...shop.metadata, facets: ['appId'] },
      }),
    );
  });

  it.each([
    { applicationId: '1', isHit: true },
    { applicationId: '17882562', isHit: false },
    { applicationId: '2', isHit: false },
  ])('can poison the application $applicationId: $isHit', async ({ applicationId, isHit }) => {
    const answer = await shopAnswer(timeout, { applicationId });

    expect(JSON.stringify(answer).includes('too slow')).toBe(isHit);
  });

  it('can be a list that is short of its count', async () => {
    expect(await listed({ kind: 'short', keep: 1, sign: 'none' })).toEqual({
      count: 3,
      names: ['a'],
      accounts: [1_234_567],
      nextCursor: null,
    });
  });

  it('can be an entity of another account, which is counted', async () => {
    expect(await listed({ kind: 'foreign_entity', accountId: 999 })).toMatchObject({
      count: 4,
      names: ['a', 'b', 'Application of 999'],
      accounts: [1_234_567, 1_234_567, 999],
    });
  });

  it('can be a list without an end, whose cursors are always new', async () => {
    const first = await listed({ kind: 'endless_list' });
    const second = await listed({ kind: 'endless_list' }, first.nextCursor);

    expect([first.names, second.names]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(second.nextCursor).not.toBe(first.nextCursor);
  });

  it('can be the page of a gateway', async () => {
    const fault = { kind: 'status', status: 502, body: '<html>Bad Gateway</html>' } as const;

    expect(await exchange(fault, {}, twoQueries)).toEqual({
      status: 502,
      type: 'text/html; charset=utf-8',
      body: '<html>Bad Gateway</html>',
    });
  });

  it.each<{ when: FaultCondition; document: string; isHit: boolean }>([
    { when: { endpoints: ['graphql'] }, document: search, isHit: true },
    { when: { endpoints: ['applications'] }, document: search, isHit: false },
    { when: { operation: 'entity_search' }, document: search, isHit: true },
    { when: { operation: 'nrql' }, document: search, isHit: false },
    { when: { operation: 'nrql' }, document: twoQueries, isHit: true },
    { when: { queryIncludes: "domain = 'APM'" }, document: search, isHit: true },
    { when: { queryIncludes: "metricTimesliceName = 'Http" }, document: twoQueries, isHit: true },
    { when: { queryIncludes: 'account(id:' }, document: twoQueries, isHit: true },
    { when: { applicationId: '7' }, document: search.replace('APM', '7'), isHit: false },
    { when: { queryIncludes: 'OtherTransaction' }, document: twoQueries, isHit: false },
    {
      when: { operation: 'nrql', queryIncludes: 'OtherTransaction' },
      document: twoQueries,
      isHit: false,
    },
  ])('with the condition $when hits $document: $isHit', async ({ when, document, isHit }) => {
    const answer = await answerTo(timeout, when, document);

    expect(JSON.stringify(answer).includes('too slow')).toBe(isHit);
  });

  it('leaves a refusal, and what reads no data, as it is', async () => {
    const refused = await exchange(timeout, {}, twoQueries, 'wrong key');
    const accounts = await answerTo(timeout, {}, '{ actor { accounts { id } } }');

    expect(refused).toMatchObject({
      status: 401,
      body: expect.stringContaining('BAD_API_KEY') as string,
    });
    expect(accounts).toEqual({ data: { actor: { accounts: [{ id: 1_234_567 }] } } });
  });
});
