import { describe, expect, it } from 'vitest';
import { answerOf } from '../../support/fake-transport.ts';
import { type Discovered, discover, everything, sampleText } from './a-rest-source.ts';

/** The discovery from a list with this body. */
async function discoveryOf(body: unknown): Promise<Discovered> {
  return discover([everything], { list: answerOf(body) });
}

async function listOf(...applications: readonly unknown[]): Promise<Discovered> {
  return discoveryOf({ applications });
}

const bare = {
  id: '1',
  name: 'bare',
  language: undefined,
  healthStatus: undefined,
  reporting: undefined,
  lastReportedAtMs: undefined,
  summary: undefined,
  hostIds: undefined,
  instances: undefined,
};
const silent = {
  ...bare,
  id: '123',
  name: 'test',
  language: 'go',
  healthStatus: 'gray',
  reporting: false,
  hostIds: [],
  instances: 0,
};
const inSample = {
  id: '9045822',
  name: 'Test/Client/Name',
  language: 'ruby',
  healthStatus: 'green',
  reporting: true,
  lastReportedAtMs: Date.UTC(2015, 5, 8, 14, 44, 26),
  summary: {
    requestsPerMinute: 54.7,
    responseTimeSeconds: 0.441,
    errorRatio: 0,
    apdexScore: 0.84,
    apdexTargetSeconds: 0.5,
  },
  hostIds: ['2903402', '3490824', '9090823'],
  instances: 3,
};
const silentSample = sampleText('06-application-not-reporting-go.json')
  .replace('"application": {', '"applications": [{')
  .replace(/\}\s*$/, ']}');

describe('an application of the list', () => {
  it.each([
    ['a sample, in other units', sampleText('01-applications-list-ruby-2015.json'), inSample],
    ['a sample that does not report', silentSample, silent],
    ['nothing but an id and a name', { applications: [{ id: 1, name: 'bare' }] }, bare],
  ])('is read: %s', async (_, body, is) => {
    expect(await discoveryOf(body)).toMatchObject({ complete: true, applications: [is] });
  });

  const half = { requestsPerMinute: 3, errorRatio: 0.025, apdexScore: undefined };
  it.each([
    [{ application_summary: 7 }, { summary: undefined }],
    [{ application_summary: null }, { summary: undefined }],
    [{ application_summary: { throughput: 3, error_rate: 2.5 } }, { summary: half }],
    [{ language: 7 }, { language: undefined }],
    [{ language: '' }, { language: undefined }],
    [{ health_status: 'mauve' }, { healthStatus: 'mauve' }],
    [{ reporting: 'yes' }, { reporting: undefined }],
    [{ last_reported_at: 'now' }, { lastReportedAtMs: undefined }],
    [{ links: null }, { hostIds: undefined, instances: undefined }],
    [{ links: { application_hosts: [5] } }, { hostIds: ['5'], instances: undefined }],
    [{ links: { application_hosts: [5, '5', 6] } }, { hostIds: ['5', '6'] }],
    [{ id: '77' }, { id: '77' }],
  ])('with %j has %j', async (change, has) => {
    const found = await listOf({ id: 1, name: 'a', ...change });

    expect(found).toMatchObject({ complete: true, applications: [has] });
  });

  it('keeps every digit of ids beyond 2^53', async () => {
    const { applications } = await discoveryOf(
      '{"applications":[{"id":9007199254740993,"name":"9007199254740993","links":' +
        '{"application_hosts":[12345678901234567890],"application_instances":[]}}]}',
    );

    expect(applications).toMatchObject([
      { id: '9007199254740993', name: '9007199254740993', hostIds: ['12345678901234567890'] },
    ]);
  });

  it('loses only those summary values that are not sensible numbers', async () => {
    const { applications, complete, reported } = await discoveryOf(
      '{"applications":[{"id":1,"name":"a","application_summary":' +
        '{"throughput":1e999,"response_time":-1,"error_rate":"0","apdex_score":0.5}}]}',
    );

    expect(complete).toBe(true);
    expect(applications[0]?.summary).toEqual({ apdexScore: 0.5 });
    expect(reported.invalidSamples).toEqual(['not_finite', 'negative', 'not_a_number']);
  });
});

describe('a part of the list that cannot be read', () => {
  const good = { id: 1, name: 'good' };
  const next = { id: 3, name: 'next' };

  it.each([null, 'x', { name: 'a' }, ...['a1', -1, 1.5].map((id) => ({ id, name: 'a' }))])(
    'is left out and named, and the other parts stay: %j',
    async (element) => {
      const { ids, error, reported } = await listOf(good, element, next, { id: 4 });
      const [says, unnamed] = ['element 1 of the list: no numeric id', 'application 4: no name'];

      expect(ids).toEqual(['1', '3']);
      expect(error).toMatchObject({ name: 'ApiError', reason: 'schema' });
      expect(error?.message).toContain(`parts of the list were left out (1), the first: ${says}`);
      expect(reported.logged).toEqual([{ problem: says }, { problem: unnamed }]);
      expect(reported.failures).toEqual(['list_applications schema']);
    },
  );

  it.each([{ id: 2 }, { id: 2, name: {} }])(
    'keeps what is known about it if it has an id, and the list is still complete: %j',
    async (element) => {
      const found = await listOf(good, element, next);

      expect(found).toMatchObject({ complete: true, ids: ['1', '3'], unreadableIds: ['2'] });
      expect(found.reported.logged).toEqual([{ problem: 'application 2: no name' }]);
      expect(found.reported.failures).toEqual([]);
    },
  );

  it('may be a single host id', async () => {
    const links = { application_hosts: [5, 'x', null, 93.5, 6], application_instances: [{}] };
    const { applications, complete, reported } = await listOf({ ...good, links });

    expect(applications).toMatchObject([{ hostIds: ['5', '6'], instances: 0 }]);
    expect(complete).toBe(true);
    expect(reported.logged).toMatchObject([
      { problem: 'application 1: host ids that are not numbers: 3' },
      { problem: 'application 1: instance ids that are not numbers: 1' },
    ]);
  });

  it('is not unreadable if the list has it a second time', async () => {
    expect(await listOf({ id: 1 }, good)).toMatchObject({ ids: ['1'], unreadableIds: [] });
  });

  it.each([
    [1000, 'parts of the list were left out (1000)'],
    [1001, 'the answer lists 1001 applications on one page, more than a page ever has'],
    [1_000_000, 'the answer lists 1000000 applications on one page'],
  ])('is not looked at in a page of more than a thousand elements: %d', async (count, says) => {
    const { error, reported } = await discoveryOf({ applications: Array(count).fill(0) });

    expect(error?.message).toContain(says);
    expect(reported.logged).toHaveLength(count > 1000 ? 0 : count);
  });
});
