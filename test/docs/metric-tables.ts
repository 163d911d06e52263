import { transactionTypes } from '../../src/model/application.ts';
import { type GaugePair, type PolledSeries, seriesOf } from '../../src/model/polled-series.ts';
import { type PresetName, presetNames } from '../../src/model/presets.ts';
import {
  countedBy,
  type Unit,
  type ValueName,
  valueNames,
  vendorValues,
} from '../../src/model/vendor-value.ts';
import { nrqlValueOf } from '../../src/newrelic/nerdgraph/nrql-values.ts';
import { inBaseUnit } from '../../src/newrelic/rest/metric-payload.ts';

/** The tables of docs/metrics.md that are written from the code, by the names of their markers. */
export function metricTables(): ReadonlyMap<string, string> {
  return new Map([
    ['gauges', gaugeTable()],
    ['values', valueTable()],
  ]);
}

/** A document with new text between the markers. Throws if it does not have each marker once. */
export function withTables(document: string, tables: ReadonlyMap<string, string>): string {
  return [...tables].reduce((text, [name, table]) => {
    const [before, rest, ...more] = text.split(`<!-- begin: ${name} -->\n`);
    const end = rest?.indexOf(`<!-- end: ${name} -->`) ?? -1;
    if (rest === undefined || more.length > 0 || end === -1) {
      throw new Error(`the document does not have the markers of "${name}" once`);
    }
    return `${before}<!-- begin: ${name} -->\n\n${table}\n${rest.slice(end)}`;
  }, document);
}

const code = (text: string): string => `\`${text}\``;

function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`.replaceAll('|  |', '| |')).join('');
}

const unitTexts: Readonly<Record<Unit, string>> = {
  seconds: 'seconds',
  seconds_per_minute: 'seconds per minute',
  bytes: 'bytes',
  ratio: 'ratio',
  per_minute: 'per minute',
  per_second: 'per second',
  count: 'number',
  as_metric: 'that of the metric',
  as_metric_per_second: 'that of the metric, per second',
};

/** A gauge of a preset with all its series. */
interface PresetGauge {
  readonly preset: PresetName;
  readonly gauge: GaugePair;
  readonly series: readonly PolledSeries[];
}

function presetGauges(): readonly PresetGauge[] {
  return presetNames.flatMap((preset) => {
    const all = seriesOf([preset], transactionTypes);
    const names = [...new Set(all.map(({ gauge }) => gauge.name))];
    return names.flatMap((name) => {
      const series = all.filter(({ gauge }) => gauge.name === name);
      const [first] = series;
      return first === undefined ? [] : [{ preset, gauge: first.gauge, series }];
    });
  });
}

function gaugeTable(): string {
  const sourceOf = ({ metric, transactionType }: PolledSeries): string =>
    transactionType === undefined ? code(metric) : `${code(metric)} (${transactionType})`;
  const labels = ['account', 'app_id', 'app_name'].map(code).join(', ');
  return tableOf(
    [
      'metric',
      'type',
      `labels beside ${labels}`,
      'of a host, with `host_id` and `host_name`',
      'preset',
      "New Relic's metric",
      'value',
      'stability',
    ],
    presetGauges().map(({ preset, gauge, series }) => [
      code(gauge.name),
      'gauge',
      series.some(({ transactionType }) => transactionType === undefined)
        ? ''
        : code('transaction_type'),
      code(gauge.hostName),
      code(preset),
      series.map(sourceOf).join(', '),
      [...new Set(series.map(({ value }) => code(value)))].join(', '),
      'stable',
    ]),
  );
}

/** NRQL for the value as it is published; `v` stands for `newrelic.timeslice.value`. */
export const nrqlOfValues: Readonly<Record<ValueName, string>> = {
  requests_per_minute: 'rate(count(v), 1 minute)',
  calls_per_minute: 'rate(count(v), 1 minute)',
  errors_per_minute: 'rate(count(v), 1 minute)',
  throughput: 'rate(count(v), 1 second)',
  call_count: 'count(v)',
  count: 'count(v)',
  error_count: 'count(v)',
  launch_count: 'count(v)',
  average_response_time: 'average(v)',
  average_call_time: 'average(v)',
  average_time: 'average(v)',
  min_response_time: 'min(v)',
  max_response_time: 'max(v)',
  standard_deviation: 'stddev(v)',
  average_exclusive_time: "average(v['totalExclusive'] / v['count'])",
  total_time: 'sum(v)',
  total_call_time_per_minute: 'rate(sum(v), 1 minute)',
  average_value: 'average(v)',
  min_value: 'min(v)',
  max_value: 'max(v)',
  total_value: 'sum(v)',
  rate: 'rate(sum(v), 1 second)',
  as_percentage: 'average(v)',
  percent: 'average(v)',
  time_percentage: 'rate(sum(v), 1 second)',
  utilization: 'rate(sum(v), 1 second)',
  used_bytes_by_host: 'average(v) * 1048576',
  used_mb_by_host: 'average(v) * 1048576',
  total_used_mb: 'sum(v) * 1048576',
  sessions_active: 'average(v)',
  score: 'apdex(v)',
  s: 'count(v)',
  t: 'sum(v)',
  f: "sum(v['totalExclusive'])",
  threshold: 'max(v)',
  threshold_min: 'min(v)',
};

/** What New Relic states, which `inBaseUnit` turns into what is published. */
function statedUnit(value: ValueName): string {
  const unit = vendorValues[value];
  const factor = inBaseUnit(value, 1);
  if (factor === 1) return unitTexts[unit];
  if (unit === 'seconds' && factor === 0.001) return 'milliseconds';
  if (unit === 'bytes' && factor === 1024 * 1024) return 'MiB';
  if (unit === 'ratio' && factor === 0.01) return 'percent';
  throw new Error(`${value}: no unit is known that is ${factor} times ${unit}`);
}

/** When a value is absent although New Relic has the metric. */
function absenceOf(value: ValueName): string {
  if (countedBy[value] !== undefined) return 'without calls in the window';
  if (vendorValues[value] === 'bytes') return 'where it would be 0';
  const { isAmount } = nrqlValueOf({ metric: 'Custom/any', value });
  return isAmount ? '' : 'with NerdGraph, if nothing was recorded in the window';
}

/** Values with the same row stand in one. */
function valueTable(): string {
  const rows = new Map<string, readonly ValueName[]>();
  for (const value of valueNames) {
    const cells = [
      statedUnit(value),
      unitTexts[vendorValues[value]],
      code(nrqlOfValues[value]),
      absenceOf(value),
    ];
    const key = cells.join(' | ');
    rows.set(key, [...(rows.get(key) ?? []), value]);
  }
  return tableOf(
    ['value', 'New Relic states', 'published', 'NRQL for what is published', 'also absent'],
    [...rows].map(([key, values]) => [values.map(code).join(', '), key]),
  );
}
