import { type ValueName, vendorValues } from '../../model/vendor-value.ts';

/** What a metric becomes in Prometheus. */
export interface NamedGauge {
  readonly as: string;
  /** The name and the value of the label that tells it from others with the same name. */
  readonly label: readonly [string, string] | undefined;
}

/**
 * Makes names of gauges, none that the exporter has itself. Metrics whose names come from data, such as
 * transactions, share one, and a label has the rest.
 */
export type NameGauge = (metric: string, value: ValueName) => NamedGauge;

const prefix = 'app_';

/** A count, and what has the unit of its metric, have none in their names. */
function suffixOf(value: ValueName): string {
  const unit = vendorValues[value].replace(/^(?:count|as_metric)(?:_|$)/u, '');
  return unit === '' ? '' : `_${unit}`;
}

/**
 * What a value is called before its unit, where that is not its own name: because it has another unit in
 * its name, or an end such as `_count`, which means something else in Prometheus.
 */
const stems: Readonly<Partial<Record<ValueName, string>>> = {
  requests_per_minute: '_requests',
  calls_per_minute: '_calls',
  errors_per_minute: '_errors',
  call_count: '_calls',
  count: '_samples',
  error_count: '_errors',
  launch_count: '_launches',
  total_call_time_per_minute: '_total_call_time',
  as_percentage: '',
  percent: '',
  time_percentage: '_time',
  used_bytes_by_host: '_used_by_host',
  used_mb_by_host: '_used_by_host',
  total_used_mb: '_total_used',
  s: '_satisfied',
  t: '_tolerating',
  f: '_frustrated',
};

/** A name of a metric may be a whole SQL statement. */
const longest = 100;

/** @param suffix distinguishes metrics that would have the same name */
function gaugeName(metric: string, suffix: string, value: ValueName): string {
  const letters = metric
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, longest)
    .replaceAll(/^_|_$/g, '');
  const subject = `${letters === '' ? 'metric' : letters}${suffix}`;
  return `${prefix}${subject}${stems[value] ?? `_${value}`}${suffixOf(value)}`;
}

/** Metrics that agents name by themselves. */
const fixed = /^(?:[^/]*|(?:CPU|Memory|WebFrontend)\/.*|[^/]+\/all(?:Web|Other)?|[^/]+\/|\/.*)$/u;
const transactions = /^(?:Apdex|Errors|(?:Web|Other)Transaction(?:TotalTime)?)$/u;

export function createGaugeNames(): NameGauge {
  const taken = new Set<string>();
  const unique = (metric: string, value: ValueName): string => {
    for (let number = 1; ; number += 1) {
      const name = gaugeName(metric, number === 1 ? '' : `_${number}`, value);
      if (taken.has(name)) continue;
      taken.add(name);
      return name;
    }
  };
  const shared = new Map<string, string>();
  return (metric, value) => {
    if (fixed.test(metric)) return { as: unique(metric, value), label: undefined };
    const end = metric.indexOf('/');
    const family = metric.slice(0, end);
    const key = JSON.stringify([family, value]);
    const as = shared.get(key) ?? unique(family, value);
    shared.set(key, as);
    const label = transactions.test(family) ? 'transaction' : 'name';
    return { as, label: [label, metric.slice(end + 1)] };
  };
}
