import { oddApplications } from './odd-names.ts';

/** What a situation is about, as Prometheus has it, besides its `isSeen`. */
export interface Fact {
  /** The name of a situation. */
  readonly situation: string;
  /** PromQL for `inCluster`. */
  readonly expression: string;
  /** `undefined` where there is no result. */
  readonly value: number | undefined;
}

function facts(
  situation: string,
  values: Readonly<Record<string, number | undefined>>,
): readonly Fact[] {
  return Object.entries(values).map(([expression, value]) => ({ situation, expression, value }));
}

const published = 'count(group by (app_id) (newrelic_application_requests_per_minute{}))';
const polled = 'count(newrelic_application_poll_success{} == 1)';
const failing = 'count(newrelic_application_poll_success{} == 0)';
const throughput = 'sum(newrelic_application_requests_per_minute{})';
const ofEurope = 'count(newrelic_application_requests_per_minute{account="europe"})';

function failures(reason: string): string {
  return `sum(increase(newrelic_exporter_api_request_failures_total{reason="${reason}"}[10m])) > bool 0`;
}

export const situationFacts: readonly Fact[] = [
  ...facts('healthy', {
    'count(newrelic_up{} == 1)': 4,
    [published]: 8,
    [polled]: 8,
    [failing]: undefined,
    'count(group by (host_id) (newrelic_application_host_requests_per_minute{}))': 24,
    'count(group by (account) (newrelic_application_info{instance=~".*-0:9126"}))': 2,
    'count(group by (account) (newrelic_application_info{instance=~".*-1:9126"}))': 2,
    'sum(increase(newrelic_exporter_api_request_failures_total{}[30m]))': 0,
    'max(time() - newrelic_application_last_success_timestamp_seconds{}) < bool 120': 1,
    'count(newrelic_application_apdex_score{})': 1,
    'count(newrelic_application_host_response_time_seconds{})': 3,
    'count(newrelic_exporter_metric_missing{})': undefined,
  }),
  ...facts('one exporter down', {
    'count(up{} == 1)': 1,
    'count(newrelic_up{})': 2,
    [`${published} < bool 8`]: 1,
    [failing]: undefined,
  }),
  ...facts('all exporters down', {
    'count(up{})': 2,
    'count(newrelic_up{})': undefined,
    [published]: undefined,
    'count(last_over_time(newrelic_up{}[1d]))': 4,
  }),
  ...facts('account refused', {
    'count(newrelic_up{account="europe"} == 0)': 2,
    'count(newrelic_up{account="main"} == 1)': 2,
    [published]: 8,
    [ofEurope]: 5,
    [failures('auth')]: 1,
    'min(time() - newrelic_application_last_success_timestamp_seconds{account="europe"}) > bool 480': 1,
  }),
  ...facts('account refused for long', {
    'count(newrelic_up{account="europe"} == 0)': 2,
    [published]: 4,
    [ofEurope]: undefined,
    [failures('auth')]: 1,
  }),
  ...facts('half of the calls fail', {
    'count(newrelic_up{} == 1)': 4,
    [polled]: 6,
    [failures('server')]: 1,
    'sum(increase(newrelic_exporter_api_request_retries_total{reason="server"}[10m])) > bool 0': 1,
  }),
  ...facts('throttled', {
    'count(newrelic_exporter_api_backoff_until_timestamp_seconds{account="europe"} > time())': 2,
    'count(newrelic_exporter_api_backoff_until_timestamp_seconds{account="main"} > time())':
      undefined,
    'sum(increase(newrelic_exporter_api_throttled_total{account="main"}[10m]))': 0,
    'sum(increase(newrelic_exporter_api_throttled_total{account="europe"}[10m])) > bool 0': 1,
    [failing]: 4,
  }),
  ...facts('same names', {
    'count(newrelic_application_info{app_name="checkout",account="main"})': 2,
    'count(newrelic_application_info{app_name="checkout",account="europe"})': 1,
    'count(newrelic_application_health_status{app_name="checkout",status="red"} == 1)': 1,
    'count(newrelic_application_health_status{app_name="checkout",status="green"} == 1)': 1,
    'count(newrelic_application_health_status{app_name="checkout",status="orange"} == 1)': 1,
  }),
  ...facts(
    'odd names',
    Object.fromEntries(
      oddApplications.map(({ name = '', webRpm }) => [
        `sum(newrelic_application_requests_per_minute{app_name=${JSON.stringify(name)}})`,
        webRpm,
      ]),
    ),
  ),
  ...facts('only sidecars', {
    [throughput]: undefined,
    'count(newrelic_application_info{})': undefined,
    'count(up{job="checkout"} == 1)': 3,
    'count(newrelic_up{} == 1)': 3,
    'sum(newrelic_application_host_requests_per_minute{})': 660,
  }),
  ...facts('unhealthy', {
    'count(newrelic_application_health_status{status="red"} == 1)': 1,
    'count(newrelic_application_health_status{status="orange"} == 1)': 1,
    'count(newrelic_application_health_status{status="gray"} == 1)': 2,
    'count(newrelic_application_reporting{} == 0)': 1,
    'count(newrelic_exporter_app_missing{} == 1)': 1,
  }),
  ...facts('failing requests', {
    'sum(newrelic_application_errors_per_minute{}) / sum(newrelic_application_requests_per_minute{app_name="main-catalogue"})': 0.25,
    'count(group by (name) (newrelic_exporter_metric_missing{} == 1))': 1,
    'count(newrelic_application_errors_per_minute{app_name!="main-catalogue"})': undefined,
    [failing]: undefined,
  }),
  ...facts('nothing scraped', { 'count(up{})': undefined }),
];
