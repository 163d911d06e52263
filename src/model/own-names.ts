import { presetGauges } from './polled-series.ts';

/** What follows `newrelic_application_` in the gauges that are there whatever is polled. */
const fixedGauges = [
  'hosts',
  'instances',
  'reporting',
  'last_reported_timestamp_seconds',
  'health_status',
  'info',
  'window_end_timestamp_seconds',
  'summary_requests_per_minute',
  'summary_response_time_seconds',
  'summary_error_ratio',
  'summary_apdex_score',
  'summary_apdex_target_seconds',
  'poll_success',
  'poll_failure_info',
  'last_success_timestamp_seconds',
];

/** The gauges about accounts and applications that the exporter has, those of all presets included. */
export const ownGaugeNames: ReadonlySet<string> = new Set([
  'newrelic_up',
  'newrelic_query_success',
  'newrelic_query_last_success_timestamp_seconds',
  'newrelic_query_rows',
  ...fixedGauges.map((name) => `newrelic_application_${name}`),
  ...presetGauges.flatMap(({ name, hostName }) => [name, hostName]),
]);

/** How the metrics of the exporter about itself begin. */
const ownPrefixes = ['newrelic_exporter_', 'process_', 'nodejs_'];

/** Whether a metric with this name is the exporter's own, or may become one. */
export function isOwnMetricName(name: string): boolean {
  return ownGaugeNames.has(name) || ownPrefixes.some((prefix) => name.startsWith(prefix));
}

/** Whether a gauge that a configuration may have today is one that the exporter may have some day. */
export function mayBecomeOwn(name: string): boolean {
  return name.startsWith('newrelic_');
}

/** The labels that the exporter itself gives series of applications and hosts. */
export const ownLabels: readonly string[] = [
  'account',
  'app_id',
  'app_name',
  'host_id',
  'host_name',
  'transaction_type',
  'language',
  'status',
  'reason',
];

/** Those that it gives series of queries; `le` is that of a histogram, which no gauge may look like. */
export const queryLabels: readonly string[] = ['account', 'query', 'quantile', 'le'];

export const everyOwnLabel: readonly string[] = [...new Set([...ownLabels, ...queryLabels])];
