import { describe, expect, it } from 'vitest';
import { growsWithWindow, type ValueName, valueNames } from '../../../src/model/vendor-value.ts';
import {
  type Cell,
  functionTexts,
  nrqlValueOf,
} from '../../../src/newrelic/nerdgraph/nrql-values.ts';

const slice = 'newrelic.timeslice.value';
const [count, sum, average] = ['count', 'sum', 'average'].map((of) => `${of}(${slice})`);
const [least, most, deviation] = ['min', 'max', 'stddev'].map((of) => `${of}(${slice})`);
const exclusive = `sum(${slice}['totalExclusive'])`;
const averageExclusive = `average(${slice}['totalExclusive'] / ${slice}['count'])`;
const mebibyte = 1_048_576;

/** Cells, and what they are in five minutes. */
type Results = readonly (readonly [cells: readonly Cell[], is: number | undefined])[];

const ofCalls: Results = [
  [[0.25, 4], 0.25],
  [[0, 4], 0],
  [[null, 0], undefined],
  [[0, 0], undefined],
  [[0, null], undefined],
  [[undefined, 4], undefined],
];

/** Of nothing an amount is 0, and anything else is nothing. */
const times = (factor: number, ofNothing: number | undefined): Results => [
  [[600], 600 * factor],
  [[0], 0],
  [[null], ofNothing],
  [[undefined], undefined],
];
const amounts = (factor: number): Results => times(factor, 0);
const levels = (factor: number): Results => times(factor, undefined);

const score: Results = [
  [[80, 10, 10], 0.85],
  [[0, 0, 7], 0],
  [[null, 4, null], 0.5],
  [[5, undefined, 0], undefined],
  [[0, 0, 0], undefined],
  [[null, null, null], undefined],
];
const rated: Results = [
  [[80, 10, 10], 100],
  [[null, null, null], 0],
  [[5, undefined, 0], undefined],
];

/** Values with the functions that New Relic's guide names for them; of a metric if it makes a difference. */
const cases: readonly (readonly [
  values: string,
  functions: unknown[],
  Results,
  metric?: string,
])[] = [
  ['requests_per_minute calls_per_minute errors_per_minute', [count], amounts(1 / 5)],
  ['throughput', [count], amounts(1 / 300)],
  ['call_count count error_count launch_count s', [count], amounts(1)],
  ['average_response_time average_call_time average_time', [average, count], ofCalls],
  ['min_response_time', [least, count], ofCalls],
  ['max_response_time', [most, count], ofCalls],
  ['standard_deviation', [deviation, count], ofCalls],
  ['average_exclusive_time', [averageExclusive, count], ofCalls],
  ['total_time total_value t', [sum], amounts(1)],
  ['total_call_time_per_minute', [sum], amounts(1 / 5)],
  ['rate time_percentage utilization', [sum], amounts(1 / 300)],
  ['percent', [sum], amounts(1 / 300), 'CPU/User Time'],
  ['average_value as_percentage percent sessions_active', [average], levels(1)],
  ['percent', [average], levels(1), 'CPU/User/Utilization'],
  ['used_bytes_by_host used_mb_by_host', [average], levels(mebibyte)],
  ['total_used_mb', [sum], amounts(mebibyte)],
  ['min_value threshold_min', [least], levels(1)],
  ['max_value threshold', [most], levels(1)],
  ['f', [exclusive], amounts(1)],
  ['score', [count, sum, exclusive], score, 'Apdex'],
  ['count', [count, sum, exclusive], rated, 'Apdex/Controller/basket'],
];
const rows = cases.flatMap(([values, functions, is, metric = 'Custom/x']) =>
  values.split(' ').map((value) => [value as ValueName, metric, functions, is] as const),
);

describe('a value', () => {
  it.each(rows)('%s of %s is calculated as New Relic says', (value, metric, texts, results) => {
    const { functions, valueOf } = nrqlValueOf({ metric, value });
    const found = results.map(([cells]) => valueOf(cells, 300)?.toPrecision(12));

    expect(functions.map((of) => functionTexts[of])).toEqual(texts);
    expect(found).toEqual(results.map(([, is]) => is?.toPrecision(12)));
  });

  it('of every name is tried here', () => {
    expect(new Set(rows.map(([value]) => value))).toEqual(new Set(valueNames));
  });

  it('is an amount if it counts or sums up', () => {
    const counted = 'requests_per_minute calls_per_minute errors_per_minute throughput call_count';
    const others =
      'count error_count launch_count total_time total_call_time_per_minute total_value';
    const shares = 'rate time_percentage utilization total_used_mb s t f';
    const amount = valueNames.filter((value) => nrqlValueOf({ metric: 'x', value }).isAmount);

    expect(amount.join(' ')).toBe(`${counted} ${others} ${shares}`);
  });
});

describe('what grows with the window', () => {
  it.each(valueNames)('is what is an amount of all of it: %s', (value) => {
    const { isAmount, valueOf } = nrqlValueOf({ metric: 'Custom/A', value });
    const [short, long] = [300, 600].map((seconds) => valueOf([6, 6, 6], seconds));

    expect(growsWithWindow(value)).toBe(isAmount && short === long);
  });
});
