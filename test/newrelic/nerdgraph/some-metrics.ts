import fc from 'fast-check';
import type { AppEntry } from '../../../src/model/config.ts';
import { type CustomMetric, metricScopes } from '../../../src/model/polled-series.ts';
import { presetNames } from '../../../src/model/presets.ts';
import type { ValueName } from '../../../src/model/vendor-value.ts';
import { aMetric } from '../../support/builders.ts';

/** Values that are in no preset, of metrics of which the simulated account has them. */
const otherValues: Readonly<Record<string, readonly ValueName[]>> = {
  HttpDispatcher: [
    'min_response_time',
    'max_response_time',
    'standard_deviation',
    'average_exclusive_time',
    'total_call_time_per_minute',
    'average_value',
  ],
  'WebFrontend/QueueTime': ['average_response_time', 'calls_per_minute'],
  'Errors/all': ['error_count'],
  Apdex: ['s', 't', 'f', 'count', 'threshold', 'threshold_min'],
  'Memory/Physical': ['used_mb_by_host', 'total_used_mb', 'max_value'],
  'CPU/User/Utilization': ['percent'],
  'Custom/Queue/Depth': ['average_value', 'rate', 'count', 'min_value', 'total_value'],
  'Custom/Nowhere': ['average_value', 'call_count'],
};

export const customMetrics: readonly CustomMetric[] = Object.entries(otherValues).flatMap(
  ([metric, values]) =>
    values.map((value): CustomMetric => {
      const as = `${metric}_${value}`.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '_');
      return aMetric(metric, { value, as });
    }),
);

/** What an entry may ask for. */
export const someMetrics: fc.Arbitrary<AppEntry['poll']['metrics']> = fc.oneof(
  fc.constant<AppEntry['poll']['metrics']>(['throughput']),
  fc.constant<AppEntry['poll']['metrics']>(presetNames),
  fc.subarray([...presetNames], { minLength: 1 }),
  fc
    .tuple(
      fc.subarray([...presetNames]),
      fc.subarray([...customMetrics], { minLength: 1 }),
      fc.constantFrom(...metricScopes),
      fc.constantFrom(1, -1, 0.001),
    )
    .map(([presets, custom, scope, scale]) => [
      ...presets,
      ...custom.map((one) => ({ ...one, scope, scale })),
    ]),
);
