import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { InvalidSampleReason } from '../../../src/model/telemetry.ts';
import type { MetricAnswer, MetricQuery } from '../../../src/newrelic/rest/metric-payload.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource, sampleText } from './a-rest-source.ts';

const to = '2026-09-01T10:30:00+00:00';
const toMs = Date.UTC(2026, 8, 1, 10, 30);

function aQuery(changes: Partial<MetricQuery> = {}): MetricQuery {
  return {
    window: undefined,
    series: seriesOf(['throughput'], ['web', 'other']),
    raw: false,
    ...changes,
  };
}

function aMetric(name: string, values: unknown, end: unknown = to): object {
  return { name, timeslices: [{ from: '2026-09-01T10:00:00+00:00', to: end, values }] };
}

const web = 'HttpDispatcher';
const other = 'OtherTransaction/all';

interface Outcome extends MetricAnswer {
  readonly invalid: readonly InvalidSampleReason[];
}

async function valuesIn(
  body: unknown,
  query: MetricQuery = aQuery(),
  wallMs?: number,
): Promise<Outcome> {
  const clock = createFakeClock(wallMs);
  const { client, signal, invalidSamples } = aRestSource(async () => answerOf(body), { clock });
  const ofApplication = await client.metrics('12', undefined, query, { signal });
  return { ...ofApplication, invalid: invalidSamples };
}

async function valuesOf(metrics: unknown, query?: MetricQuery): Promise<Outcome> {
  return valuesIn({ metric_data: { metrics } }, query);
}

describe('the metric data of the samples', () => {
  it.each([
    {
      name: '12-metric-data-HttpDispatcher-found-docs-2016.json',
      values: [99_800, undefined],
      windowEndMs: Date.UTC(2016, 0, 28, 18, 4),
      wallMs: Date.UTC(2016, 0, 28, 18, 36, 6),
    },
    {
      name: '13-metric-data-not-found-docs-2016.json',
      values: [undefined, undefined],
      windowEndMs: undefined,
      wallMs: Date.UTC(2016, 0, 28, 18, 36, 33),
    },
    {
      name: '15-metric-data-summarize-two-names-empty-values-docs-2014.json',
      values: [undefined, undefined],
      windowEndMs: undefined,
      wallMs: Date.UTC(2014, 4, 21, 0, 11, 15),
    },
  ])('are read from $name', async ({ name, values, windowEndMs, wallMs }) => {
    const outcome = await valuesIn(sampleText(name), aQuery(), wallMs);

    expect(outcome).toMatchObject({ values, windowEndMs, invalid: [] });
  });
});

describe('metric data', () => {
  it('gives the value of each transaction type and the end of the window', async () => {
    const outcome = await valuesOf([
      aMetric(web, { requests_per_minute: 54.7, call_count: 1640 }),
      aMetric(other, { requests_per_minute: 0 }),
    ]);

    expect(outcome.values).toEqual([54.7, 0]);
    expect(outcome.windowEndMs).toBe(toMs);
  });

  it.each([
    { what: 'no metrics', metrics: [] },
    { what: 'no timeslices', metrics: [{ name: web, timeslices: [] }] },
    { what: 'empty values', metrics: [aMetric(web, {})] },
    { what: 'another value', metrics: [aMetric(web, { call_count: 7 })] },
    { what: 'another metric', metrics: [aMetric('EndUser', { requests_per_minute: 7 })] },
  ])('with $what has no data, which is neither 0 nor a failure', async ({ metrics }) => {
    const outcome = await valuesOf(metrics);

    expect(outcome).toMatchObject({
      values: [undefined, undefined],
      windowEndMs: undefined,
      invalid: [],
    });
  });

  it('does not look at a transaction type that was not asked for', async () => {
    const metrics = [aMetric(web, { requests_per_minute: 1 }), aMetric(other, 'no object')];

    const outcome = await valuesOf(metrics, aQuery({ series: seriesOf(['throughput'], ['web']) }));

    expect(outcome.values).toEqual([1]);
  });

  it('has no window when every value was left out', async () => {
    const outcome = await valuesOf([aMetric(web, { requests_per_minute: -1 })]);

    expect(outcome.windowEndMs).toBeUndefined();
  });

  it('does not depend on the order of the metrics', async () => {
    const values: [string, number][] = [
      [web, 1],
      [other, 2],
      ['EndUser', 3],
      ['__proto__', 4],
    ];
    const shuffled = fc.shuffledSubarray(values, { minLength: values.length });

    await fc.assert(
      fc.asyncProperty(shuffled, async (order) => {
        const outcome = await valuesOf(
          order.map(([name, value]) => aMetric(name, { requests_per_minute: value })),
        );

        expect(outcome.values).toEqual([1, 2]);
      }),
    );
  });
});

