import { describe, expect, it } from 'vitest';
import { transactionTypes } from '../../../src/model/application.ts';
import { type PolledSeries, seriesOf } from '../../../src/model/polled-series.ts';
import { presetNames } from '../../../src/model/presets.ts';
import { valueNames } from '../../../src/model/vendor-value.ts';
import { createGaugeNames } from '../../../src/tools/metrics/gauge-names.ts';
import { aMetric, aSelected } from '../../support/builders.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource, polledOne } from './a-rest-source.ts';

/**
 * What the name of a gauge ends in, 250 of the unit that New Relic documents in that unit, and the values that
 * it documents in it: from its documentation of the REST API, not from the source of the exporter.
 */
const documented: readonly (readonly [ending: string, of250: number, values: string])[] = [
  ['_per_minute', 250, 'requests_per_minute calls_per_minute errors_per_minute'],
  ['_per_second', 250, 'throughput rate'],
  ['_seconds_per_minute', 250, 'total_call_time_per_minute'],
  ['_seconds', 0.25, 'average_response_time average_call_time average_time min_response_time'],
  ['_seconds', 0.25, 'max_response_time standard_deviation average_exclusive_time total_time'],
  ['_seconds', 250, 'threshold threshold_min'],
  ['_ratio', 2.5, 'as_percentage percent time_percentage utilization'],
  ['_ratio', 250, 'score'],
  ['_bytes', 250, 'used_bytes_by_host'],
  ['_bytes', 262_144_000, 'used_mb_by_host total_used_mb'],
  ['', 250, 'call_count count error_count launch_count sessions_active s t f'],
  ['', 250, 'average_value min_value max_value total_value'],
];

function documentedOf(value: string): { readonly ending: string; readonly of250: number } {
  const [ending, of250] = documented.find((row) => row[2].split(' ').includes(value)) ?? ['?', 0];
  return { ending, of250 };
}

/** What is published if New Relic answers with 250 for the value of a series. */
async function publishedOf(series: PolledSeries): Promise<number | undefined> {
  const values = { requests_per_minute: 1, count: 1, [series.value]: 250 };
  const metrics = [{ name: series.metric, timeslices: [{ values }] }];
  const { source } = aRestSource(async () => answerOf({ metric_data: { metrics } }));
  const outcome = await polledOne(source, aSelected({}, { hosts: false, series: [series] }));
  return outcome.reading?.application[0];
}

/** The longest ending that states a unit. */
function unitEndingOf(gaugeName: string): string | undefined {
  const fitting = documented.map(([ending]) => ending).filter((one) => gaugeName.endsWith(one));
  return fitting.toSorted((left, right) => right.length - left.length)[0];
}

describe('the documented unit of a value', () => {
  it.each(valueNames)('becomes the unit that the name of its gauge states: %s', async (value) => {
    const { ending, of250 } = documentedOf(value);
    const named = createGaugeNames()('Custom/a', value);
    const published = seriesOf([aMetric('Custom/a', { value, ...named })], []).map(publishedOf);

    expect(unitEndingOf(named.as)).toBe(ending);
    expect(await Promise.all(published)).toEqual([of250]);
  });

  it.each(seriesOf(presetNames, transactionTypes))(
    'is that of the preset $gauge.name from $metric',
    async (series) => {
      const { ending, of250 } = documentedOf(series.value);
      const { name, hostName } = series.gauge;
      // Apdex is known as a score, and that of New Relic's summary is called so, too.
      const isScore = series.value === 'score';
      const endings = [name, hostName].map((gauge) =>
        isScore ? gauge.slice(gauge.lastIndexOf('_')) : unitEndingOf(gauge),
      );

      expect(new Set(endings)).toEqual(new Set([isScore ? '_score' : ending]));
      expect(await publishedOf(series)).toBe(of250);
    },
  );
});
