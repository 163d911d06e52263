import { describe, expect, it } from 'vitest';
import { type Account, anAccount } from './account.ts';

const throughput =
  'names[]=HttpDispatcher&names[]=OtherTransaction/all&values[]=requests_per_minute&summarize=true';
const range = 'from=2026-09-01T09:50:00Z&to=2026-09-01T09:55:00Z';

function anApplication(
  kind: 'web' | 'both' | 'idle',
  idleMetric: 'zero' | 'not_found' = 'zero',
): Account {
  const rates = kind === 'idle' ? {} : { webRpm: 120, otherRpm: kind === 'both' ? 40 : 0 };
  return anAccount(
    {
      traffic: 'flat',
      applications: [{ id: 1, kind, ...rates, hosts: [{ id: 11 }, { id: 12 }] }],
    },
    { idleMetric },
  );
}

function found(name: string, value: number): unknown {
  const [from, to] = ['2026-09-01T09:50:00+00:00', '2026-09-01T09:55:00+00:00'];
  return { name, timeslices: [{ from, to, values: { requests_per_minute: value } }] };
}

describe('metric data', () => {
  it.each([
    {
      account: anApplication('web'),
      notFound: ['OtherTransaction/all'],
      metrics: [found('HttpDispatcher', 120)],
    },
    {
      account: anApplication('both'),
      notFound: [],
      metrics: [found('HttpDispatcher', 120), found('OtherTransaction/all', 40)],
    },
    {
      account: anApplication('idle'),
      notFound: ['OtherTransaction/all'],
      metrics: [found('HttpDispatcher', 0)],
    },
    {
      account: anApplication('idle', 'not_found'),
      notFound: ['HttpDispatcher', 'OtherTransaction/all'],
      metrics: [],
    },
  ])('has $metrics and lacks $notFound', ({ account, notFound, metrics }) => {
    const target = `/v2/applications/1/metrics/data.json?${throughput}&${range}`;

    expect(account.read(target)).toMatchObject({
      metric_data: {
        from: '2026-09-01T09:50:00+00:00',
        to: '2026-09-01T09:55:00+00:00',
        metrics_not_found: notFound,
        metrics,
      },
    });
  });

  it('lacks the metrics of a host that had ended before the range', async () => {
    const { clock, fleet, read } = anApplication('idle');
    fleet.removeHost(1, 11);
    await clock.advance(20 * 60_000);
    const later = 'from=2026-09-01T10:10:00Z&to=2026-09-01T10:15:00Z';
    const lacking = ['11', '12'].map((id) =>
      read(`/v2/applications/1/hosts/${id}/metrics/data.json?${throughput}&${later}`),
    );

    expect(lacking).toMatchObject([
      { metric_data: { metrics_not_found: ['HttpDispatcher', 'OtherTransaction/all'] } },
      { metric_data: { metrics_not_found: ['OtherTransaction/all'] } },
    ]);
  });

  it.each([
    { raw: '', requests_per_minute: 1230 },
    { raw: '&raw=true', requests_per_minute: 1234.4 },
  ])('has three significant digits ("$raw"), except for the count', (row) => {
    const { read } = anAccount({
      traffic: 'flat',
      applications: [{ id: 1, kind: 'web', hosts: 1, webRpm: 1234.5 }],
    });

    const document = read(
      `/v2/applications/1/metrics/data.json?names[]=HttpDispatcher&summarize=true&${range}${row.raw}&values[]=requests_per_minute&values[]=call_count`,
    );

    const values = { requests_per_minute: row.requests_per_minute, call_count: 6172 };
    expect(document).toMatchObject({ metric_data: { metrics: [{ timeslices: [{ values }] }] } });
  });

  it('is there for a range of 60 seconds', () => {
    const { get } = anApplication('web');
    const minute = 'from=2026-09-01T09:50:00Z&to=2026-09-01T09:51:00Z';

    expect(get(`/v2/applications/1/metrics/data.json?${throughput}&${minute}`).status).toBe(200);
  });

  it.each([
    ['a range under 60 seconds', 'from=2026-09-01T09:50:00Z&to=2026-09-01T09:50:59Z'],
    ['a plus sign that was not encoded', range.replaceAll('Z', '+00:00')],
    ['a series', `${range}&summarize=false`],
  ])('is refused with 422 for %s', (_why, query) => {
    const { get } = anApplication('web');

    const answer = get(`/v2/applications/1/metrics/data.json?${throughput}&${query}`);

    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body)).toEqual({ error: { title: expect.any(String) } });
  });
});
