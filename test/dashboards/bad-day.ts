import { asItIs, type Story } from './history.ts';
import type { Series } from './prometheus.ts';

/** How long the bad day is remembered. */
export const badMinutes = 90;
/** Applications of the fleet that have a part in it. */
const shop = '103';
const checkout = '101';
const failing = '102';

type Part = (series: Series, minute: number) => number | undefined;

const always =
  (value: number): Part =>
  () =>
    value;
const growing: Part = (_, minute) => minute;
/** From then on accounts are down. Alerts of their effects wait, so all of these come earlier. */
const downMinute = 75;
/** The job of which the key is neither refused nor throttled, and which first publishes hosts only. */
const isSecond = ({ metric }: Series): boolean => metric['job'] === 'second';
const half = badMinutes / 2;
const hasHostsOnly = (series: Series, minute: number): boolean => isSecond(series) && minute < half;

/** What went wrong, by metric. Whatever is not named here stays as it is. */
function partsOf(end: number): Readonly<Record<string, Part>> {
  const hostLoads = [1000, 10, 10, 0];
  const loadOf = ({ metric }: Series): number =>
    hostLoads[Number(metric['host_id']) % hostLoads.length] ?? 0;
  const ofApplication: Part = (series, minute) => {
    const { app_id: id } = series.metric;
    if (id === checkout) return minute < half ? 500 : undefined;
    return id === shop ? 20 : series.values[0];
  };
  const ofHost: Part = (series) =>
    series.metric['app_id'] === shop ? loadOf(series) : series.values[0];
  return {
    up: (_, minute) => (minute < half ? 1 : 0),
    newrelic_up: (_, minute) => (minute < downMinute ? 1 : 0),
    newrelic_query_success: (series, minute) => (hasHostsOnly(series, minute) ? undefined : 0),
    newrelic_exporter_total_shards: always(2),
    newrelic_exporter_api_request_failures_total: (series, minute) =>
      isSecond(series) && series.metric['reason'] === 'auth' ? 0 : minute,
    newrelic_exporter_api_requests_total: growing,
    newrelic_exporter_api_throttled_total: (series, minute) =>
      isSecond(series) ? 0 : Math.max(0, minute - downMinute),
    newrelic_exporter_api_demand_requests_per_minute: always(1e6),
    newrelic_exporter_polls_total: growing,
    newrelic_exporter_polls_failed_total: growing,
    newrelic_exporter_polls_skipped_total: growing,
    newrelic_exporter_config_last_reload_successful: always(0),
    newrelic_exporter_config_file_broken: (_, minute) => (minute < half ? 1 : undefined),
    newrelic_exporter_api_key_readable: always(0),
    newrelic_exporter_series_dropped_total: growing,
    newrelic_exporter_invalid_samples_total: growing,
    newrelic_exporter_unexpected_answers_total: growing,
    newrelic_application_last_success_timestamp_seconds: ({ metric }) =>
      metric['app_id'] === failing ? undefined : end - 7200,
    newrelic_application_poll_success: (series, minute) =>
      hasHostsOnly(series, minute) ? undefined : Number(series.metric['app_id'] !== failing),
    newrelic_application_hosts: (_, minute) => (minute < half / 2 ? 10 : 2),
    newrelic_application_requests_per_minute: ofApplication,
    'app:newrelic_application_requests_per_minute:sum': ofApplication,
    newrelic_application_apdex_score: always(0.3),
    'app_type:newrelic_application_errors_per_minute:max': always(60),
    'app_type:newrelic_application_response_time_seconds:max': always(1000),
    newrelic_application_host_requests_per_minute: ofHost,
    'app_host:newrelic_application_host_requests_per_minute:sum': ofHost,
    'app:newrelic_application_host_requests_per_minute:max_per_avg_ratio': always(2.9),
  };
}

/** A day on which everything that a rule can find goes wrong, ending at `end`. */
export function badDay(end: number): Story {
  const parts = partsOf(end);
  return (series, minute) => (parts[series.metric['__name__'] ?? ''] ?? asItIs)(series, minute);
}

/** What has series only while something is wrong, with those of the exporter that it is wrong with. */
export function onlyOnBadDays(present: readonly Series[]): readonly Series[] {
  return present
    .filter(
      ({ metric }) => metric['__name__'] === 'newrelic_exporter_config_last_reload_successful',
    )
    .map(({ metric }) => {
      const name = 'newrelic_exporter_config_file_broken';
      return { metric: { ...metric, __name__: name, file: 'teams/shop.yaml' }, values: [] };
    });
}
