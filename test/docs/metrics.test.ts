import { describe, expect, it } from 'vitest';
import { transactionTypes } from '../../src/model/application.ts';
import { hostGaugeName, seriesOf } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import { createSelfMetrics } from '../../src/telemetry/self-metrics.ts';
import { anApplication, aReading, aSnapshot, aStore } from '../exposition/builders.ts';
import { representativeSnapshots } from '../exposition/vendor-exposition.ts';
import { anAccountStatus, missingMetric } from '../telemetry/account-status.ts';
import { readDocument, readProductDocuments } from './documents.ts';
import { codeBlocksIn } from './markdown.ts';
import {
  documentedMetrics,
  type MetricFacts,
  metricProblems,
  metricsOfPage,
  strayMetricNames,
} from './metric-rule.ts';

/** What the exporters of mrf and jfindley call their metrics. */
const metricsOfOthers: readonly string[] = [
  'newrelic_requests_per_minute',
  'newrelic_calls_per_minute',
  'newrelic_throughput',
  'newrelic_response_time',
  'newrelic_error_rate',
  'newrelic_apdex_score',
  'newrelic_apdex_target',
  'newrelic_host_count',
  'newrelic_instance_count',
  'newrelic_exporter_last_scrape_error',
];

/**
 * The families of New Relic's data: the first two representative applications have every one that does
 * not depend on the configuration, the third has all presets.
 */
async function vendorMetrics(): Promise<readonly MetricFacts[]> {
  const store = aStore();
  const series = seriesOf(presetNames, transactionTypes);
  const values = series.map(() => 1);
  const hosts = new Map([['1', values]]);
  const reading = aReading({ series, application: values, hosts });
  const withPresets = aSnapshot({ application: anApplication({ id: '3' }), reading });
  for (const snapshot of [...representativeSnapshots.slice(0, 2), withPresets]) {
    store.publish({ ...snapshot, labels: {} });
  }
  store.accountUp('production', true);
  return metricsOfPage((await store.page()).identity);
}

async function selfMetrics(): Promise<readonly MetricFacts[]> {
  const metrics = createSelfMetrics(
    { version: '1.0.0', revision: 'unknown', nodeVersion: 'v24.0.0' },
    {
      status: () => [
        anAccountStatus({ missingSelectors: ['id=1'], missingMetrics: [missingMetric] }),
      ],
      seriesOf: () => 1,
      droppedSeriesOf: () => 0,
      nextTurn: async () => undefined,
    },
  );
  const calls = metrics.apiObserver('production');
  calls.unexpected('row', 0);
  calls.ended('host_metrics', '200', 0.2);
  metrics.pollObserver('production').polled(1, true);
  metrics.configReloaded(true, 0);
  return metricsOfPage(Buffer.from(await metrics.text()));
}

const vendor = await vendorMetrics();
const self = await selfMetrics();
const documented = documentedMetrics(readDocument('docs/metrics.md').text);

describe('docs/metrics.md', () => {
  it('names every metric of New Relic data with its type and labels', () => {
    expect(vendor.length).toBeGreaterThan(15);
    expect(metricProblems(vendor, documented)).toEqual([]);
  });

  it('names every metric of the exporter with its type and labels', () => {
    const own = self.filter(({ name }) => name.startsWith('newrelic_'));

    expect(own.length).toBeGreaterThan(20);
    expect(own.filter(({ labels }) => labels === undefined)).toEqual([]);
    expect(metricProblems(self, documented)).toEqual([]);
  });
});

/** What the examples of configurations call the gauges of metrics that they name themselves. */
const ofExamples: readonly MetricFacts[] = readProductDocuments().flatMap(({ text }) =>
  codeBlocksIn(text)
    .flatMap((block) => [...block.text.matchAll(/\bas: (\w+)/gu)])
    .flatMap(([, name = '']) => [name, hostGaugeName(name)])
    .map((name) => ({ name, type: 'gauge', labels: [] })),
);

describe('every document', () => {
  it.each(readProductDocuments())('$path names no metric that does not exist', (document) => {
    const strays = strayMetricNames(document.text, [...vendor, ...self, ...ofExamples]);
    const allowed = document.path === 'docs/metrics.md' ? metricsOfOthers : [];

    expect(strays.filter((name) => !allowed.includes(name))).toEqual([]);
  });
});

describe('metricProblems', () => {
  const actual = metricsOfPage(
    Buffer.from('# HELP a_total A.\n# TYPE a_total counter\na_total{x="1",y="2"} 1\n'),
  );
  const tableOf = (...rows: readonly string[]): string =>
    ['| metric | type | labels beside `x` |', '| --- | --- | --- |', ...rows, ''].join('\n');

  it.each([
    { what: 'nothing is wrong', rows: ['| `a_total` | counter | `y` |'], problems: [] },
    { what: 'a metric is missing', rows: [], problems: ['a_total is not documented'] },
    {
      what: 'type and labels differ',
      rows: ['| `a_total` | gauge | |'],
      problems: ['a_total is a counter', 'a_total has the labels x, y'],
    },
    {
      what: 'a metric stands twice',
      rows: ['| `a_total` | counter | `y` |', '| `a_total` | counter | `y` |'],
      problems: ['a_total stands twice'],
    },
  ])('says when $what', ({ rows, problems }) => {
    expect(metricProblems(actual, documentedMetrics(tableOf(...rows)))).toEqual(problems);
  });
});

describe('strayMetricNames', () => {
  const known = [
    { name: 'newrelic_up', type: 'gauge', labels: [] },
    { name: 'newrelic_exporter_poll_seconds', type: 'histogram', labels: [] },
  ];

  it.each([
    { text: '`newrelic_up`, newrelic_exporter_*, newrelic_exporter_poll_seconds_sum', stray: [] },
    { text: 'newrelic_upp', stray: ['newrelic_upp'] },
    { text: 'a/newrelic_exporter, newrelic_exporter.yml, newrelic_exporter -a', stray: [] },
    {
      text: 'newrelic_up_bucket and `newrelic_host_`',
      stray: ['newrelic_up_bucket', 'newrelic_host_'],
    },
  ])('finds $stray in "$text"', ({ text, stray }) => {
    expect(strayMetricNames(text, known)).toEqual(stray);
  });
});
