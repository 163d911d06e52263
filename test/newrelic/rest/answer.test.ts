import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason } from '../../../src/model/api-error.ts';
import { aSelected } from '../../support/builders.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aRestSource, byIds, polledOne, sampleText } from './a-rest-source.ts';

const noKey = sampleText('21-error-401-no-key.json');
const generic = sampleText('21b-error-generic-title.json');
const throttled = sampleText('19b-body-429.json');
const brackets = '['.repeat(500_000);
const withError = (error: string): string => `{"error":${error},"metric_data":{"metrics":[]}}`;
const inherited = '{"__proto__":{"metric_data":{"metrics":[]}}}';

const named = { application: false, poll: { hostNames: true } } as const;

/** Polls application 12 with its host 345 for one answer to all calls, and makes a discovery before. */
async function outcomesOf(body: unknown, status = 200) {
  const { source, failures, logged } = aRestSource(async () => answerOf(body, { status }));
  const discovery = await source.discover({ selectors: byIds('1') }, [], neverAborted);
  const [ofHosts, ofApplication] = [
    await polledOne(source, aSelected({ id: '12', hostIds: ['345'] }, named)),
    await polledOne(source, aSelected({ id: '12' }, { hosts: false })),
  ];
  return { discovery, ofHosts, ofApplication, failures, logged };
}

const ofOther = '{"errors":[{"message":"not authorized for account region"}]}';
const region = 'The account is in another region of New Relic: set "region" to that of the account';
const unknown = 'It does not say whose fault that is; it may pass by itself';
const titled = (text: string): string => JSON.stringify({ error: { title: text } });

describe('an answer that is a failure', () => {
  const failures: readonly (readonly [number, string, FailureReason, string])[] = [
    [401, noKey, 'auth', 'status 401, "No API key specified". Check'],
    [401, 'Invalid API key.', 'auth', 'status 401. Check the API key'],
    [403, 'Sorry', 'auth', "status 403. New Relic forbids this application to the API key's user"],
    [400, generic, 'client', 'status 400, "error message". New Relic refuses this request'],
    [400, ofOther, 'auth', region],
    [400, '<p>', 'client', `status 400. ${unknown}`],
    [405, '', 'client', `status 405. ${unknown}`],
    [402, '', 'client', 'status 402. New Relic asks for payment'],
    [422, '{"error":{"title":7}}', 'client', 'status 422. New Relic'],
    [422, titled('window'), 'client', 'status 422, "window". New Relic refuses this request'],
    [429, throttled, 'throttled', 'status 429. New Relic'],
    [429, '{"error":"Rate limit"}', 'throttled', 'status 429, "Rate limit". New Relic\'s quota'],
    [301, 'You are being redirected', 'redirect', 'Redirects are not followed'],
    [500, '<p>proxy error</p>', 'server', 'status 500. New Relic, or something on the way'],
    [500, titled('permission check broke'), 'server', 'broke". New Relic, or something on the way'],
    [503, titled('UNAUTHORIZED'), 'server', 'UNAUTHORIZED". New Relic, or something on the way'],
    [500, '{"error":{"title":', 'server', 'status 500.'],
    [200, '', 'not_json', 'the answer is empty. Check base_url'],
    [200, '<Invalid', 'not_json', 'the answer is not JSON: "<Invalid". Check base_url'],
    [200, brackets, 'not_json', 'is not JSON: "[[[['],
    [200, `${brackets}${']'.repeat(500_000)}`, 'schema', 'not a JSON object'],
    [200, 'null', 'schema', 'not a JSON object. Check that base_url'],
    [200, '"text"', 'schema', 'not a JSON object'],
    [200, '{}', 'schema', 'no metric_data.metrics'],
    [200, inherited, 'schema', 'no metric_data.metrics'],
    [200, noKey, 'server', 'but an error, "No API key specified".'],
    [200, withError('"overload"'), 'server', `but an error, "overload". ${unknown}`],
    [200, ofOther, 'auth', region],
  ];
  it.each(failures.map(([status, body, reason, says]) => ({ status, body, reason, says })))(
    'is $reason, for $status: $says',
    async ({ status, body, reason, says }) => {
      const { error } = (await outcomesOf(body, status)).ofHosts;

      expect(error).toBeInstanceOf(ApiError);
      expect(error?.reason).toBe(reason);
      expect(error?.message).toMatch(/^host_metrics of application 12, host 345: .+\.$/u);
      expect(error?.message).toContain(says);
    },
  );

  it('is none with an error member that says nothing', async () => {
    const { ofHosts } = await outcomesOf(withError('null'));

    expect(ofHosts.error).toBeUndefined();
    expect(ofHosts.reading?.hosts.get('345')).toEqual([undefined, undefined]);
  });

  it.each([
    [401, '', 'status 401. Check the API key'],
    [402, '', 'status 402. New Relic asks for payment'],
    [403, '', 'status 403. Check the API key'],
    [404, '', 'status 404. Check base_url'],
    [200, ofOther, `status 200, but an error, "not authorized for account region". ${region}`],
    [401, ofOther, `status 401, "not authorized for account region". ${region}`],
    [403, ofOther, `status 403, "not authorized for account region". ${region}`],
  ])('has a remedy of its own for a list of the account: %d %s', async (status, body, says) => {
    const { error } = (await outcomesOf(body, status)).discovery;

    expect(error).toMatchObject({ status: status === 200 ? 403 : status });
    expect(error?.message).toContain(`list_applications: ${says}`);
  });

  const secret = '{"error":{"title":"The key NRAK-SECRET0123456789 is bad"}}';
  it.each([
    [200, '<p>NRAK-SECRET0123456789</p>'],
    [200, secret],
    [401, secret],
  ])('never repeats the key: %d %s', async (status, body) => {
    const { error } = (await outcomesOf(body, status)).ofHosts;
    const everything = inspect(error, { depth: 10, showHidden: true });

    expect(everything).toContain('[removed]');
    expect(everything).not.toContain('NRAK-S');
  });
});

