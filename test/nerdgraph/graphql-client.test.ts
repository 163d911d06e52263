import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import {
  createGraphqlClient,
  entitiesDocument,
  type GraphqlClient,
  nrqlDocument,
} from '../../src/nerdgraph/graphql-client.ts';
import { createFakeTurn } from '../rate-limit/fakes.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import {
  answerOf,
  createFakeTransport,
  type FakeTransport,
  type ScriptedAnswer,
} from '../support/fake-transport.ts';
import { schemaProblems } from '../support/nerdgraph-schema.ts';
import { neverAborted } from '../transport/fakes.ts';
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

interface Bench {
  readonly client: GraphqlClient;
  readonly transport: FakeTransport;
  readonly failures: readonly string[];
}

function aBench(answer: ScriptedAnswer, timeoutMs = 30_000): Bench {
  const transport = createFakeTransport({ '/graphql': answer });
  const failures: string[] = [];
  const client = createGraphqlClient(
    { accountId, timeoutMs: () => timeoutMs },
    {
      send: transport.send,
      observer: {
        failed: (operation, reason) => failures.push(`${operation} ${reason}`),
        invalidSample: (reason) => failures.push(reason),
      },
      unexpected: createRecordingUnexpectedAnswers(),
    },
  );
  return { client, transport, failures };
}

const question = {
  operation: 'host_metrics',
  nrql: 'SELECT 1',
  window: { fromMs: 0, toMs: 60_000 },
  applications: 2,
} as const;
const context = { signal: neverAborted };

function bodyOf({ transport }: Bench): unknown {
  return JSON.parse(transport.calls[0]?.body ?? '');
}

describe('the documents', () => {
  it.each([{ document: nrqlDocument }, { document: entitiesDocument }])(
    'are valid in the schema of New Relic: $document',
    ({ document }) => {
      expect(schemaProblems(document)).toEqual([]);
    },
  );
});

describe('a query', () => {
  it('is one request, with everything in variables', async () => {
    const bench = aBench(nrqlAnswer(nrqlPart([])));
    await bench.client.nrql(question, context);

    expect(bench.transport.calls).toMatchObject([
      { operation: 'host_metrics', target: '/graphql', answerSize: 'large' },
    ]);
    expect(bodyOf(bench)).toEqual({
      query: nrqlDocument,
      variables: { account: accountId, nrql: 'SELECT 1', timeout: 25 },
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
    { id: '"9007199254740993"', rows: [{ applicationId: '9007199254740993', calls: 1 }] },
    { id: '1234567', rows: [{ applicationId: '1234567', calls: 1 }] },
    { id: '9007199254740993', rows: [] },
  ])('brings rows, and none whose id was rounded: $id', async ({ id, rows: expected }) => {
    const body = JSON.stringify({
      data: { actor: { account: { nrql: nrqlPart([{ appId: 'ID', calls: 1 }]) } } },
    });
    const bench = aBench(answerOf(body.replace('"ID"', id)));

    const { rows } = await bench.client.nrql(question, context);

    expect(rows).toMatchObject(expected);
    expect(rows).toHaveLength(expected.length);
  });

  it('sends the request in the turn of its call', async () => {
    const bench = aBench(nrqlAnswer(nrqlPart([])));
    const turn = createFakeTurn({ clock: createFakeClock() });
    await bench.client.nrql(question, { ...context, turn });

    expect(bench.transport.calls[0]?.turn).toBe(turn);
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

  it('rejects as the transport does', async () => {
    const error = new ApiError('reset', 'broken');

    await expect(aBench(error).client.nrql(question, context)).rejects.toBe(error);
  });

  it('rejects with the reason of an abort', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));

    await expect(
      aBench(nrqlAnswer(nrqlPart([]))).client.nrql(question, { signal }),
    ).rejects.toThrow('stopped');
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
