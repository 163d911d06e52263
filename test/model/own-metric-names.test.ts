import { describe, expect, it } from 'vitest';
import { isOwnMetricName, ownGaugeNames } from '../../src/model/own-metric-names.ts';
import { presetGauges } from '../../src/model/polled-series.ts';
import { fixedFamilies, queryFamiliesOf, upFamily } from '../../src/publish/families.ts';
import { aQuery } from '../support/builders.ts';

describe('ownGaugeNames', () => {
  it('are the gauges of presets and every other family of an account or an application', () => {
    const polled = presetGauges.flatMap(({ name, hostName }) => [name, hostName]);
    const query = queryFamiliesOf({ ...aQuery, gauges: [] });
    const families = [upFamily, ...fixedFamilies, ...query].map(({ name }) => name);

    expect(polled).toHaveLength(20);
    expect(families.length).toBeGreaterThan(15);
    expect([...ownGaugeNames].toSorted()).toEqual([...families, ...polled].toSorted());
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
