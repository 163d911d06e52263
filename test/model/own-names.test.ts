import { describe, expect, it } from 'vitest';
import {
  isOwnMetricName,
  ownGaugeNames,
  ownLabels,
  queryLabels,
} from '../../src/model/own-names.ts';
import { presetGauges } from '../../src/model/polled-series.ts';
import { fixedFamilies, queryFamiliesOf, upFamily } from '../../src/publish/families.ts';
import { aStore } from '../publish/builders.ts';
import { representativeSnapshots } from '../publish/vendor-exposition.ts';
import { aGauge, aQuery } from '../support/builders.ts';
import { parseExposition } from '../support/exposition-parser.ts';

describe('ownGaugeNames', () => {
  it('are the gauges of presets and every other family of an account or an application', () => {
    const polled = presetGauges.flatMap(({ name, hostName }) => [name, hostName]);
    const query = queryFamiliesOf({ ...aQuery, gauges: [] });
    const families = [upFamily, ...fixedFamilies, ...query].map(({ name }) => name);

    expect(polled.length).toBeGreaterThan(15);
    expect(families.length).toBeGreaterThan(15);
    expect([...ownGaugeNames].toSorted()).toEqual([...families, ...polled].toSorted());
  });
});

const aQueryReading = {
  windowEndMs: 0,
  series: [],
  rows: 1,
  leftOut: 0,
  unusable: new Map(),
  notices: [],
};

/** The names of the labels of all series of a page. */
async function labelsOf(store: ReturnType<typeof aStore>): Promise<readonly string[]> {
  const page = parseExposition(Buffer.concat((await store.page()).identity));
  const samples = page.flatMap((family) => family.samples);
  return [...new Set(samples.flatMap(({ labels }) => labels.map(([name]) => name)))];
}

describe('own labels', () => {
  it('are those of all series of applications and hosts: a user may have none of them', async () => {
    const store = aStore();
    for (const snapshot of representativeSnapshots) store.publish({ ...snapshot, labels: {} });

    expect((await labelsOf(store)).toSorted()).toEqual(ownLabels.toSorted());
  });

  it('are those of all series of queries, and the one of buckets', async () => {
    const store = aStore();
    const series = [{ gauge: 0, labels: [['quantile', '0.5']], value: 1 }] as const;
    const reading = { ...aQueryReading, series };
    const query = { ...aQuery, gauges: [aGauge('durations')] };
    store.publish({ query, reading, pollSucceeded: true, lastSuccessMs: 1 });

    expect([...(await labelsOf(store)), 'le'].toSorted()).toEqual(queryLabels.toSorted());
  });
});

describe('isOwnMetricName', () => {
  it.each([
    { name: 'newrelic_up', is: true },
    { name: 'newrelic_application_host_cpu_usage_ratio', is: true },
    { name: 'newrelic_exporter_anything', is: true },
    { name: 'process_cpu_seconds_total', is: true },
    { name: 'nodejs_eventloop_lag_seconds', is: true },
    { name: 'newrelic_application_queue_time_seconds', is: false },
    { name: 'queue_time_seconds', is: false },
    { name: 'processes', is: false },
  ])('is $is for $name', ({ name, is }) => {
    expect(isOwnMetricName(name)).toBe(is);
  });
});
