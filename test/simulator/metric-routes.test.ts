import { describe, expect, it } from 'vitest';
import { type Account, anAccount, valuesOfOneSlice } from './account.ts';

const throughput =
  'names[]=HttpDispatcher&names[]=OtherTransaction/all&values[]=requests_per_minute&summarize=true';
const range = 'from=2026-09-01T09:50:00Z&to=2026-09-01T09:55:00Z';

function anApplication(
  kind: 'web' | 'other' | 'both' | 'idle' | 'not_reporting',
  idleMetric: 'zero' | 'not_found' = 'zero',
): Account {
  const rates = {
    web: { webRpm: 120 },
    other: { otherRpm: 40 },
    both: { webRpm: 120, otherRpm: 40 },
    idle: {},
    not_reporting: { webRpm: 120 },
  }[kind];
  return anAccount(
    {
      traffic: 'flat',
      applications: [{ id: 1, kind, ...rates, hosts: [{ id: 11 }, { id: 12 }] }],
    },
    { idleMetric },
  );
}

const slice = (value: number): unknown => ({
  from: '2026-09-01T09:50:00+00:00',
  to: '2026-09-01T09:55:00+00:00',
  values: { requests_per_minute: value },
});
const web = (value: number): unknown => ({ name: 'HttpDispatcher', timeslices: [slice(value)] });
const other = (value: number): unknown => ({
  name: 'OtherTransaction/all',
  timeslices: [slice(value)],
});

describe('metric data, summarized', () => {
  it.each([
    {
      kind: 'web' as const,
      found: ['HttpDispatcher'],
      notFound: ['OtherTransaction/all'],
      metrics: [web(120)],
    },
    {
      kind: 'other' as const,
      found: ['OtherTransaction/all'],
      notFound: ['HttpDispatcher'],
      metrics: [other(40)],
    },
    {
      kind: 'both' as const,
      found: ['HttpDispatcher', 'OtherTransaction/all'],
      notFound: [],
      metrics: [web(120), other(40)],
    },
  ])(
    'of an application of the kind $kind has $found and lacks $notFound',
    ({ kind, found, notFound, metrics }) => {
      const { read } = anApplication(kind);

      const document = read(`/v2/applications/1/metrics/data.json?${throughput}&${range}`);

      expect(document).toEqual({
        metric_data: {
          from: '2026-09-01T09:50:00+00:00',
          to: '2026-09-01T09:55:00+00:00',
          metrics_not_found: notFound,
          metrics_found: found,
          metrics,
        },
      });
    },
  );

  it.each([{ kind: 'idle' as const }, { kind: 'not_reporting' as const }])(
    'finds a metric without calls ($kind) with 0, or not at all, as the account is set',
    ({ kind }) => {
      const target = `/v2/applications/1/metrics/data.json?${throughput}&${range}`;

      expect(anApplication(kind, 'zero').read(target)).toMatchObject({
        metric_data: {
          metrics_found: ['HttpDispatcher'],
          metrics_not_found: ['OtherTransaction/all'],
          metrics: [web(0)],
        },
      });
      expect(anApplication(kind, 'not_found').read(target)).toMatchObject({
        metric_data: {
          metrics_found: [],
          metrics_not_found: ['HttpDispatcher', 'OtherTransaction/all'],
          metrics: [],
        },
      });
    },
  );

  it('finds no metric of a host that was gone during the whole range', async () => {
    const { read, fleet, clock } = anApplication('web');
    fleet.removeHost(1, 11);
    await clock.advance(10 * 60_000);
    const later = 'from=2026-09-01T10:02:00Z&to=2026-09-01T10:05:00Z';

    expect(
      read(`/v2/applications/1/hosts/11/metrics/data.json?${throughput}&${later}`),
    ).toMatchObject({
      metric_data: {
        metrics_not_found: ['HttpDispatcher', 'OtherTransaction/all'],
        metrics_found: [],
        metrics: [],
      },
    });
  });

  it('answers 404 for a host that is gone, if the account is set to that', () => {
    const { get, fleet } = anAccount(
      { applications: [{ id: 1, kind: 'web', hosts: [{ id: 11 }] }] },
      { removedHost: 'not_found' },
    );
    const target = `/v2/applications/1/hosts/11/metrics/data.json?${throughput}`;
    const before = get(target).status;

    fleet.removeHost(1, 11);

    expect(before).toBe(200);
    expect(get(target).status).toBe(404);
  });
});

function values(query: string, webRpm = 1234.5): Readonly<Record<string, number>> {
  const { read } = anAccount({
    traffic: 'flat',
    applications: [{ id: 1, kind: 'web', hosts: 1, webRpm }],
  });
  const document = read(
    `/v2/applications/1/metrics/data.json?names[]=HttpDispatcher&summarize=true&${range}&${query}`,
  );
  return valuesOfOneSlice(document);
}

describe('metric data values', () => {
  it('have three significant digits, except for the count, which is exact', () => {
    expect(values('values[]=requests_per_minute&values[]=call_count')).toEqual({
      requests_per_minute: 1230,
      call_count: 6172,
    });
  });

  it('are not rounded with raw=true', () => {
    expect(values('values[]=requests_per_minute&raw=true')).toEqual({
      requests_per_minute: 1234.4,
    });
  });
});

describe('metric data, not summarized', () => {
  it('is a series with one slice a minute', () => {
    const { read } = anApplication('web');

    const document = read(
      `/v2/applications/1/metrics/data.json?names[]=HttpDispatcher&values[]=call_count&${range}`,
    );

    expect(document).toMatchObject({
      metric_data: {
        metrics: [
          {
            timeslices: [50, 51, 52, 53, 54].map((minute) => ({
              from: `2026-09-01T09:${minute}:00+00:00`,
              to: `2026-09-01T09:${minute + 1}:00+00:00`,
              values: { call_count: 120 },
            })),
          },
        ],
      },
    });
  });
});

describe('rejected requests for metric data', () => {
  it.each([
    {
      why: 'a range under 60 seconds',
      query: `${throughput}&from=2026-09-01T09:50:00Z&to=2026-09-01T09:50:59Z`,
    },
    {
      why: 'a plus sign that was not encoded',
      query: `${throughput}&from=2026-09-01T09:50:00+00:00&to=2026-09-01T09:55:00+00:00`,
    },
    { why: 'no name', query: 'values[]=requests_per_minute' },
  ])('get 422 and no data for $why', ({ query }) => {
    const { get } = anApplication('web');

    const answer = get(`/v2/applications/1/metrics/data.json?${query}`);

    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body)).toEqual({ error: { title: expect.any(String) } });
  });
});
