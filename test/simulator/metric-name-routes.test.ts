import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { anAccount } from './account.ts';

const page = z.object({
  metrics: z.array(z.object({ name: z.string(), values: z.array(z.string()) })),
});

type Metrics = z.infer<typeof page>['metrics'];

function metricsOf(spec: ApplicationSpec, query = '', path = '/v2/applications/1'): Metrics {
  const { read } = anAccount({
    applications: [{ id: 1, transactionNames: 0, hosts: [{ id: 11 }], ...spec }],
  });
  return page.parse(read(`${path}/metrics.json?${query}`)).metrics;
}

function namesOf(spec: ApplicationSpec, query = ''): readonly string[] {
  return metricsOf(spec, query).map(({ name }) => name);
}

const ofEveryHost = [
  'Agent/MetricsReported/count',
  'CPU/User Time',
  'CPU/User/Utilization',
  'Custom/Basket/Value',
  'Custom/Cache/Entries',
  'Custom/Queue/Depth',
  'Memory/Physical',
];

describe('the list of metrics', () => {
  it.each([
    {
      what: 'an application with web requests',
      spec: { kind: 'web' as const, language: 'ruby' },
      more: [
        'Apdex',
        'Datastore/all',
        'Datastore/allWeb',
        'Errors/all',
        'Errors/allWeb',
        'External/all',
        'HttpDispatcher',
        'WebFrontend/QueueTime',
      ],
    },
    {
      what: 'one with background work, and neither Apdex nor anything else of the web',
      spec: { kind: 'other' as const, language: 'ruby' },
      more: [
        'Datastore/all',
        'Datastore/allOther',
        'Errors/all',
        'Errors/allOther',
        'External/all',
        'OtherTransaction/all',
      ],
    },
    {
      what: 'one that never had an error, and has a heap',
      spec: { kind: 'other' as const, language: 'java', errorRatio: 0 },
      more: [
        'Datastore/all',
        'Datastore/allOther',
        'External/all',
        'Memory/Heap/Used',
        'OtherTransaction/all',
      ],
    },
  ])('is that of $what', ({ spec, more }) => {
    expect(namesOf(spec)).toEqual([...ofEveryHost, ...more].toSorted());
  });

  it.each([
    { name: 'HttpDispatcher', count: 11, value: 'average_response_time' },
    { name: 'Errors/all', count: 2, value: 'errors_per_minute' },
    { name: 'Apdex', count: 8, value: 'score' },
    { name: 'Memory/Physical', count: 7, value: 'used_bytes_by_host' },
    { name: 'CPU/User Time', count: 5, value: 'percent' },
    { name: 'Custom/Queue/Depth', count: 8, value: 'average_value' },
  ])('has $count values of $name, among them $value', ({ name, count, value }) => {
    const metric = metricsOf({ kind: 'both' }).find((one) => one.name === name);

    expect(metric?.values).toHaveLength(count);
    expect(metric?.values).toContain(value);
  });

  it('is the same for a host', () => {
    const spec = { kind: 'both' as const };

    expect(metricsOf(spec, '', '/v2/applications/1/hosts/11')).toEqual(metricsOf(spec));
  });

  it.each([
    { name: 'allweb', names: ['Datastore/allWeb', 'Errors/allWeb'] },
    { name: 'Custom%2FQueue', names: ['Custom/Queue/Depth'] },
    { name: 'none', names: [] },
  ])('is filtered by a part of a name: $name', ({ name, names }) => {
    expect(namesOf({ kind: 'web' }, `name=${name}`)).toEqual(names);
  });

  it('has different names of transactions, as many as the account is set to', () => {
    const names = namesOf({ kind: 'both', transactionNames: 250 }, 'name=Transaction/');

    expect(new Set(names).size).toBe(501);
    expect(names).toContain('WebTransaction/Controller/orders/show');
    expect(names).toContain('OtherTransaction/Job/orders/show/v2');
  });

  it('has pages of a thousand, or fewer if the account is set so', () => {
    const { get } = anAccount(
      { applications: [{ id: 1, kind: 'web', transactionNames: 9 }] },
      { metricNamesPageSize: 5, linkStyle: 'docs' },
    );
    const path = '/v2/applications/1/metrics.json';

    const answers = [1, 2, 3].map((number) => get(`${path}?name=WebTransaction&page=${number}`));

    expect(answers.map(({ body }) => page.parse(JSON.parse(body)).metrics.length)).toEqual([
      5, 4, 0,
    ]);
    expect(answers[0]?.headers['Link']).toBe(
      `<https://api.newrelic.com${path}?page=2>;rel="next", <https://api.newrelic.com${path}?page=2>;rel="last"`,
    );
    expect(answers[1]?.headers['Link']).not.toContain('next');
  });

  it.each(['/v2/applications/2/metrics.json', '/v2/applications/1/hosts/12/metrics.json'])(
    'is a 404 of what does not exist: %s',
    (target) => {
      const { get } = anAccount({ applications: [{ id: 1, hosts: [{ id: 11 }] }] });

      expect(get(target).status).toBe(404);
    },
  );
});
