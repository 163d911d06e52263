import { describe, expect, it } from 'vitest';
import { toolOrSkip } from '../support/tools.ts';
import { expressionOf } from './dashboard-files.ts';
import { everything as all, type Choice, filledIn } from './grafana.ts';
import { complaint, type Samples, type SeriesInput } from './promtool.ts';

const promtool = toolOrSkip('promtool');

const shop = 'account="main",app_id="1",app_name="shop"';
const cart = 'account="main",app_id="2",app_name="cart"';

function ofApp(instance: string, name: string, labels: string): string {
  return `newrelic_application_${name}{job="nr",instance="${instance}",${labels}}`;
}

function ofHost(host: string, name: string, labels = ''): string {
  const more = labels === '' ? '' : `,${labels}`;
  return `newrelic_application_host_${name}{job="nr",instance="${host}",${shop},${hostOf(host)}${more}}`;
}

function hostOf(host: string): string {
  return `host_id="1${host}",host_name="shop-${host}"`;
}

const web = 'transaction_type="web"';
const other = 'transaction_type="other"';

/** Two exporters of one application. It has never had an error in other transactions. */
const twice: SeriesInput = Object.fromEntries(
  ['a', 'b'].flatMap((instance) => [
    [ofApp(instance, 'info', `${shop},language="java"`), '1x20'],
    [ofApp(instance, 'requests_per_minute', `${shop},${web}`), '100x20'],
    [ofApp(instance, 'requests_per_minute', `${shop},${other}`), '300x20'],
    [ofApp(instance, 'response_time_seconds', `${shop},${web}`), '0.2x20'],
    [ofApp(instance, 'response_time_seconds', `${shop},${other}`), '1x20'],
    [ofApp(instance, 'errors_per_minute', `${shop},${web}`), '5x20'],
    [ofApp(instance, 'apdex_score', shop), '0.9x20'],
    [ofApp(instance, 'database_calls_per_minute', `${shop},${web}`), '200x20'],
    [ofApp(instance, 'database_response_time_seconds', `${shop},${web}`), '0.05x20'],
    [ofApp(instance, 'external_calls_per_minute', shop), '40x20'],
    [ofApp(instance, 'external_response_time_seconds', shop), '0.5x20'],
    [ofApp(instance, 'cpu_usage_ratio', shop), '2.5x20'],
    [ofApp(instance, 'summary_response_time_seconds', shop), '9x20'],
    [ofApp(instance, 'summary_error_ratio', shop), '0.9x20'],
    [ofApp(instance, 'summary_apdex_score', shop), '0.1x20'],
  ]),
);

