import { describe, expect, it } from 'vitest';
import { statusOf } from '../../../src/newrelic/nerdgraph/failures.ts';
import {
  createGraphqlClient,
  entitiesDocument,
  type GraphqlClient,
  nrqlDocument,
} from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import { hostFacets, metricsNrql } from '../../../src/newrelic/nerdgraph/nrql.ts';
import { aQuery } from '../../support/builders.ts';
import {
  answerOf,
  createFakeTransport,
  type FakeTransport,
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
import {
  createRecordingUnexpectedAnswers,
  type RecordingUnexpectedAnswers,
} from './recording-unexpected-answers.ts';

interface Bench {
  readonly client: GraphqlClient;
  readonly transport: FakeTransport;
  readonly failures: readonly string[];
  readonly unexpected: RecordingUnexpectedAnswers;
}

function aBench(answer: ScriptedAnswer, timeoutMs = 30_000): Bench {
  const transport = createFakeTransport({ '/graphql': answer });
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
  });
  return { client, transport, failures, unexpected };
}

const question = {
  operation: 'host_metrics',
  window: { fromMs: 0, toMs: 60_000 },
  facets: hostFacets,
  applicationIds: ['9007199254740993', '1234567'],
  asksFor: () => true,
  mayBeAbout: () => true,
  columns: [],
} as const;
const context = { signal: neverAborted };

function bodyOf({ transport }: Bench): unknown {
  return JSON.parse(transport.calls[0]?.body ?? '');
}

/** An answer with one row, whose id is written so. */
function answerWithId(id: string): ScriptedAnswer {
  const part = nrqlPart([{ facet: ['ID', 'a'], calls: 1, live: 0 }]);
  const body = JSON.stringify({ data: { actor: { account: { nrql: part } } } });
  return answerOf(body.replace('"ID"', id));
}

describe('a query', () => {
  it('is one request, with everything in variables', async () => {
    const bench = aBench(nrqlAnswer(nrqlPart([])));
    await bench.client.nrql(question, context);

    expect(bench.transport.calls).toMatchObject([
      { operation: 'host_metrics', target: '/graphql', answerSize: 'large' },
    ]);
    expect(bodyOf(bench)).toEqual({
      query: nrqlDocument,
      variables: { account: accountId, nrql: metricsNrql(question), timeout: 25 },
    });
  });

  it.each([
    { timeoutMs: 1000, seconds: 5 },
    { timeoutMs: 10_500, seconds: 5 },
    { timeoutMs: 11_000, seconds: 6 },
    { timeoutMs: 30_000, seconds: 25 },
    { timeoutMs: 600_000, seconds: 120 },
  ])('may take $seconds s if a call may take $timeoutMs ms', async ({ timeoutMs, seconds }) => {
    const bench = aBench(nrqlAnswer(nrqlPart([])), timeoutMs);
    await bench.client.nrql(question, context);

    expect(bodyOf(bench)).toMatchObject({ variables: { timeout: seconds } });
  });

  it.each([
    { id: '"9007199254740993"', is: '9007199254740993' },
    { id: '1234567', is: '1234567' },
  ])('brings rows with the id $id', async ({ id, is }) => {
    const bench = aBench(answerWithId(id));

    expect((await bench.client.nrql(question, context)).rows).toMatchObject([
      { applicationId: is, host: 'a', calls: 1 },
    ]);
  });

  it.each([
    {
      what: 'a refusal',
      answer: { ...failedNrql(anError('TIMEOUT', 'slow')), status: 413 },
      reason: 'too_large',
      says: 'status 413, "TIMEOUT: slow"',
      counted: [],
    },
    {
      what: 'no JSON',
      answer: answerOf('<html>Sign in</html>'),
      reason: 'not_json',
      says: 'the answer is not JSON: "<html>Sign in</html>"',
      counted: ['host_metrics not_json'],
    },
    {
      what: 'no body',
      answer: answerOf(''),
      reason: 'not_json',
      says: 'the answer is empty',
      counted: ['host_metrics not_json'],
    },
    {
      what: 'nothing',
      answer: nrqlAnswer(null),
      reason: 'schema',
      says: 'the answer has nothing of what was asked for',
      counted: ['host_metrics schema'],
    },
    {
      what: 'an id that was rounded',
      answer: answerWithId('9007199254740993'),
      reason: 'schema',
      says: 'the answer has a row that cannot be read (facet: object, calls: number, live: number)',
      counted: ['host_metrics schema'],
    },
    {
      what: 'no rows',
      answer: nrqlAnswer({}),
      reason: 'schema',
      says: 'the answer has no list of results',
      counted: ['host_metrics schema'],
    },
  ])('fails with $what, and is counted once', async ({ answer, reason, says, counted }) => {
    const bench = aBench(answer);
    const asked = bench.client.nrql(question, context);

    await expect(asked).rejects.toMatchObject({
      reason,
      message: expect.stringContaining(`host_metrics of 2 applications: ${says}. `),
    });
    expect(bench.failures).toEqual(counted);
  });

  it('rejects with the reason of an abort', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));

    await expect(
      aBench(nrqlAnswer(nrqlPart([]))).client.nrql(question, { signal }),
    ).rejects.toThrow('stopped');
  });
});

