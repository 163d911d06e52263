import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CustomMetric,
  type PolledSeries,
  seriesOf,
} from '../../../src/model/polled-series.ts';
import {
  countedBy,
  type ValueName,
  valueNames,
  vendorValues,
} from '../../../src/model/vendor-value.ts';
import type { MetricAnswer } from '../../../src/newrelic/rest/metric-payload.ts';
import { inBaseUnit } from '../../../src/newrelic/rest/metric-payload.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource } from './a-rest-source.ts';

function aSeries(changes: Partial<CustomMetric> = {}): PolledSeries {
  const [series] = seriesOf(
    [
      {
        metric: 'Custom/a',
        value: 'average_value',
        as: 'x',
        scale: 1,
        help: undefined,
        labels: {},
        scope: 'both',
        ...changes,
      },
    ],
    [],
  );
  if (series === undefined) throw new Error('a metric without a series');
  return series;
}

interface Outcome extends MetricAnswer {
  readonly invalid: readonly string[];
}

async function read(series: readonly PolledSeries[], metricData: string): Promise<Outcome> {
  const { client, signal, invalidSamples } = aRestSource(async () =>
    answerOf(`{"metric_data":${metricData}}`),
  );
  const query = { window: undefined, series, raw: false };
  const answer = await client.metrics('12', '345', query, { signal });
  return { ...answer, invalid: invalidSamples };
}

/** Metrics whose values are JSON texts. */
function metricsOf(values: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  const metrics = Object.entries(values).map(([name, texts]) => {
    const members = Object.entries(texts).map(
      ([value, text]) => `${JSON.stringify(value)}:${text}`,
    );
    return `{"name":${JSON.stringify(name)},"timeslices":[{"to":"2026-09-01T10:30:00+00:00","values":{${members.join()}}}]}`;
  });
  return `[${metrics.join()}]`;
}

describe('a value of New Relic', () => {
  it.each([
    { value: 'average_response_time', states: '35', is: 0.035 },
    { value: 'average_response_time', states: '20.1', is: 0.0201 },
    { value: 'percent', states: '7', is: 0.07 },
    { value: 'used_mb_by_host', states: '1.5', is: 1_572_864 },
    { value: 'used_bytes_by_host', states: '1572864', is: 1_572_864 },
    { value: 'threshold', states: '0.5', is: 0.5 },
    { value: 'total_call_time_per_minute', states: '2', is: 2 },
    { value: 'requests_per_minute', states: '99800', is: 99_800 },
  ] as const)('is published in its base unit: $value $states', async ({ value, states, is }) => {
    const answer = await read(
      [aSeries({ value })],
      `{"metrics":${metricsOf({ 'Custom/a': { [value]: states } })}}`,
    );

    expect(answer.values).toEqual([is]);
  });

  it('is scaled after that', async () => {
    const metrics = metricsOf({ 'Custom/a': { average_time: '1500' } });
    const series = [1, 1000, -2].map((scale) => aSeries({ value: 'average_time', scale }));

    const { values } = await read(series, `{"metrics":${metrics}}`);

    expect(values).toEqual([1.5, 1500, -3]);
  });

  it.each([
    { value: 'average_value', states: '-1.5', is: -1.5 },
    { value: 'rate', states: '-1.5', is: -1.5 },
    { value: 'call_count', states: '-1', is: undefined, reason: 'negative' },
    { value: 'score', states: '-0.1', is: undefined, reason: 'negative' },
    { value: 'average_value', states: '1e999', is: undefined, reason: 'not_finite' },
    { value: 'average_value', states: '"7"', is: undefined, reason: 'not_a_number' },
    { value: 'used_mb_by_host', states: '1e308', is: undefined, reason: 'not_finite' },
  ] as const)('is left out if it makes no sense: $value $states', async (row) => {
    const { values, invalid } = await read(
      [aSeries({ value: row.value })],
      `{"metrics":${metricsOf({ 'Custom/a': { [row.value]: row.states } })}}`,
    );

    expect(values).toEqual([row.is]);
    expect(invalid).toEqual('reason' in row ? [row.reason] : []);
  });

  it.each([
    { value: 'average_response_time', counter: 'requests_per_minute' },
    { value: 'score', counter: 'count' },
  ] as const)('is absent if there were no calls: $value', async ({ value, counter }) => {
    const of = async (calls: string): Promise<MetricAnswer['values']> => {
      const metrics = metricsOf({ 'Custom/a': { [value]: '0', [counter]: calls } });
      return (await read([aSeries({ value })], `{"metrics":${metrics}}`)).values;
    };

    expect(await of('0')).toEqual([undefined]);
    expect(await of('1')).toEqual([0]);
  });

  it('is absent if it says that something runs in 0 bytes', async () => {
    const metrics = metricsOf({ 'Custom/a': { used_mb_by_host: '0' } });

    const { values } = await read(
      [aSeries({ value: 'used_mb_by_host' })],
      `{"metrics":${metrics}}`,
    );

    expect(values).toEqual([undefined]);
  });
});

const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true });
const anySeries = fc.array(
  fc
    .record({
      metric: fc.oneof(fc.constantFrom('a', 'b', '__proto__'), fc.string({ minLength: 1 })),
      value: fc.constantFrom(...valueNames),
      scale: fc.constantFrom(1, 0.5, 1000),
    })
    .map((custom) => aSeries(custom)),
  { maxLength: 20 },
);
const anyMetrics = fc.dictionary(
  fc.oneof(fc.constantFrom('a', 'b'), fc.string({ minLength: 1 })),
  fc.dictionary(
    fc.constantFrom(...valueNames, 'other', '__proto__'),
    fc.oneof(anyNumber.map(String), fc.constantFrom('null', '"1"', '[]', '1e999', '{}', 'true')),
    { noNullPrototype: true },
  ),
  { noNullPrototype: true },
);

describe('any series', () => {
  it('have the values of their metrics, one by one, and never a value that cannot be published', async () => {
    await fc.assert(
      fc.asyncProperty(anySeries, anyMetrics, async (series, metrics) => {
        const { values } = await read(series, `{"metrics":${metricsOf(metrics)}}`);

        expect(values).toHaveLength(series.length);
        for (const [index, value] of values.entries()) {
          expect(value).toBe(expectedOf(series[index], metrics));
        }
      }),
    );
  });
});

/** As simply as possible. */
function expectedOf(
  series: PolledSeries | undefined,
  metrics: Readonly<Record<string, Readonly<Record<string, string>>>>,
): number | undefined {
  if (series === undefined || !Object.hasOwn(metrics, series.metric)) return undefined;
  const found = metrics[series.metric] ?? {};
  const numberOf = (name: ValueName | undefined): number | undefined => {
    const text = name !== undefined && Object.hasOwn(found, name) ? found[name] : undefined;
    const parsed: unknown = text === undefined ? undefined : JSON.parse(text);
    return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : undefined;
  };
  const value = numberOf(series.value);
  if (value === undefined || numberOf(countedBy[series.value]) === 0) return undefined;
  const unit = vendorValues[series.value];
  if (value < 0 && !unit.startsWith('as_metric')) return undefined;
  if (value === 0 && unit === 'bytes') return undefined;
  const published = inBaseUnit(series.value, value) * series.scale;
  return Number.isFinite(published) ? published : undefined;
}
