import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { type CallSubject, listElementsOf } from '../../../src/newrelic/rest/answer.ts';
import type { MetricQuery } from '../../../src/newrelic/rest/metric-payload.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource, sampleText } from './a-rest-source.ts';
import { discoveryOf } from './an-application-list.ts';

const query: MetricQuery = {
  window: undefined,
  series: seriesOf(['throughput'], ['web', 'other']),
  raw: false,
};

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
    says: "status 403. New Relic forbids this application to the API key's user",
  },
  { status: 400, body: generic, reason: 'client', says: 'status 400, "error message".' },
  { status: 402, body: '', reason: 'client', says: 'status 402. New Relic asks for payment' },
  { status: 404, body: '{}', reason: 'not_found', says: 'status 404. New Relic no longer has it' },
  { status: 422, body: '{"error":{"title":7}}', reason: 'client', says: 'status 422. New Relic' },
  { status: 429, body: throttled, reason: 'throttled', says: 'status 429. New Relic' },
  {
    status: 429,
    body: '{"error": "Rate limit exceeded"}',
    reason: 'throttled',
    says: 'status 429, "Rate limit exceeded". New Relic\'s quota',
  },
  { status: 301, body: redirected, reason: 'redirect', says: 'Redirects are not followed' },
  { status: 500, body: proxyError, reason: 'server', says: 'status 500. New Relic' },
  { status: 500, body: '{"error":{"title":', reason: 'server', says: 'status 500.' },
  { status: 200, body: '', reason: 'not_json', says: 'the answer is empty. Check base_url' },
  {
    status: 200,
    body: '<Invalid></Invalid',
    reason: 'not_json',
    says: 'the answer is not JSON: "<Invalid></Invalid". Check base_url',
  },
  { status: 200, body: '['.repeat(1_000_000), reason: 'not_json', says: 'is not JSON: "[[[[' },
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
  {
    status: 200,
    body: '{"error":"overload","metric_data":{"metrics":[]}}',
    reason: 'server',
    says: 'but an error, "overload"',
  },
];

const ofOtherRegion = '{"errors":[{"message":"not authorized for account region"}]}';

async function failureOfAnswer(status: number, body: string): Promise<unknown> {
  const { client, signal } = aRestSource(async () => answerOf(body, { status }));
  return client.metrics('12', '345', query, { signal }).catch((error: unknown) => error);
}

describe('an answer that is a failure', () => {
  it.each(answers)('is $reason for $status $says', async ({ status, body, reason, says }) => {
    const error = await failureOfAnswer(status, body);

    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ reason, message: expect.stringContaining(says) });
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(/^host_metrics of application 12, host 345: .+\.$/u),
    );
  });

  it.each([
    { status: 401, says: 'status 401. Check the API key' },
    { status: 402, says: 'status 402. New Relic asks for payment' },
    { status: 403, says: 'status 403. Check the API key' },
    { status: 404, says: 'status 404. Check base_url' },
  ])('has a remedy of its own for a list of the account: $says', async ({ status, says }) => {
    const { source, signal } = aRestSource(async () => answerOf('', { status }));

    const { error } = await source.discover({ selectors: [] }, [], signal);

    const message = expect.stringContaining(`list_applications: ${says}`);
    expect(error).toMatchObject({ status, message });
  });

  it.each([
    { status: 200, says: 'status 200, but an error' },
    { status: 401, says: 'status 401' },
    { status: 403, says: 'status 403' },
  ])('is that of a key of another region: $says', async ({ status, says }) => {
    const { source, signal } = aRestSource(async () => answerOf(ofOtherRegion, { status }));

    const { error } = await source.discover({ selectors: [] }, [], signal);

    const remedy =
      'The account is in another region of New Relic: set "region" to that of the account (us, eu, jp or gov);';
    const message = `list_applications: ${says}, "not authorized for account region". ${remedy}`;
    expect(error).toMatchObject({ reason: 'auth', message: expect.stringContaining(message) });
  });

  it.each([
    { status: 200, body: '<p>NRAK-SECRET0123456789</p>' },
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

    const answer = await client.metrics('12', undefined, query, { signal });

    expect(answer).toMatchObject({ values: [undefined, undefined], windowEndMs: undefined });
  });
});

