import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/fault.ts';
import type { FaultCondition } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { withGraphqlFault } from '../../src/simulator/graphql-fault-effects.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

const select = 'SELECT count(newrelic.timeslice.value) AS calls FROM Metric';
const web = `${select} WHERE metricTimesliceName = 'HttpDispatcher' FACET host SINCE 1788256200000 UNTIL 1788256500000`;
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

  it('leaves an answer of the REST API as it is, even an empty one', () => {
    const answer = { status: 200, headers: {}, body: '' };

    expect(withGraphqlFault(timeout, [], answer)).toBe(answer);
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
