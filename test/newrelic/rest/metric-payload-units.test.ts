import { describe, expect, it } from 'vitest';
import { transactionTypes } from '../../../src/model/application.ts';
import { type PolledSeries, seriesOf } from '../../../src/model/polled-series.ts';
import { presetNames } from '../../../src/model/presets.ts';
import { type ValueName, valueNames } from '../../../src/model/vendor-value.ts';
import { createGaugeNames } from '../../../src/tools/gauge-names.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource } from './a-rest-source.ts';

/** A unit as New Relic documents it, what the name of a gauge of it ends in, and 250 of it in that unit. */
const documentedUnits = {
  '1/min': { ending: '_per_minute', of250: 250 },
  '1/s': { ending: '_per_second', of250: 250 },
  's/min': { ending: '_seconds_per_minute', of250: 250 },
  ms: { ending: '_seconds', of250: 0.25 },
  s: { ending: '_seconds', of250: 250 },
  '%': { ending: '_ratio', of250: 2.5 },
  bytes: { ending: '_bytes', of250: 250 },
  MiB: { ending: '_bytes', of250: 262_144_000 },
  ratio: { ending: '_ratio', of250: 250 },
  count: { ending: '', of250: 250 },
  'as the metric': { ending: '', of250: 250 },
} as const;

/** From New Relic's documentation of the values of its REST API, not from the source of the exporter. */
const documented: Readonly<Record<ValueName, keyof typeof documentedUnits>> = {
  requests_per_minute: '1/min',
  calls_per_minute: '1/min',
  errors_per_minute: '1/min',
  throughput: '1/s',
  call_count: 'count',
  count: 'count',
  error_count: 'count',
  launch_count: 'count',
  average_response_time: 'ms',
  average_call_time: 'ms',
  average_time: 'ms',
  min_response_time: 'ms',
  max_response_time: 'ms',
  standard_deviation: 'ms',
  average_exclusive_time: 'ms',
  total_time: 'ms',
  total_call_time_per_minute: 's/min',
  average_value: 'as the metric',
  min_value: 'as the metric',
  max_value: 'as the metric',
  total_value: 'as the metric',
  rate: '1/s',
  as_percentage: '%',
  percent: '%',
  time_percentage: '%',
  utilization: '%',
  used_bytes_by_host: 'bytes',
  used_mb_by_host: 'MiB',
  total_used_mb: 'MiB',
  sessions_active: 'count',
  score: 'ratio',
  s: 'count',
  t: 'count',
  f: 'count',
  threshold: 's',
  threshold_min: 's',
};

/** What is published if New Relic answers with 250 for the value of a series. */
async function publishedOf(series: PolledSeries): Promise<number | undefined> {
  const values = { requests_per_minute: 1, count: 1, [series.value]: 250 };
  const metrics = [
    { name: series.metric, timeslices: [{ to: '2026-09-01T10:30:00+00:00', values }] },
  ];
  const { client, signal } = aRestSource(async () =>
    answerOf(JSON.stringify({ metric_data: { metrics } })),
  );
  const query = { window: undefined, series: [series], raw: false };
  return (await client.metrics('12', '345', query, { signal })).values[0];
}

/** Every ending that states a unit; the longest that fits a name counts. */
const endings = Object.values(documentedUnits)
  .map(({ ending }) => ending)
  .toSorted((left, right) => right.length - left.length);

function unitEndingOf(gaugeName: string): string | undefined {
  return endings.find((ending) => gaugeName.endsWith(ending));
}

describe('the documented unit of a value', () => {
  it.each(valueNames)('becomes the unit that the name of its gauge states: %s', async (value) => {
    const { as } = createGaugeNames()('Custom/a', value);
    const { ending, of250 } = documentedUnits[documented[value]];
    const [series] = seriesOf(
      [{ metric: 'Custom/a', value, as, scale: 1, help: undefined, labels: {}, scope: 'both' }],
      [],
    );

    expect(unitEndingOf(as)).toBe(ending);
    expect(series === undefined ? undefined : await publishedOf(series)).toBe(of250);
  });

  const presets = seriesOf(presetNames, transactionTypes);

  it.each(presets)('is that of the preset $gauge.name from $metric', async (series) => {
    const { ending, of250 } = documentedUnits[documented[series.value]];
    const { name, hostName } = series.gauge;

    // Apdex is known as a score, and that of New Relic's summary is called so, too.
    const [named, endingOf] =
      series.value === 'score'
        ? ['_score', (gauge: string) => gauge.slice(gauge.lastIndexOf('_'))]
        : [ending, unitEndingOf];
    expect([name, hostName].map(endingOf)).toEqual([named, named]);
    expect(await publishedOf(series)).toBe(of250);
  });
});