describe('any answer', () => {
  const json = fc.jsonValue();
  const anyBody = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('utf8')),
    fc.json(),
    fc
      .tuple(fc.constantFrom('applications', 'application_hosts', 'metric_data'), json)
      .map(([key, value]) => ({ [key]: value })),
    json.map((metric) => ({ metric_data: { metrics: [metric] } })),
    json.map((slice) => ({
      metric_data: { metrics: [{ name: 'HttpDispatcher', timeslices: [slice] }] },
    })),
    json.map((value) => ({ applications: [value, { id: 1, links: value }] })),
  );

  it('ends in values or in an ApiError', async () => {
    const anyStatus = fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 599 }));

    await fc.assert(
      fc.asyncProperty(anyStatus, anyBody, async (status, body) => {
        const { discovery, ofHosts, ofApplication, logged } = await outcomesOf(body, status);

        expect(discovery.complete).toBe(discovery.error === undefined);
        const ofNames = logged.map(({ error }) => error as Error | undefined);
        for (const error of [ofHosts.error, ofApplication.error, ...ofNames]) {
          // A fault of this program would be one, too, with itself as the cause.
          expect(error?.cause).toBeUndefined();
        }
      }),
    );
  });
});

describe('an answer that cannot be read', () => {
  const all = ['list_applications', 'list_hosts', 'host_metrics', 'application_metrics'];

  it.each([
    ['a page of HTML', '<html>', 200, 'not_json'],
    ['nothing', '', 200, 'not_json'],
    ['a list that is none', { applications: 1 }, 200, 'schema'],
    ['an error with status 200', { error: { title: 'x' } }, 200, 'server'],
    ['a status that the transport has counted', '', 500, undefined],
  ])('is counted once when it is %s', async (_, body, status, reason) => {
    const { failures } = await outcomesOf(body, status);

    expect(failures).toEqual(reason === undefined ? [] : all.map((one) => `${one} ${reason}`));
  });
});
