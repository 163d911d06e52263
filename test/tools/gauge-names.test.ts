import { describe, expect, it } from 'vitest';
import { hostGaugeName } from '../../src/model/polled-series.ts';
import { presetNames, presets } from '../../src/model/presets.ts';
import { valueNames, vendorValues } from '../../src/model/vendor-value.ts';
import { createGaugeNames, type NameGauge } from '../../src/tools/gauge-names.ts';

/** As `createGaugeNames`, but of the names alone. */
function createNames(): (...of: Parameters<NameGauge>) => string {
  const nameGauge = createGaugeNames();
  return (...of) => nameGauge(...of).as;
}

describe('the name of a gauge', () => {
  it.each([
    {
      metric: 'WebFrontend/QueueTime',
      value: 'average_response_time' as const,
      name: 'newrelic_application_webfrontend_queuetime_average_response_time_seconds',
    },
    {
      metric: 'Datastore/all',
      value: 'requests_per_minute' as const,
      name: 'newrelic_application_datastore_all_requests_per_minute',
    },
    {
      metric: 'CPU/User/Utilization',
      value: 'percent' as const,
      name: 'newrelic_application_cpu_user_utilization_ratio',
    },
    {
      metric: 'Memory/Heap/Used',
      value: 'used_mb_by_host' as const,
      name: 'newrelic_application_memory_heap_used_used_by_host_bytes',
    },
    {
      metric: ' --漢字-- ',
      value: 'call_count' as const,
      name: 'newrelic_application_metric_calls',
    },
    {
      metric: '2xx/3.5%',
      value: 'rate' as const,
      name: 'newrelic_application_2xx_rate_per_second',
    },
  ])('of $metric and $value is $name', ({ metric, value, name }) => {
    expect(createNames()(metric, value)).toBe(name);
  });

  it.each(valueNames)('of %s says its unit, is valid, and has no end with a meaning', (value) => {
    const name = createNames()('Custom/x', value);

    expect(name).toMatch(/^newrelic_application_[a-z0-9_]+$/u);
    expect(name).not.toMatch(/__|_$|_(?:total|count|sum|bucket|info|created)$/u);
    const units = ['seconds', 'bytes', 'ratio', 'per_minute', 'per_second', 'seconds_per_minute'];
    const unit = vendorValues[value].replace('as_metric_', '');
    const isNamed = units.some((one) => name.endsWith(`_${one}`));
    expect(isNamed).toBe(units.includes(unit));
    expect(name.endsWith(`_${unit}`)).toBe(isNamed);
  });

  it('is never given twice, neither to applications nor to hosts', () => {
    const nameGauge = createNames();
    const metrics = [
      'a b',
      'A/all',
      'a_all',
      'A b',
      'a_b',
      'host-a-b',
      'Host A B',
      'b/x',
      'B',
      '!',
    ];

    const names = metrics.flatMap((metric) => valueNames.map((value) => nameGauge(metric, value)));

    const all = names.flatMap((name) => [name, hostGaugeName(name)]);
    expect(new Set(all).size).toBe(all.length);
  });

  it('never comes from data: metrics of one family share it, and differ in a label', () => {
    const nameGauge = createGaugeNames();
    const shown = nameGauge('WebTransaction/Controller/basket/show', 'call_count');
    const other = nameGauge('WebTransaction/Controller/search', 'call_count');
    const host = nameGauge('External/payments.example.com/all', 'call_count');

    expect(shown).toEqual({
      as: 'newrelic_application_webtransaction_calls',
      label: ['transaction', 'Controller/basket/show'],
    });
    expect(other).toEqual({ as: shown.as, label: ['transaction', 'Controller/search'] });
    expect(host).toEqual({
      as: 'newrelic_application_external_calls',
      label: ['name', 'payments.example.com/all'],
    });
    expect(nameGauge('WebTransaction/x', 'min_value').as).not.toBe(shown.as);
    expect(nameGauge('External/all', 'call_count').label).toBeUndefined();
  });

  it('is none of those that presets have', () => {
    const own = new Set(
      presetNames
        .flatMap((preset) => presets[preset])
        .flatMap(({ name }) => [
          `newrelic_application_${name}`,
          `newrelic_application_host_${name}`,
        ]),
    );

    // These would be called so.
    const names = [
      createNames()('database', 'calls_per_minute'),
      createNames()('host external', 'average_response_time'),
      createNames()('host database', 'calls_per_minute'),
    ];

    expect(names.filter((name) => own.has(name))).toEqual([]);
    expect(names[0]).toBe('newrelic_application_database_2_calls_per_minute');
  });

  it('of a very long metric is not much longer than those of others', () => {
    const nameGauge = createNames();
    const sql = `Datastore ${'SELECT * FROM t '.repeat(100)}`;

    const names = [nameGauge(sql, 'call_count'), nameGauge(`${sql}WHERE x`, 'call_count')];

    expect(names.every((name) => name.length < 160)).toBe(true);
    expect(new Set(names).size).toBe(2);
  });
});
