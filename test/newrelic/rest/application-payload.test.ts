import { describe, expect, it } from 'vitest';
import { sampleText } from './a-rest-source.ts';
import { discoveryOf, listOf } from './an-application-list.ts';

describe('the application lists of the samples', () => {
  it('are read with converted units', async () => {
    const { applications, complete } = await discoveryOf(
      sampleText('01-applications-list-ruby-2015.json'),
    );

    expect(complete).toBe(true);
    expect(applications).toEqual([
      {
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
      },
    ]);
  });

  it('may hold an application that does not report', async () => {
    const text = sampleText('06-application-not-reporting-go.json');
    const list = text.replace('"application": {', '"applications": [{').replace(/\}\s*$/, ']}');

    const { applications, complete } = await discoveryOf(list);

    expect(complete).toBe(true);
    expect(applications).toEqual([
      {
        id: '123',
        name: 'test',
        language: 'go',
        healthStatus: 'gray',
        reporting: false,
        lastReportedAtMs: undefined,
        summary: undefined,
        hostIds: [],
        instances: 0,
      },
    ]);
  });
});

describe('an application of the list', () => {
  it('needs nothing but an id and a name', async () => {
    const { applications, complete } = await listOf({ id: 1, name: 'bare' });

    expect(complete).toBe(true);
    expect(applications).toEqual([
      {
        id: '1',
        name: 'bare',
        language: undefined,
        healthStatus: undefined,
        reporting: undefined,
        lastReportedAtMs: undefined,
        summary: undefined,
        hostIds: undefined,
        instances: undefined,
      },
    ]);
  });

  it.each([
    {
      what: 'a summary of another type',
      change: { application_summary: 7 },
      has: { summary: undefined },
    },
    { what: 'no summary', change: { application_summary: null }, has: { summary: undefined } },
    { what: 'a language of another type', change: { language: 7 }, has: { language: undefined } },
    { what: 'an empty language', change: { language: '' }, has: { language: undefined } },
    {
      what: 'a new health status',
      change: { health_status: 'mauve' },
      has: { healthStatus: 'mauve' },
    },
    { what: 'reporting as a text', change: { reporting: 'yes' }, has: { reporting: undefined } },
    {
      what: 'an unreadable time',
      change: { last_reported_at: 'now' },
      has: { lastReportedAtMs: undefined },
    },
    {
      what: 'no links',
      change: { links: null },
      has: { hostIds: undefined, instances: undefined },
    },
    {
      what: 'one of the two link lists',
      change: { links: { application_hosts: [5], application_instances: null } },
      has: { hostIds: ['5'], instances: undefined },
    },
    {
      what: 'a host id that stands twice',
      change: { links: { application_hosts: [5, '5', 6] } },
      has: { hostIds: ['5', '6'] },
    },
    { what: 'an id in a string', change: { id: '77' }, has: { id: '77' } },
    {
      what: 'a half summary',
      change: { application_summary: { throughput: 3, error_rate: 2.5 } },
      has: {
        summary: {
          requestsPerMinute: 3,
          errorRatio: 0.025,
          responseTimeSeconds: undefined,
          apdexScore: undefined,
          apdexTargetSeconds: undefined,
        },
      },
    },
  ])('may have $what', async ({ change, has }) => {
    const discovery = await listOf({ id: 1, name: 'a', ...change });

    expect(discovery.complete).toBe(true);
    expect(discovery.applications).toMatchObject([has]);
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
    const { applications, complete, invalid } = await discoveryOf(
      '{"applications":[{"id":1,"name":"a","application_summary":' +
        '{"throughput":1e999,"response_time":-1,"error_rate":"0","apdex_score":0.5}}]}',
    );

    expect(complete).toBe(true);
    expect(applications[0]?.summary).toMatchObject({
      requestsPerMinute: undefined,
      responseTimeSeconds: undefined,
      errorRatio: undefined,
      apdexScore: 0.5,
    });
    expect(invalid).toEqual(['not_finite', 'negative', 'not_a_number']);
  });
});

describe('a part of the list that cannot be read', () => {
  const good = { id: 1, name: 'good' };

  it.each([
    { what: 'null', element: null, says: 'element 1 of the list' },
    { what: 'a text', element: 'x', says: 'element 1 of the list' },
    { what: 'no id', element: { name: 'a' }, says: 'no numeric id' },
    { what: 'an id that is no number', element: { id: 'a1', name: 'a' }, says: 'no numeric id' },
    { what: 'a negative id', element: { id: -1, name: 'a' }, says: 'no numeric id' },
    { what: 'a fraction for an id', element: { id: 1.5, name: 'a' }, says: 'no numeric id' },
  ])('($what) is left out and named, and the other parts stay', async ({ element, says }) => {
    const discovery = await listOf(good, element, { ...good, id: 3 });

    expect(discovery.applications.map(({ id }) => id)).toEqual(['1', '3']);
    expect(discovery.complete).toBe(false);
    expect(discovery.error).toMatchObject({ name: 'ApiError', reason: 'schema' });
    expect(discovery.error?.message).toContain('parts of the list were left out (1), the first: ');
    expect(discovery.error?.message).toContain(says);
    expect(discovery.logged).toEqual([{ problem: expect.stringContaining(says) }]);
  });

  it.each([
    { what: 'no name', element: { id: 2 } },
    { what: 'a name of another type', element: { id: 2, name: {} } },
  ])(
    '($what) keeps what is known about it, and the list is still complete',
    async ({ element }) => {
      const discovery = await listOf(good, element, { ...good, id: 3 });

      expect(discovery.applications.map(({ id }) => id)).toEqual(['1', '3']);
      expect(discovery).toMatchObject({ complete: true, unreadableIds: ['2'], error: undefined });
      expect(discovery.logged).toEqual([{ problem: 'application 2: no name' }]);
    },
  );

  it('may be a single host id', async () => {
    const links = { application_hosts: [5, 'x', null, 93.5, 6], application_instances: [{}] };

    const discovery = await listOf({ ...good, links });

    expect(discovery.applications).toMatchObject([{ hostIds: ['5', '6'], instances: 0 }]);
    expect(discovery).toMatchObject({ complete: true, unreadableIds: [] });
    expect(discovery.logged).toMatchObject([
      { problem: 'application 1: host ids that are not numbers: 3' },
      { problem: 'application 1: instance ids that are not numbers: 1' },
    ]);
  });

  it('is named by the error only if its id cannot be read', async () => {
    const discovery = await listOf({ id: 2 }, null);

    expect(discovery.error?.message).toContain(
      'parts of the list were left out (1), the first: element 1 of the list',
    );
  });

  it('is not unreadable if the list has it a second time', async () => {
    const discovery = await listOf({ id: 1 }, good);

    expect(discovery).toMatchObject({ applications: [{ id: '1' }], unreadableIds: [] });
  });
});
