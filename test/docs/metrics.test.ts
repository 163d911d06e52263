import { describe, expect, it } from 'vitest';
import { transactionTypes } from '../../src/model/application.ts';
import { hostGaugeName, seriesOf } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import { operationNames } from '../../src/model/telemetry.ts';
import { createSelfMetrics } from '../../src/publish/self-metrics.ts';
import { anAccountStatus, missingMetric } from '../publish/account-status.ts';
import { anApplication, aReading, aSnapshot, aStore } from '../publish/builders.ts';
import { representativeSnapshots } from '../publish/vendor-exposition.ts';
import { aQuery } from '../support/builders.ts';
import { aQueryStatus } from '../support/status-source.ts';
import { readDocument, readProductDocuments } from './documents.ts';
import { codeBlocksIn } from './markdown.ts';
import {
  documentedMetrics,
  type MetricFacts,
  metricProblems,
  metricsOfPage,
  strayMetricNames,
  withoutStability,
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
  const rows = {
    windowEndMs: 0,
    series: [],
    rows: 1,
    leftOut: 0,
    unusable: new Map(),
    notices: [],
  };
  const query = { ...aQuery, gauges: [] };
  store.publish({ query, reading: rows, pollSucceeded: true, lastSuccessMs: 1 });
  store.accountUp('production', true);
  return metricsOfPage(Buffer.concat((await store.page()).identity));
}

async function selfMetrics(): Promise<readonly MetricFacts[]> {
  const metrics = createSelfMetrics(
    { version: '1.0.0', revision: 'unknown', nodeVersion: 'v24.0.0' },
    {
      status: () => [
        anAccountStatus({
          missingSelectors: ['id=1'],
          missingMetrics: [missingMetric],
          queries: [aQueryStatus('calls', 'up', { missing: 'it has no rows' })],
        }),
      ],
      seriesOf: () => 1,
      droppedSeriesOf: () => 0,
      nextTurn: async () => undefined,
    },
  );
  metrics.beginAccount('production', operationNames);
  const calls = metrics.apiObserver('production');
  calls.unexpected('row', 0);
  calls.ended('host_metrics', '200', 0.2);
  metrics.pollObserver('production').polled(1, true);
  metrics.configReloaded(true, 0, ['teams/a.yaml']);
  return metricsOfPage(Buffer.from(await metrics.text()));
}

const vendor = await vendorMetrics();
const self = await selfMetrics();
const metricsText = readDocument('docs/metrics.md').text;
const documented = documentedMetrics(metricsText);

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

  it('says of every metric whether it may change', () => {
    expect(withoutStability([...vendor, ...self], metricsText)).toEqual([]);
  });

  it('would not say it of a new metric, nor in another word', () => {
    const added = { name: 'newrelic_added', type: 'gauge', labels: [] };
    const otherWords = metricsText.replaceAll('| may change |', '| alpha |');

    expect(withoutStability([added], metricsText)).toEqual(['newrelic_added']);
    expect(withoutStability(self, otherWords)).toContain('process_cpu_seconds_total');
  });
});

/** What the examples of configurations call the gauges of metrics that they name themselves. */
const ofExamples: readonly MetricFacts[] = readProductDocuments().flatMap(({ text }) =>
  codeBlocksIn(text)
    .flatMap((block) => [
      ...block.text.matchAll(/(?:\bas: (?:\{ \w+: )?|, \w+: (?=newrelic_))(\w+)/gu),
    ])
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
