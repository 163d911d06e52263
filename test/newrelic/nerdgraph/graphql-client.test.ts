import { describe, expect, it } from 'vitest';
import { statusOf } from '../../../src/newrelic/failures.ts';
import {
  createGraphqlClient,
  entitiesDocument,
  nrqlDocument,
} from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import { hostFacets, metricsNrql } from '../../../src/newrelic/nerdgraph/nrql.ts';
import { aQuery } from '../../support/builders.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  answerOf,
  createFakeTransport,
  type ScriptedAnswer,
} from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import {
  accountId,
  anEntity,
  anError,
  failedNrql,
  nrqlAnswer,
  nrqlPart,
  pageAnswer,
} from './answers.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const question = {
  operation: 'host_metrics',
  window: { fromMs: 0, toMs: 60_000 },
  facets: hostFacets,
  applicationIds: ['9007199254740993', '1234567'],
  asksFor: () => true,
  mayBeAbout: () => true,
  columns: [],
  needsLength: false,
} as const;
const context = { signal: neverAborted };

/** The client over one answer, whose status is read as the transport has it read, and what it asks and reports. */
function aBench(answer: ScriptedAnswer, timeoutMs = 30_000, statusIn = statusOf) {
  const read = answer instanceof Error ? answer : { ...answer, status: statusIn(answer) };
  const transport = createFakeTransport({ '/graphql': read });
  const failures: string[] = [];
  const unexpected = createRecordingUnexpectedAnswers();
  const client = createGraphqlClient({
    accountId,
    timeoutMs: () => timeoutMs,
    send: transport.send,
    observer: {
      failed: (operation, reason) => failures.push(`${operation} ${reason}`),
      invalidSample: (reason) => failures.push(reason),
    },
    unexpected,
    clock: createFakeClock(),
  });
  const body = (): unknown => JSON.parse(transport.calls[0]?.body ?? '');
  const ask = async () => client.nrql(question, context);
  return { client, ask, calls: transport.calls, body, failures, unexpected };
}

/** An answer with one row, whose id is written so. */
function answerWithId(id: string): ScriptedAnswer {
  const part = nrqlPart([{ facet: ['ID', 'a'], calls: 1, live: 0 }]);
  const body = JSON.stringify({ data: { actor: { account: { nrql: part } } } });
  return answerOf(body.replace('"ID"', id));
}

const whole = nrqlPart([{ facet: ['1234567', 'a'], calls: 1, live: 0 }]);

describe('a query', () => {
  it.each([
    [1000, 5],
    [10_500, 5],
    [11_000, 6],
    [30_000, 25],
    [600_000, 120],
  ])(
    'is one request, with all in variables: of %d ms it may take %d s',
    async (timeoutMs, seconds) => {
      const { ask, calls, body } = aBench(nrqlAnswer(nrqlPart([])), timeoutMs);
      await ask();

      expect(calls).toMatchObject([
        { operation: 'host_metrics', target: '/graphql', answerSize: 'large' },
      ]);
      const variables = { account: accountId, nrql: metricsNrql(question), timeout: seconds };
      expect(body()).toEqual({ query: nrqlDocument, variables });
    },
  );

  it.each([
    ['"9007199254740993"', '9007199254740993'],
    ['1234567', '1234567'],
  ])('brings rows with the id %s', async (id, is) => {
    const rows = [{ applicationId: is, host: 'a', calls: 1 }];

    expect(await aBench(answerWithId(id)).ask()).toMatchObject({ rows });
  });

  const rounded =
    'the answer has a row that cannot be read (facet: object, calls: number, live: number)';
  it.each<[string, ScriptedAnswer, string, string]>([
    [
      'a refusal',
      failedNrql(anError('TIMEOUT', 'slow')),
      'too_large',
      'status 413, "TIMEOUT: slow"',
    ],
    ['no JSON', answerOf('<html>Sign in'), 'not_json', 'the answer is not JSON: "<html>Sign in"'],
    ['no body', answerOf(''), 'not_json', 'the answer is empty'],
    ['nothing', nrqlAnswer(null), 'schema', 'the answer has nothing of what was asked for'],
    ['an id that was rounded', answerWithId('9007199254740993'), 'schema', rounded],
    ['no rows', nrqlAnswer({}), 'schema', 'the answer has no list of results'],
  ])('fails with %s, and is counted once', async (_, answer, reason, says) => {
    const { ask, failures } = aBench(answer);
    const message: unknown = expect.stringContaining(`host_metrics of 2 applications: ${says}. `);

    await expect(ask()).rejects.toMatchObject({ reason, message });
    expect(failures).toEqual(reason === 'too_large' ? [] : [`host_metrics ${reason}`]);
  });

  it('rejects with the reason of an abort', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));

    await expect(aBench(nrqlAnswer(whole)).client.nrql(question, { signal })).rejects.toThrow(
      'stopped',
    );
  });
});

describe('a query of the configuration', () => {
  const written = 'SELECT count(*) FROM Transaction WHERE a == 1';
  const nrql = 'SELECT count(*) AS gauge_value FROM Transaction WHERE a == 1';
  const query = { ...aQuery, written, nrql, added: { at: 15, length: 15 } };

  it.each([
    ['before the name that was added', 9, 9],
    ['at that name', 20, 15],
    ['behind it', 58, 43],
    ['in the time range', 75, written.length],
  ])('has the positions of its errors in the text of its user: %s', async (_, at, shown) => {
    const { client } = aBench(
      failedNrql(anError('INVALID_INPUT', `unexpected '=' at position ${at}`)),
    );
    const message: unknown = expect.stringContaining(`at position ${shown}"`);
    const asked = client.query(query, question.window, context);

    await expect(asked).rejects.toMatchObject({ reason: 'client', status: 400, message });
  });
});

describe('a search', () => {
  it.each([
    [undefined, null],
    ['abc', 'abc'],
  ])('continues where the cursor %s says', async (cursor, is) => {
    const { client, calls, body } = aBench(pageAnswer([anEntity(1)], 'next'));
    const page = await client.entities('domain = 1', cursor, context);

    expect(body()).toEqual({
      query: entitiesDocument,
      variables: { search: 'domain = 1', cursor: is },
    });
    expect(calls[0]?.operation).toBe('list_applications');
    expect(page).toMatchObject({ nextCursor: 'next', applications: [{ id: '1' }] });
  });

  it('counts values that cannot be true', async () => {
    const { client, failures } = aBench(
      pageAnswer([anEntity(1, { apmSummary: { throughput: -1 } })]),
    );
    await client.entities('x', undefined, context);

    expect(failures).toEqual(['negative']);
  });
});
