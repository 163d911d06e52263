import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { statusOf } from '../../../src/newrelic/failures.ts';
import { entitiesQuery, nrqlDocument } from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import { aQuery, aSelected } from '../../support/builders.ts';
import { aJob } from '../../support/calls-at-once.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { everything } from './a-discovery.ts';
import { aNerdGraphSource, polled } from './a-nerdgraph-source.ts';
import { answering } from './a-nerdgraph-vendor.ts';
import { accountId, anEntity, anError, failedNrql, nrqlAnswer } from './answers.ts';

function variablesIn(body = ''): unknown {
  return (JSON.parse(body) as { readonly variables: unknown }).variables;
}

describe('a query', () => {
  it.each([
    [1000, 5],
    [10_500, 5],
    [11_000, 6],
    [30_000, 25],
    [600_000, 120],
  ])('is one request, with all in variables: of %d ms it may take %d s', async (...row) => {
    const [timeoutMs, seconds] = row;
    const bench = aNerdGraphSource(
      answering(() => []),
      undefined,
      { timeoutMs },
    );
    await polled(bench, [aSelected({ id: '7' }, { hosts: false })]);
    const [request, ...others] = bench.requests;

    expect([request, others]).toMatchObject([
      { operation: 'application_metrics', target: '/graphql', answerSize: 'large' },
      [],
    ]);
    expect(request?.body).toContain(JSON.stringify(nrqlDocument));
    const nrql: unknown = expect.stringMatching(/^SELECT .*IN \(7\).* UNTIL \d+$/u);
    expect(variablesIn(request?.body)).toEqual({ account: accountId, nrql, timeout: seconds });
  });

  it.each<[string, ApiResponse, string, string]>([
    [
      'a refusal',
      failedNrql(anError('TIMEOUT', 'slow')),
      'too_large',
      'status 413, "TIMEOUT: slow"',
    ],
    ['no JSON', answerOf('<html>Sign in'), 'not_json', 'the answer is not JSON: "<html>Sign in"'],
    ['nothing', nrqlAnswer(null), 'schema', 'the answer has nothing of what was asked for'],
  ])('that fails with %s is counted once', async (_, answer, reason, says) => {
    const bench = aNerdGraphSource(async () => ({ ...answer, status: statusOf(answer) }));
    const { outcomes } = await polled(bench, [aSelected({ id: '7' }, { hosts: false })]);

    const message: unknown = expect.stringContaining(
      `application_metrics of 1 application: ${says}. `,
    );
    expect(outcomes.get('7')?.error).toMatchObject({ reason, message });
    const isCounted = reason !== 'too_large';
    expect(bench.failures).toEqual(isCounted ? [`application_metrics ${reason}`] : []);
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
    const answer = failedNrql(anError('INVALID_INPUT', `unexpected '=' at position ${at}`));
    const { source } = aNerdGraphSource(async () => ({ ...answer, status: statusOf(answer) }));
    const options = { job: aJob, signal: neverAborted };
    for await (const { outcome } of source.poll(() => [{ kind: 'query', query }], options)) {
      const message: unknown = expect.stringContaining(`at position ${shown}"`);
      expect(outcome.error).toMatchObject({ reason: 'client', status: 400, message });
    }
    expect.hasAssertions();
  });
});

describe('a search', () => {
  it('continues where the cursor says', async () => {
    const bench = aNerdGraphSource(async ({ body = '' }) => {
      const isFirst = body.includes('"cursor":null');
      const results = {
        entities: [anEntity(isFirst ? 1 : 2)],
        nextCursor: isFirst ? 'abc' : null,
      };
      return answerOf({ data: { actor: { entitySearch: { count: 2, results } } } });
    });
    const found = await bench.source.discover({ selectors: [everything] }, [], neverAborted);

    expect(found.applications.map(({ id }) => id)).toEqual(['1', '2']);
    const search: unknown = expect.stringContaining('domain =');
    expect(bench.requests.map(({ body }) => variablesIn(body))).toEqual([
      { search, cursor: null },
      { search, cursor: 'abc' },
    ]);
    expect(bench.requests[0]?.body).toContain(JSON.stringify(entitiesQuery));
  });
});