/** As if each of them were in a cluster of its own; an alert fires in both. */
const inTwoClusters: SeriesInput = Object.fromEntries(
  Object.entries({
    ...twice,
    [`ALERTS{instance="a",alertname="NewRelicApplicationApdexLow",alertstate="firing",${shop}}`]:
      '1x20',
    [`ALERTS{instance="b",alertname="NewRelicApplicationApdexLow",alertstate="firing",${shop}}`]:
      '1x20',
  }).map(([name, values]) => [name.replace(/\{(?=.*instance="(\w)")/, '{cluster="$1",'), values]),
);

/** Of this one only throughput is asked for. */
const plain: SeriesInput = {
  [ofApp('a', 'info', `${cart},language="java"`)]: '1x20',
  [ofApp('a', 'requests_per_minute', `${cart},${web}`)]: '100x20',
  [ofApp('a', 'summary_response_time_seconds', cart)]: '0.3x20',
  [ofApp('a', 'summary_error_ratio', cart)]: '0.02x20',
  [ofApp('a', 'summary_apdex_score', cart)]: '0.8x20',
};

/** Sidecars, each with its host; the last one is idle. */
const hosts: SeriesInput = {
  [ofHost('a', 'requests_per_minute', web)]: '30x20',
  [ofHost('a', 'requests_per_minute', other)]: '30x20',
  [ofHost('b', 'requests_per_minute', web)]: '10x20',
  // How long these took is not known.
  [ofHost('b', 'requests_per_minute', other)]: '5x20',
  [ofHost('a', 'response_time_seconds', web)]: '1x20',
  [ofHost('a', 'response_time_seconds', other)]: '4x20',
  [ofHost('b', 'response_time_seconds', web)]: '3x20',
  [ofHost('a', 'errors_per_minute', web)]: '1x20',
  [ofHost('b', 'errors_per_minute', web)]: '1x20',
  [ofHost('a', 'apdex_score')]: '0.9x20',
  [ofHost('a', 'memory_used_bytes')]: '3e8x20',
  [ofHost('b', 'memory_used_bytes')]: '2e8x20',
  [ofHost('c', 'memory_used_bytes')]: '1e8x20',
  [ofHost('a', 'cpu_usage_ratio')]: '0.5x20',
};

function hostSamples(values: Readonly<Record<string, number>>): Samples {
  return Object.fromEntries(
    Object.entries(values).map(([host, value]) => [`{${shop},${hostOf(host)}}`, value]),
  );
}

const cases: readonly {
  readonly who: string;
  readonly series: SeriesInput;
  readonly choice?: Choice;
  readonly shows: Readonly<Record<string, Samples>>;
}[] = [
  {
    who: 'an application that two exporters poll',
    series: twice,
    shows: {
      'application: Error ratio A': { '{transaction_type="web"}': 0.05 },
      'application: Error ratio B': { '{}': 0.05 },
      'application: Errors A': { '{transaction_type="web"}': 5 },
      'application: Response time A': {
        '{transaction_type="web"}': 0.2,
        '{transaction_type="other"}': 1,
      },
      'application: Apdex A': { '{}': 0.9 },
      'application: Database calls A': { '{transaction_type="web"}': 200 },
      'application: Time of a database call A': { '{transaction_type="web"}': 0.05 },
      'application: External calls A': { '{}': 40 },
      'application: Time of an external call A': { '{}': 0.5 },
      'application: CPU of the hosts B': { '{}': 2.5 },
      'overview: Applications H': { [`{${shop}}`]: 0.8 },
      'overview: Applications I': { [`{${shop}}`]: 0.05 },
      'overview: Applications J': { [`{${shop}}`]: 0.9 },
    },
  },
  {
    who: 'an application that exporters of two clusters poll',
    series: inTwoClusters,
    shows: {
      'overview: Throughput A': { '{}': 400 },
      'overview: Error ratio A': { '{}': 0.05 },
      'overview: Response time A': { '{}': 0.8 },
      'overview: Apdex A': { '{}': 0.9 },
      'overview: Applications published A': { '{}': 1 },
      'overview: Applications with alerts A': { '{}': 1 },
      'overview: Applications A': { [`{${shop}}`]: 2 },
      'overview: Accounts B': {
        '{cluster="a",account="main"}': 1,
        '{cluster="b",account="main"}': 1,
      },
      'application: Response time now A': { '{}': 0.8 },
      'application: Response time by layer A': { '{}': 0.8 - (10 / 400 + 20 / 400) },
      'application: Response time by layer B': { '{}': 10 / 400 },
      'application: Response time by layer C': { '{}': 20 / 400 },
      'application: Application A': { '{app_name="shop"}': 1 },
    },
  },
  {
    who: 'calls that failed a while ago and succeed again',
    series: Object.fromEntries(
      [
        ['server', '0+5x4 20x16'],
        ['throttled', '0x20'],
      ].map(([reason, values = '']) => [
        `newrelic_exporter_api_request_failures_total{job="nr",instance="a",account="main",reason="${reason}"}`,
        values,
      ]),
    ),
    shows: { 'exporter: Failed calls by reason A': { '{reason="server"}': 0 } },
  },
  {
    who: 'an application of which only throughput is asked for',
    series: plain,
    shows: {
      'application: Error ratio A': {},
      'application: Error ratio B': {},
      'application: Errors A': {},
      'application: Response time A': {},
      'application: Apdex A': {},
      'overview: Applications with alerts A': { '{}': 0 },
      'application: Database calls A': {},
      'application: External calls A': {},
      'application: Memory of the hosts B': {},
      'application: CPU of the hosts B': {},
      'overview: Applications H': { [`{${cart}}`]: 0.3 },
      'overview: Applications I': { [`{${cart}}`]: 0.02 },
      'overview: Applications J': { [`{${cart}}`]: 0.8 },
    },
  },
  {
    who: 'hosts that only sidecars publish',
    series: hosts,
    shows: {
      'application: Error ratio A': { '{transaction_type="web"}': 0.05 },
      'application: Response time A': {
        '{transaction_type="web"}': 1.5,
        '{transaction_type="other"}': 4,
      },
      'overview: Applications H': { [`{${shop}}`]: (30 + 120 + 30) / 70 },
      'application: Each host A': hostSamples({ a: 60, b: 15 }),
      'application: Each host B': hostSamples({ a: 60 / 75, b: 15 / 75 }),
      'application: Each host C': hostSamples({ a: 2.5, b: 3 }),
      'application: Each host D': hostSamples({ a: 1, b: 1 }),
      'application: Each host E': hostSamples({ a: 0.9 }),
      'application: Each host F': hostSamples({ a: 3e8, b: 2e8, c: 1e8 }),
      'application: Each host G': hostSamples({ a: 0.5 }),
    },
  },
  {
    who: 'web transactions alone',
    series: hosts,
    choice: { ...all, transaction_type: 'web' },
    shows: {
      'application: Response time A': { '{transaction_type="web"}': 1.5 },
      'application: Each host C': hostSamples({ a: 1, b: 3 }),
    },
  },
];

const shown = cases.flatMap(({ who, series, shows, choice = all }) =>
  Object.entries(shows).map(([where, samples]) => ({ who, series, choice, where, samples })),
);

describe.skipIf(promtool.skip)(`rate, errors and duration${promtool.note}`, () => {
  it.each(shown)('show of $who in $where: $samples', ({ series, choice, where, samples }) => {
    const expr = filledIn(expressionOf(where), choice);

    expect(complaint(promtool.path, { series, expr, samples, at: '1m', interval: '5s' })).toBe('');
  });
});