describe('errors beside an answer', () => {
  const whole = nrqlPart([{ facet: ['1234567', 'a'], calls: 1, live: 0 }]);

  it('that only announce that a field will go are counted, and are no failure', async () => {
    const notice = 'This field is deprecated! Use another.';
    const bench = aBench(nrqlAnswer(whole, [{ message: notice }]));
    const { rows } = await bench.client.nrql(question, context);

    expect(rows).toHaveLength(1);
    expect(bench.failures).toEqual([]);
    expect(bench.unexpected.seen).toEqual([{ kind: 'partial', detail: { error: notice } }]);
  });

  it.each([
    { errorClass: 'TIMEOUT', message: 'slow', reason: 'too_large' },
    { errorClass: 'INVALID_INPUT', message: 'the query is too long', reason: 'too_large' },
    { errorClass: 'INVALID_INPUT', message: 'wrong', reason: 'client' },
    { errorClass: 'INTERNAL_SERVER_ERROR', message: 'broken', reason: 'server' },
  ])(
    '11.1 fail it, whole or not: $errorClass, "$message", is $reason',
    async ({ errorClass, message, reason }) => {
      const answer = nrqlAnswer(whole, [anError(errorClass, message)]);
      // As the transport has it read.
      const bench = aBench({ ...answer, status: statusOf(answer) });

      await expect(bench.client.nrql(question, context)).rejects.toMatchObject({
        reason,
        message: expect.stringContaining(`"${errorClass}: ${message}"`),
      });
      expect(bench.unexpected.kinds()).toEqual([]);
    },
  );
});

describe('a query of the configuration', () => {
  const written = 'SELECT count(*) FROM Transaction WHERE a == 1';
  const added = { at: 15, length: 15 };
  const nrql = 'SELECT count(*) AS gauge_value FROM Transaction WHERE a == 1';

  it.each([
    ['before the name that was added', 9, 9],
    ['at that name', 20, 15],
    ['behind it', 58, 43],
    ['in the time range', 75, written.length],
  ])('has the positions of its errors in the text of its user: %s', async (_, at, shown) => {
    const answer = failedNrql(anError('INVALID_INPUT', `unexpected '=' at position ${at}`));
    const bench = aBench({ ...answer, status: statusOf(answer) });
    const query = { ...aQuery, written, nrql, added };

    await expect(bench.client.query(query, question.window, context)).rejects.toMatchObject({
      reason: 'client',
      status: 400,
      message: expect.stringContaining(`at position ${shown}"`),
    });
  });

  it('11.1 that comes with an error beside its rows is no value', async () => {
    const part = nrqlPart([{ facet: 'shop', calls: 5 }]);
    const answer = nrqlAnswer(part, [anError('TIMEOUT', 'shard lost')]);
    const asked = aBench(answer).client.query(aQuery, question.window, context);

    await expect(asked).rejects.toMatchObject({ reason: 'schema' });
  });
});

describe('a search', () => {
  it.each([
    { cursor: undefined, is: null },
    { cursor: 'abc', is: 'abc' },
  ])('continues where the cursor $cursor says', async ({ cursor, is }) => {
    const bench = aBench(pageAnswer([anEntity(1)], 'next'));
    const page = await bench.client.entities('domain = 1', cursor, context);

    expect(bodyOf(bench)).toEqual({
      query: entitiesDocument,
      variables: { search: 'domain = 1', cursor: is },
    });
    expect(bench.transport.calls[0]?.operation).toBe('list_applications');
    expect(page).toMatchObject({ nextCursor: 'next' });
    expect(page.applications.map(({ id }) => id)).toEqual(['1']);
  });

  it('counts values that cannot be true', async () => {
    const bench = aBench(pageAnswer([anEntity(1, { apmSummary: { throughput: -1 } })]));
    await bench.client.entities('x', undefined, context);

    expect(bench.failures).toEqual(['negative']);
  });
});
