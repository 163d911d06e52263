import { describe, expect, it } from 'vitest';
import { hostGaugeName } from '../../../src/model/polled-series.ts';
import { type ValueName, valueNames, vendorValues } from '../../../src/model/vendor-value.ts';
import { createGaugeNames, type NameGauge } from '../../../src/tools/metrics/gauge-names.ts';

/** As `createGaugeNames`, but of the names alone. */
function createNames(): (...of: Parameters<NameGauge>) => string {
  const nameGauge = createGaugeNames();
  return (...of) => nameGauge(...of).as;
}

describe('the name of a gauge', () => {
  it.each<[metric: string, value: ValueName, name: string]>([
    [
      'WebFrontend/QueueTime',
      'average_response_time',
      'webfrontend_queuetime_average_response_time_seconds',
    ],
    ['Datastore/all', 'requests_per_minute', 'datastore_all_requests_per_minute'],
    ['CPU/User/Utilization', 'percent', 'cpu_user_utilization_ratio'],
    ['Memory/Heap/Used', 'used_mb_by_host', 'memory_heap_used_used_by_host_bytes'],
    [' --漢字-- ', 'call_count', 'metric_calls'],
    ['2xx/3.5%', 'rate', '2xx_rate_per_second'],
    ['host database', 'calls_per_minute', 'host_database_calls_per_minute'],
  ])('of %j and %s is ..._%s', (metric, value, name) => {
    expect(createNames()(metric, value)).toBe(`app_${name}`);
  });

  it.each(valueNames)('of %s says its unit, is valid, and has no end with a meaning', (value) => {
    const name = createNames()('Custom/x', value);

    expect(name).toMatch(/^app_[a-z0-9_]+$/u);
    expect(name).not.toMatch(/__|_$|_(?:total|count|sum|bucket|info|created)$/u);
    const units = ['seconds', 'bytes', 'ratio', 'per_minute', 'per_second', 'seconds_per_minute'];
    const unit = vendorValues[value].replace('as_metric_', '');
    const isNamed = units.some((one) => name.endsWith(`_${one}`));
    expect(isNamed).toBe(units.includes(unit));
    expect(name.endsWith(`_${unit}`)).toBe(isNamed);
  });

  it('is never given twice, neither to applications nor to hosts, and never long', () => {
    const nameGauge = createNames();
    const sql = `Datastore ${'SELECT * FROM t '.repeat(100)}`;
    const likeOthers = ['a b', 'A/all', 'a_all', 'A b', 'a_b', 'host-a-b', 'Host A B', 'b/x', 'B'];
    const metrics = [...likeOthers, '!', sql, `${sql}WHERE x`];

    const names = metrics.flatMap((metric) => valueNames.map((value) => nameGauge(metric, value)));

    const all = names.flatMap((name) => [name, hostGaugeName(name)]);
    expect(new Set(all).size).toBe(all.length);
    expect(names.filter((name) => name.length > 160)).toEqual([]);
  });

  it('never comes from data: metrics of one family share it, and differ in a label', () => {
    const nameGauge = createGaugeNames();
    const shown = nameGauge('WebTransaction/Controller/basket/show', 'call_count');

    expect(shown).toEqual({
      as: 'app_webtransaction_calls',
      label: ['transaction', 'Controller/basket/show'],
    });
    expect(nameGauge('WebTransaction/Controller/search', 'call_count')).toEqual({
      as: shown.as,
      label: ['transaction', 'Controller/search'],
    });
    expect(nameGauge('External/payments.example.com/all', 'call_count')).toEqual({
      as: 'app_external_calls',
      label: ['name', 'payments.example.com/all'],
    });
    expect(nameGauge('WebTransaction/x', 'min_value').as).not.toBe(shown.as);
    expect(nameGauge('External/all', 'call_count').label).toBeUndefined();
  });
});
