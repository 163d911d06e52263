import { describe, expect, it } from 'vitest';
import { type ValueName, valueNames } from '../../../src/model/vendor-value.ts';
import {
  type Cell,
  functionTexts,
  nrqlValueOf,
} from '../../../src/newrelic/nerdgraph/nrql-values.ts';

const timeslice = 'newrelic.timeslice.value';
const mebibyte = 1_048_576;

interface Case {
  readonly values: readonly ValueName[];
  readonly metric?: string;
  readonly texts: readonly string[];
  /** Cells, and what they are in five minutes. */
  readonly is: readonly (readonly [readonly Cell[], number | undefined])[];
}

const count = `count(${timeslice})`;
const sum = `sum(${timeslice})`;
const average = `average(${timeslice})`;
const frustrated = `sum(${timeslice}['totalExclusive'])`;

const ofCalls: Case['is'] = [
  [[0.25, 4], 0.25],
  [[0, 4], 0],
  [[null, 0], undefined],
  [[0, 0], undefined],
  [[0, null], undefined],
  [[undefined, 4], undefined],
];

function amounts(factor: number): Case['is'] {
  return [
    [[600], 600 * factor],
    [[0], 0],
    [[null], 0],
    [[undefined], undefined],
  ];
}

function levels(factor: number): Case['is'] {
  return [
    [[600], 600 * factor],
    [[0], 0],
    [[null], undefined],
    [[undefined], undefined],
  ];
}

/** Each value with the function that New Relic's guide names for it. */
const cases: readonly Case[] = [
  {
    values: ['requests_per_minute', 'calls_per_minute', 'errors_per_minute'],
    texts: [count],
    is: amounts(1 / 5),
  },
  { values: ['throughput'], texts: [count], is: amounts(1 / 300) },
  {
    values: ['call_count', 'count', 'error_count', 'launch_count', 's'],
    texts: [count],
    is: amounts(1),
  },
  {
    values: ['average_response_time', 'average_call_time', 'average_time'],
    texts: [average, count],
    is: ofCalls,
  },
  { values: ['min_response_time'], texts: [`min(${timeslice})`, count], is: ofCalls },
  { values: ['max_response_time'], texts: [`max(${timeslice})`, count], is: ofCalls },
  { values: ['standard_deviation'], texts: [`stddev(${timeslice})`, count], is: ofCalls },
  {
    values: ['average_exclusive_time'],
    texts: [`average(${timeslice}['totalExclusive'] / ${timeslice}['count'])`, count],
    is: ofCalls,
  },
  { values: ['total_time', 'total_value', 't'], texts: [sum], is: amounts(1) },
  { values: ['total_call_time_per_minute'], texts: [sum], is: amounts(1 / 5) },
  { values: ['rate', 'time_percentage', 'utilization'], texts: [sum], is: amounts(1 / 300) },
  { values: ['percent'], metric: 'CPU/User Time', texts: [sum], is: amounts(1 / 300) },
  {
    values: ['average_value', 'as_percentage', 'percent', 'sessions_active'],
    texts: [average],
    is: levels(1),
  },
  { values: ['percent'], metric: 'CPU/User/Utilization', texts: [average], is: levels(1) },
  { values: ['used_bytes_by_host', 'used_mb_by_host'], texts: [average], is: levels(mebibyte) },
  { values: ['total_used_mb'], texts: [sum], is: amounts(mebibyte) },
  { values: ['min_value', 'threshold_min'], texts: [`min(${timeslice})`], is: levels(1) },
  { values: ['max_value', 'threshold'], texts: [`max(${timeslice})`], is: levels(1) },
  { values: ['f'], texts: [frustrated], is: amounts(1) },
  {
    values: ['score'],
    metric: 'Apdex',
    texts: [count, sum, frustrated],
    is: [
      [[80, 10, 10], 0.85],
      [[0, 0, 7], 0],
      [[null, 4, null], 0.5],
      [[5, undefined, 0], undefined],
      [[0, 0, 0], undefined],
      [[null, null, null], undefined],
    ],
  },
  {
    values: ['count'],
    metric: 'Apdex/Controller/basket',
    texts: [count, sum, frustrated],
    is: [
      [[80, 10, 10], 100],
      [[null, null, null], 0],
      [[5, undefined, 0], undefined],
    ],
  },
];

function rounded(value: number | undefined): string | undefined {
  return value?.toPrecision(12);
}

describe('a value', () => {
  it.each(
    cases.flatMap(({ values, metric = 'Custom/x', texts, is }) =>
      values.map((value) => ({ value, metric, texts, is })),
    ),
  )('$value of $metric is calculated as New Relic says', ({ value, metric, texts, is }) => {
    const { functions, valueOf } = nrqlValueOf({ metric, value });

    expect(functions.map((of) => functionTexts[of])).toEqual(texts);
    for (const [cells, wanted] of is) {
      const found = valueOf(cells, 300);
      expect([cells, rounded(found)]).toEqual([cells, rounded(wanted)]);
    }
  });

  it('of every name is tried here', () => {
    expect(new Set(cases.flatMap(({ values }) => values))).toEqual(new Set(valueNames));
  });
});

describe('an amount', () => {
  const named = (isAmount: boolean): readonly ValueName[] =>
    valueNames.filter((value) => nrqlValueOf({ metric: 'x', value }).isAmount === isAmount);

  it('is what counts or sums up', () => {
    expect(named(true)).toEqual([
      'requests_per_minute',
      'calls_per_minute',
      'errors_per_minute',
      'throughput',
      'call_count',
      'count',
      'error_count',
      'launch_count',
      'total_time',
      'total_call_time_per_minute',
      'total_value',
      'rate',
      'time_percentage',
      'utilization',
      'total_used_mb',
      's',
      't',
      'f',
    ]);
  });
});
