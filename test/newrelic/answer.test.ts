import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../src/model/api-error.ts';
import type { ThroughputQuery } from '../../src/newrelic/metric-payload.ts';
import { answerOf } from '../support/fake-transport.ts';
import { aRestSource, sampleText } from './a-rest-source.ts';

const query: ThroughputQuery = { window: undefined, transactions: ['web', 'other'], raw: false };

const noKey = sampleText('21-error-401-no-key.json');
const generic = sampleText('21b-error-generic-title.json');
const throttled = sampleText('19b-body-429.json');
const proxyError =
  '<h3>When seeking support, please reference the following error message:</h3>\n<p>proxy error</p>';
const sorry = 'Sorry – You’ve reached an error on New Relic';
const redirected =
  'You are being redirected https://rpm.newrelic.com/v2/applications/1234567890.json';

interface Row {
  readonly status: number;
  readonly body: string;
  readonly reason: FailureReason;
  readonly says: string;
}

const answers: readonly Row[] = [
  { status: 401, body: noKey, reason: 'auth', says: 'status 401, "No API key specified". Check' },
  { status: 401, body: 'Invalid API key.', reason: 'auth', says: 'status 401. Check the API key' },
  {
    status: 403,
    body: sorry,
    reason: 'auth',
    says: "status 403. The vendor forbids this application to the API key's user",
  },
  { status: 400, body: generic, reason: 'client', says: 'status 400, "error message".' },
  { status: 402, body: '', reason: 'client', says: 'status 402. The vendor asks for payment' },
  { status: 404, body: '{}', reason: 'not_found', says: 'status 404. The vendor no longer has it' },
  {
    status: 404,
    body: '{"error":{"title":"ERROR TITLE"}}',
    reason: 'not_found',
    says: 'status 404, "ERROR TITLE".',
  },
  { status: 422, body: '{"error":{"title":7}}', reason: 'client', says: 'status 422. The vendor' },
  { status: 429, body: throttled, reason: 'throttled', says: 'status 429. The vendor' },
  {
    status: 429,
    body: '{"error": "Rate limit exceeded"}',
    reason: 'throttled',
    says: 'status 429, "Rate limit exceeded". The vendor\'s quota',
  },
  { status: 429, body: '<html>...</html>', reason: 'throttled', says: 'requests_per_minute' },
  { status: 301, body: redirected, reason: 'redirect', says: 'Redirects are not followed' },
  { status: 304, body: '', reason: 'redirect', says: 'status 304.' },
  { status: 500, body: proxyError, reason: 'server', says: 'status 500. The vendor' },
  { status: 500, body: 'null', reason: 'server', says: 'status 500.' },
  { status: 500, body: '<invalid></invalid', reason: 'server', says: 'status 500.' },
  { status: 500, body: '{"error":{"title":', reason: 'server', says: 'status 500.' },
  { status: 503, body: '', reason: 'server', says: 'status 503.' },
  { status: 200, body: '', reason: 'not_json', says: 'the answer is empty. Check base_url' },
  { status: 200, body: ' \n', reason: 'not_json', says: 'the answer is empty.' },
  {
    status: 200,
    body: '<Invalid></Invalid',
    reason: 'not_json',
    says: 'the answer is not JSON: "<Invalid></Invalid". Check base_url',
  },
  {
    status: 200,
    body: '{"metric_data":{"metr',
    reason: 'not_json',
    says: '"{"metric_data":{"metr"',
  },
  { status: 200, body: '['.repeat(1_000_000), reason: 'not_json', says: 'is not JSON: "[[[[' },
  { status: 204, body: '', reason: 'not_json', says: 'the answer is empty.' },
  {
    status: 200,
    body: `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
    reason: 'schema',
    says: 'not a JSON object',
  },
  { status: 200, body: 'null', reason: 'schema', says: 'not a JSON object. Check that base_url' },
  { status: 200, body: '"text"', reason: 'schema', says: 'not a JSON object' },
  { status: 200, body: '{}', reason: 'schema', says: 'no metric_data.metrics' },
  {
    status: 200,
    body: '{"__proto__":{"metric_data":{"metrics":[]}}}',
    reason: 'schema',
    says: '.',
  },
  { status: 200, body: noKey, reason: 'server', says: 'but an error, "No API key specified".' },
  { status: 200, body: '{"error":{}}', reason: 'server', says: 'status 200, but an error. The' },
  {
    status: 200,
    body: '{"error":"overload","metric_data":{"metrics":[]}}',
    reason: 'server',
    says: 'but an error, "overload"',
  },
];

async function failureOfAnswer(status: number, body: string): Promise<unknown> {
  const { client, signal } = aRestSource(async () => answerOf(body, { status }));
  return client.hostThroughput('12', '345', query, { signal }).catch((error: unknown) => error);
}

describe('an answer that is a failure', () => {
  it.each(answers)('is $reason for $status $says', async ({ status, body, reason, says }) => {
    const error = await failureOfAnswer(status, body);

    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ reason, message: expect.stringContaining(says) });
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(/^host_throughput of application 12, host 345: .+\.$/u),
    );
  });

  it.each([
    { status: 401, says: 'status 401. Check the API key' },
    { status: 402, says: 'status 402. The vendor asks for payment' },
    { status: 403, says: 'status 403. Check the API key' },
    { status: 404, says: 'status 404. Check base_url' },
  ])('to a list of the account names its own remedy: $says', async ({ status, says }) => {
    const { source, signal } = aRestSource(async () => answerOf('', { status }));

    const { error } = await source.discover([], [], signal);

    expect(error).toHaveProperty('message', expect.stringContaining(`list_applications: ${says}`));
  });

  it.each([{ status: 401 }, { status: 404 }, { status: 503 }])(
    'keeps the status $status',
    async ({ status }) => {
      expect(await failureOfAnswer(status, '')).toHaveProperty('status', status);
    },
  );

  it('shows a long title in one short clean line', async () => {
    const title = `bad\u0000\n${'long '.repeat(100)}`;

    const error = await failureOfAnswer(500, JSON.stringify({ error: { title } }));

    expect(error).toHaveProperty('message', expect.stringMatching(/"bad long [long ]{100,115}…"/u));
  });

  it.each([
    { status: 200, body: '<p>NRAK-SECRET0123456789</p>' },
    { status: 200, body: 'NRAK-SECRET0123456789' },
    { status: 200, body: '{"error":{"title":"The key NRAK-SECRET0123456789 is bad"}}' },
    { status: 401, body: '{"error":{"title":"The key NRAK-SECRET0123456789 is bad"}}' },
  ])('never repeats the key in $status $body', async ({ status, body }) => {
    const error = await failureOfAnswer(status, body);

    const everything = inspect(error, { depth: 10, showHidden: true });
    expect(everything).toContain('[removed]');
    expect(everything).not.toContain('NRAK-S');
  });

  it('ignores an error member that says nothing', async () => {
    const { client, signal } = aRestSource(async () =>
      answerOf({ error: null, metric_data: { metrics: [] } }),
    );

    const answer = await client.applicationThroughput('12', query, { signal });

    expect(answer).toEqual({ throughput: new Map(), windowEndMs: undefined });
  });
});

describe('any answer whatever', () => {
  const anyBody = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('utf8')),
    fc.json(),
    fc
      .constantFrom('applications', 'application_hosts', 'metric_data')
      .chain((key) => fc.jsonValue().map((value) => JSON.stringify({ [key]: value }))),
    fc.jsonValue().map((metrics) => JSON.stringify({ metric_data: { metrics: [metrics] } })),
    fc.jsonValue().map((slice) =>
      JSON.stringify({
        metric_data: { metrics: [{ name: 'HttpDispatcher', timeslices: [slice] }] },
      }),
    ),
    fc
      .jsonValue()
      .map((value) => JSON.stringify({ applications: [value, { id: 1, links: value }] })),
  );

  it('rejects with nothing but an ApiError', async () => {
    const anyStatus = fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 599 }));

    await fc.assert(
      fc.asyncProperty(anyStatus, anyBody, async (status, body) => {
        const { source, client, signal } = aRestSource(async () => answerOf(body, { status }), {
          maxPages: 3,
        });
        const outcomes = await Promise.allSettled([
          client.hostThroughput('1', '2', query, { signal }),
          client.applicationThroughput('1', query, { signal }),
          source.hostNames('1', signal),
        ]);
        const reasons = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
        );

        expect(reasons.every((reason) => reason instanceof ApiError)).toBe(true);
        const discovery = await source.discover([{ kind: 'id', id: '1' }], [], signal);
        expect(discovery.complete).toBe(discovery.error === undefined);
      }),
    );
  });
});
