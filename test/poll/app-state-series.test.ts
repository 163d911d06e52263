import { describe, expect, it } from 'vitest';
import { type CustomMetric, type MetricChoice, seriesOf } from '../../src/model/polled-series.ts';
import type { AppReading } from '../../src/model/snapshot.ts';
import type { vendorValues } from '../../src/model/vendor-value.ts';
import { partsOf, withSeries } from '../../src/poll/app-state.ts';

function custom(as: string, metric: string, of: Partial<CustomMetric> = {}): CustomMetric {
  const usual = { value: 'average_value', scale: 1, help: undefined, labels: {}, scope: 'both' };
  return { ...usual, as, metric, ...of } as CustomMetric;
}

const [a, b] = [custom('first', 'Custom/A'), custom('second', 'Custom/B')];

function aReading(metrics: readonly MetricChoice[]): AppReading {
  return {
    windowEndMs: 60_000,
    series: seriesOf(metrics, ['web']),
    application: [1, 2],
    hosts: new Map([['7', [3, 4]]]),
  };
}

const amounts: readonly (keyof typeof vendorValues)[] = [
  'call_count',
  'count',
  'error_count',
  'launch_count',
  'total_time',
  'total_value',
  'total_used_mb',
  's',
  't',
  'f',
];

describe('values that were read before the list of metrics changed', () => {
  it.each<[string, readonly MetricChoice[], AppReading['application'], AppReading['application']]>([
    ['stay in another order', [b, a], [2, 1], [4, 3]],
    ['go with their metric', [b], [2], [4]],
    ['lack what is new', [a, custom('third', 'Custom/C'), b], [1, undefined, 2], [3, undefined, 4]],
    ['follow their metric to the name of another', [custom('first', 'Custom/B')], [2], [4]],
    ['get other labels', [custom('first', 'Custom/A', { labels: { a: 'b' } })], [1], [3]],
    [
      'go if another value is read',
      [custom('first', 'Custom/A', { value: 'max_value' })],
      [undefined],
      [undefined],
    ],
    [
      'go if they are scaled',
      [custom('first', 'Custom/A', { scale: 2 })],
      [undefined],
      [undefined],
    ],
    [
      'stay where they are still read',
      [
        custom('first', 'Custom/A', { scope: 'hosts' }),
        custom('second', 'Custom/B', { scope: 'applications' }),
      ],
      [undefined, 2],
      [3, undefined],
    ],
  ])('%s', (_case, metrics, application, ofHost) => {
    const series = seriesOf(metrics, ['web']);

    const { reading: kept } = withSeries(partsOf(aReading([a, b])), series);

    expect(kept).toEqual({
      windowEndMs: 60_000,
      series,
      application,
      hosts: new Map([['7', ofHost]]),
    });
  });

  it.each<[keyof typeof vendorValues, boolean]>([
    ...amounts.map((value): [typeof value, boolean] => [value, false]),
    ['requests_per_minute', true],
    ['total_call_time_per_minute', true],
    ['max_value', true],
    ['score', true],
  ])('of another window: %s stays: %s', (value, stays) => {
    const metrics = [custom('first', 'Custom/A', { value }), b];
    const { series } = aReading(metrics);

    const { reading: kept } = withSeries(partsOf(aReading(metrics)), series, false);

    expect(kept).toMatchObject({ application: [stays ? 1 : undefined, 2] });
    expect(kept?.hosts.get('7')).toEqual([stays ? 3 : undefined, 4]);
  });

  it('are found where they were read, if a metric is read twice', () => {
    const both = [
      custom('of_hosts', 'Custom/A', { scope: 'hosts' }),
      custom('of_applications', 'Custom/A', { scope: 'applications' }),
    ];
    const reading = { ...aReading(both), application: [undefined, 1] };

    const { reading: kept } = withSeries(partsOf(reading), seriesOf([a], ['web']));

    expect(kept).toMatchObject({ application: [1], hosts: new Map([['7', [3]]]) });
  });

  it('are the same object if nothing has changed', () => {
    const read = partsOf(aReading([a, b]));

    expect(withSeries(read, seriesOf([a, b], ['web']))).toBe(read);
  });

  it('are none of a silent application', () => {
    const silent = partsOf({ ...aReading([]), application: [], hosts: new Map() });

    expect(withSeries(silent, seriesOf([a], ['web']))).toBe(silent);
  });
});
