import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { type Account, anAccount, valuesOfOneSlice } from './account.ts';
import { aNerdgraphAccount, type NerdgraphAccount } from './nerdgraph-account.ts';

const v = 'newrelic.timeslice.value';

/** NRQL for a value of the REST API, as the vendor translates it. */
const translations: readonly {
  readonly metric: string;
  readonly value: string;
  readonly nrql: string;
}[] = [
  ...['HttpDispatcher', 'OtherTransaction/all', 'Datastore/all', 'Datastore/allWeb'].flatMap(
    (metric) => [
      { metric, value: 'requests_per_minute', nrql: `rate(count(${v}), 1 minute)` },
      { metric, value: 'average_response_time', nrql: `average(${v}) * 1000` },
    ],
  ),
  ...[
    { value: 'calls_per_minute', nrql: `rate(count(${v}), 1 minute)` },
    { value: 'call_count', nrql: `count(${v})` },
    { value: 'min_response_time', nrql: `min(${v}) * 1000` },
    { value: 'max_response_time', nrql: `max(${v}) * 1000` },
    { value: 'standard_deviation', nrql: `stddev(${v}) * 1000` },
    {
      value: 'average_exclusive_time',
      nrql: `average(${v}['totalExclusive'] / ${v}['count']) * 1000`,
    },
    { value: 'average_value', nrql: `average(${v})` },
    { value: 'total_call_time_per_minute', nrql: `rate(sum(${v}), 1 minute)` },
    { value: 'average_call_time', nrql: `average(${v}) * 1000` },
  ].map((row) => ({ metric: 'WebTransaction/Controller/orders/show', ...row })),
  { metric: 'Datastore/allOther', value: 'call_count', nrql: `count(${v})` },
  { metric: 'External/all', value: 'average_response_time', nrql: `average(${v}) * 1000` },
  { metric: 'WebFrontend/QueueTime', value: 'average_response_time', nrql: `average(${v}) * 1000` },
  ...['Errors/all', 'Errors/allWeb', 'Errors/allOther'].flatMap((metric) => [
    { metric, value: 'errors_per_minute', nrql: `rate(count(${v}), 1 minute)` },
    { metric, value: 'error_count', nrql: `count(${v})` },
  ]),
  ...[
    { value: 's', nrql: `count(${v})` },
    { value: 't', nrql: `sum(${v})` },
    { value: 'f', nrql: `sum(${v}['totalExclusive'])` },
    {
      value: 'score',
      nrql: `(count(${v}) + sum(${v}) / 2) / (count(${v}) + sum(${v}) + sum(${v}['totalExclusive']))`,
    },
    { value: 'threshold', nrql: `max(${v})` },
    { value: 'threshold_min', nrql: `min(${v})` },
  ].map((row) => ({ metric: 'Apdex', ...row })),
  ...['Memory/Physical', 'Memory/Heap/Used'].flatMap((metric) => [
    { metric, value: 'used_bytes_by_host', nrql: `average(${v}) * 1024 * 1024` },
    { metric, value: 'used_mb_by_host', nrql: `average(${v})` },
    { metric, value: 'total_used_mb', nrql: `sum(${v})` },
    { metric, value: 'max_value', nrql: `max(${v})` },
  ]),
  { metric: 'CPU/User Time', value: 'percent', nrql: `100 * sum(${v}) / 300` },
  { metric: 'CPU/User/Utilization', value: 'percent', nrql: `average(${v}) * 100` },
  ...[
    { value: 'average_value', nrql: `average(${v})` },
    { value: 'count', nrql: `count(${v})` },
    { value: 'min_value', nrql: `min(${v})` },
    { value: 'total_value', nrql: `sum(${v})` },
    { value: 'rate', nrql: `rate(sum(${v}), 1 second)` },
  ].map((row) => ({ metric: 'Custom/Queue/Depth', ...row })),
];

interface Both {
  readonly account: Account;
  /** A value of the REST API, unrounded. */
  readonly rest: (metric: string, value: string, hostId?: number) => number | undefined;
  /** A column of NRQL for the metric. */
  readonly nrql: (metric: string, column: string, host?: string) => unknown;
}

/** Both APIs of the same account, in the five minutes until 09:55, or so many minutes later. */
function bothOf(options: FleetOptions, minutesLater = 0): Both {
  const account = anAccount(options);
  const nerdgraph: NerdgraphAccount = aNerdgraphAccount(options);
  const toMs = Date.UTC(2026, 8, 1, 9, 55) + minutesLater * minuteMs;
  const fromMs = toMs - 5 * minuteMs;
  const range = `from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
  return {
    account,
    rest: (metric, value, hostId) => {
      const subject = hostId === undefined ? '1' : `1/hosts/${hostId}`;
      const document = account.read(
        `/v2/applications/${subject}/metrics/data.json?names[]=${encodeURIComponent(metric)}&values[]=${value}&raw=true&summarize=true&${range}`,
      );
      return valuesOfOneSlice(document)[value];
    },
    nrql: (metric, column, host) => {
      const where = host === undefined ? '' : ` AND host = '${host}'`;
      const { results } = nerdgraph.nrql(
        `SELECT filter(${column}, WHERE metricTimesliceName = '${metric}') AS v FROM Metric ` +
          `WHERE appId = 1${where} SINCE ${fromMs} UNTIL ${toMs}`,
      );
      return results[0]?.['v'];
    },
  };
}

const busy: FleetOptions = {
  seed: 7,
  applications: [
    {
      id: 1,
      kind: 'both',
      language: 'java',
      webRpm: 700,
      otherRpm: 90,
      errorRatio: 0.1,
      hosts: [
        { id: 11, name: 'a' },
        { id: 12, name: 'b', weight: 0.2 },
        { id: 13, name: 'c' },
      ],
    },
  ],
};

/** Calls of the application or one of its hosts, and their average time. */
function callsAndTime(
  rest: Both['rest'],
  metric: string,
  hostId?: number,
): { readonly calls: number; readonly ms: number } {
  return {
    calls: rest(metric, 'call_count', hostId) ?? Number.NaN,
    ms: rest(metric, 'average_response_time', hostId) ?? Number.NaN,
  };
}

describe('the values of both APIs', () => {
  it.each(translations)('are equal: $value of $metric', ({ metric, value, nrql: column }) => {
    const { rest, nrql } = bothOf(busy);

    const ofHost = rest(metric, value, 12) ?? Number.NaN;
    const ofApplication = rest(metric, value) ?? Number.NaN;

    expect(ofApplication).toBeGreaterThan(0);
    expect(nrql(metric, column)).toBeCloseTo(ofApplication, 6);
    expect(nrql(metric, column, 'b')).toBeCloseTo(ofHost, 6);
  });
});

describe('the values of an application', () => {
  it.each(['HttpDispatcher', 'Datastore/all', 'External/all'])(
    'are the sum and the weighted average of those of its hosts: %s',
    (metric) => {
      const { rest } = bothOf(busy);
      const hosts = [11, 12, 13].map((id) => callsAndTime(rest, metric, id));

      const { calls, ms } = callsAndTime(rest, metric);

      expect(calls).toBe(hosts.reduce((sum, host) => sum + host.calls, 0));
      expect(ms * calls).toBeCloseTo(
        hosts.reduce((sum, host) => sum + host.calls * host.ms, 0),
        6,
      );
      expect(new Set(hosts.map((host) => host.ms)).size).toBe(3);
    },
  );
});