describe('any answer', () => {
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
        const { source, client, signal } = aRestSource(async () => answerOf(body, { status }));
        const outcomes = await Promise.allSettled([
          client.metrics('1', '2', query, { signal }),
          client.metrics('1', undefined, query, { signal }),
          client.hostNames('1', { signal }),
        ]);
        const reasons = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
        );

        expect(reasons.every((reason) => reason instanceof ApiError)).toBe(true);
        const discovery = await source.discover(
          { selectors: [{ kind: 'id', id: '1' }] },
          [],
          signal,
        );
        expect(discovery.complete).toBe(discovery.error === undefined);
      }),
    );
  });
});

const uselessAnswers: readonly { what: string; answer: ApiResponse; reason: string | undefined }[] =
  [
    { what: 'a page of HTML', answer: answerOf('<html>'), reason: 'not_json' },
    { what: 'nothing', answer: answerOf(''), reason: 'not_json' },
    { what: 'a list that is none', answer: answerOf({ applications: 1 }), reason: 'schema' },
    {
      what: 'an error with status 200',
      answer: answerOf({ error: { title: 'x' } }),
      reason: 'server',
    },
    {
      what: 'a status that the transport has counted',
      answer: answerOf('', { status: 500 }),
      reason: undefined,
    },
  ];

describe('an answer that cannot be read', () => {
  it.each(uselessAnswers)('is counted once when it is $what', async ({ answer, reason }) => {
    const { source, client, signal, failures } = aRestSource(async () => answer);

    await source.discover({ selectors: [] }, [], signal);
    await client.hostNames('1', { signal }).catch(() => undefined);
    await client.metrics('1', undefined, query, { signal }).catch(() => undefined);
    await client.metrics('1', '2', query, { signal }).catch(() => undefined);

    const operations = ['list_applications', 'list_hosts', 'application_metrics', 'host_metrics'];
    const expected = operations.map((operation) => `${operation} ${reason}`);
    expect(failures).toEqual(reason === undefined ? [] : expected);
  });

  it('is counted when an application in it cannot be identified', async () => {
    const { source, signal, failures } = aRestSource(async () =>
      answerOf({ applications: [null, {}, { id: 1, name: 'a' }] }),
    );

    await source.discover({ selectors: [] }, [], signal);

    expect(failures).toEqual(['list_applications schema']);
  });

  it('is not counted when everything that is unreadable can be identified', async () => {
    const { source, signal, failures } = aRestSource(async () =>
      answerOf({
        applications: [{ id: 1 }, { id: 2, name: 'a', links: { application_hosts: [{}] } }],
      }),
    );

    await source.discover({ selectors: [] }, [], signal);

    expect(failures).toEqual([]);
  });
});

const subject: CallSubject = { operation: 'list_hosts', applicationId: '1', hostId: undefined };
const elements = (count: number): readonly unknown[] => Array.from({ length: count }, () => 0);

describe('listElementsOf', () => {
  it.each([{ count: 0 }, { count: 200 }, { count: 1000 }])(
    'accepts a page of $count elements',
    ({ count }) => {
      const list = elements(count);

      expect(listElementsOf({ application_hosts: list }, 'application_hosts', subject)).toBe(list);
    },
  );

  it('rejects a longer page, and says how long it is', () => {
    const read = (): unknown =>
      listElementsOf({ application_hosts: elements(1001) }, 'application_hosts', subject);

    expect(read).toThrow('lists 1001 application_hosts on one page');
  });

  it('does not look at a list of applications that is too long', async () => {
    const discovery = await discoveryOf({ applications: elements(1_000_000) });

    expect(discovery).toMatchObject({ applications: [], complete: false, logged: [] });
    expect(discovery.error).toMatchObject({ reason: 'schema' });
  });
});