function bothEnding(...ends: readonly unknown[]): object[] {
  return [web, other].map((name, index) => aMetric(name, { requests_per_minute: 1 }, ends[index]));
}

describe('the end of the window', () => {
  const window = { fromMs: toMs - 1_800_000, toMs };
  const early = '2026-09-01T10:20:00+00:00';

  it.each([
    { what: 'a whole minute', ends: [to, to], asked: window, end: toMs },
    {
      what: 'the last second of a minute',
      ends: ['2026-09-01T10:29:59+00:00', to],
      asked: window,
      end: toMs,
    },
    { what: 'the earlier of two, the second', ends: [to, early], end: toMs - 600_000 },
    { what: 'the earlier of two, the first', ends: [early, to], end: toMs - 600_000 },
    {
      what: 'that of the question when it is absent',
      ends: [undefined, undefined],
      asked: window,
      end: toMs,
    },
  ])('is $what', async ({ ends, asked, end }) => {
    const outcome = await valuesOf(bothEnding(...ends), aQuery({ window: asked }));

    expect(outcome.windowEndMs).toBe(end);
  });
});

describe('metric data of another shape', () => {
  const slice = { from: to, to, values: { requests_per_minute: 1 } };

  it.each([
    { what: 'no metrics', metrics: undefined, says: 'the answer has no metric_data.metrics' },
    {
      what: 'metrics that are no list',
      metrics: { HttpDispatcher: 1 },
      says: 'the answer has no metric_data.metrics',
    },
    {
      what: 'a metric that is no object',
      metrics: [null],
      says: 'the answer has a metric without a name',
    },
    {
      what: 'a metric without a name',
      metrics: [{ timeslices: [slice] }],
      says: 'the answer has a metric without a name',
    },
    {
      what: 'one name twice',
      metrics: [aMetric(web, {}), aMetric(web, {})],
      says: 'the answer has two metrics called "HttpDispatcher"',
    },
    {
      what: 'no timeslices',
      metrics: [{ name: web }],
      says: 'the metric HttpDispatcher has no timeslices',
    },
    {
      what: 'a series',
      metrics: [{ name: web, timeslices: [slice, slice] }],
      says: 'the metric HttpDispatcher has 2 timeslices although one was asked for',
    },
    {
      what: 'a timeslice that is no object',
      metrics: [{ name: web, timeslices: [7] }],
      says: 'the timeslice of the metric HttpDispatcher is not an object',
    },
    {
      what: 'a timeslice without values',
      metrics: [{ name: web, timeslices: [{ to }] }],
      says: 'the timeslice of the metric HttpDispatcher has no values',
    },
    {
      what: 'a timeslice without an end',
      metrics: [aMetric(web, slice.values, null)],
      says: 'the timeslice of the metric HttpDispatcher does not say its end',
    },
  ])('with $what is a failure that names what was asked for', async ({ metrics, says }) => {
    const outcome = valuesOf(metrics);

    await expect(outcome).rejects.toMatchObject({
      name: 'ApiError',
      reason: 'schema',
      message: expect.stringContaining(`application_metrics of application 12: ${says}`),
    });
  });
});
