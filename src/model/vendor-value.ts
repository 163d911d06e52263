/**
 * A unit in which values are published. `seconds_per_minute` is time spent in each minute. `per_minute`
 * and `per_second` are rates of calls. `ratio` is 0 to 1 for parts of a whole; of CPU time, 1 is one
 * core. `as_metric` is whatever unit the metric has that was recorded.
 */
export type Unit =
  | 'seconds'
  | 'seconds_per_minute'
  | 'bytes'
  | 'ratio'
  | 'per_minute'
  | 'per_second'
  | 'count'
  | 'as_metric'
  | 'as_metric_per_second';

const unitTraits = {
  requests_per_minute: 'per_minute',
  calls_per_minute: 'per_minute',
  errors_per_minute: 'per_minute',
  throughput: 'per_second',
  call_count: 'count',
  count: 'count',
  error_count: 'count',
  launch_count: 'count',
  average_response_time: 'seconds',
  average_call_time: 'seconds',
  average_time: 'seconds',
  min_response_time: 'seconds',
  max_response_time: 'seconds',
  standard_deviation: 'seconds',
  average_exclusive_time: 'seconds',
  total_time: 'seconds',
  total_call_time_per_minute: 'seconds_per_minute',
  average_value: 'as_metric',
  min_value: 'as_metric',
  max_value: 'as_metric',
  total_value: 'as_metric',
  rate: 'as_metric_per_second',
  as_percentage: 'ratio',
  percent: 'ratio',
  time_percentage: 'ratio',
  utilization: 'ratio',
  used_bytes_by_host: 'bytes',
  used_mb_by_host: 'bytes',
  total_used_mb: 'bytes',
  sessions_active: 'count',
  score: 'ratio',
  s: 'count',
  t: 'count',
  f: 'count',
  threshold: 'seconds',
  threshold_min: 'seconds',
} as const;

/** A value of a metric of APM, as the REST API calls it. */
export type ValueName = keyof typeof unitTraits;

/**
 * The unit in which each value is published. New Relic itself states times in milliseconds, memory in
 * MiB and shares in percent.
 */
export const vendorValues: Readonly<Record<ValueName, Unit>> = unitTraits;

const amounts: ReadonlySet<ValueName> = new Set<ValueName>([
  'call_count',
  'count',
  'error_count',
  'launch_count',
  'total_time',
  'total_value',
  'total_used_mb',
  's',
  't',
  'f',
]);

/** Whether it is an amount of the whole window, so that a longer window gives more. */
export function growsWithWindow(value: ValueName): boolean {
  return amounts.has(value);
}

/** Only what is in the metric's own unit may be negative. */
export function mayBeNegative(unit: Unit): boolean {
  return unit === 'as_metric' || unit === 'as_metric_per_second';
}

/** The values that New Relic's REST API knows for metrics of APM. */
export const valueNames: readonly ValueName[] = Object.keys(unitTraits).filter(isValueName);

export function isValueName(text: string): text is ValueName {
  return Object.hasOwn(unitTraits, text);
}

/**
 * Values that say something only if there were calls: without any, New Relic's REST API answers with 0,
 * which would be an invented time or score. Beside each the value that counts the calls: it is asked for
 * in the same call.
 */
export const countedBy: Readonly<Partial<Record<ValueName, ValueName>>> = {
  average_response_time: 'requests_per_minute',
  average_call_time: 'requests_per_minute',
  average_time: 'requests_per_minute',
  min_response_time: 'requests_per_minute',
  max_response_time: 'requests_per_minute',
  standard_deviation: 'requests_per_minute',
  average_exclusive_time: 'requests_per_minute',
  score: 'count',
};

/** Whether New Relic rates what the metric counts, so that it has a score. */
export function isRated(metric: string): boolean {
  return /(?:^|\/)Apdex(?:$|\/)/u.test(metric);
}
