import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { statusColors } from './overrides.ts';
import { ofAccount } from './selectors.ts';

function ratePer(labels: string, metric: string): string {
  return `sum by (${labels}) (rate(${ofAccount(metric)}[$__rate_interval]))`;
}

const requestsPerMinute = `60 * ${ratePer('cluster, job, instance, account', 'newrelic_exporter_api_requests_total')}`;
const budget = `max by (cluster, job, instance, account) (${ofAccount('newrelic_exporter_api_budget_requests_per_minute')})`;

export const exporterCalls: Row = {
  title: 'Calls to New Relic',
  panels: [
    graph({
      title: 'Calls, demand and budget',
      description:
        'Calls sent a minute, calls that the configured intervals ask for, and calls that may be sent. A demand above the budget stretches the intervals.',
      unit: 'cpm',
      queries: [
        { expr: `sum by (account) (${requestsPerMinute})`, legend: '{{account}}, sent' },
        {
          expr: `sum by (account) (${ofAccount('newrelic_exporter_api_demand_requests_per_minute')})`,
          legend: '{{account}}, demand',
        },
        {
          expr: `sum by (account) (${ofAccount('newrelic_exporter_api_budget_requests_per_minute')})`,
          legend: '{{account}}, budget',
        },
      ],
    }),
    graph({
      title: 'Use of the budget',
      description:
        'Calls sent, as a share of the calls that may be sent, for each exporter and account.',
      unit: 'percentunit',
      thresholds: [[0.985, 'orange']],
      queries: [{ expr: `${requestsPerMinute} / ${budget}`, legend: '{{account}}, {{instance}}' }],
    }),
    graph({
      title: 'Calls by result',
      description: 'By HTTP status, or by the reason why no answer came.',
      unit: 'reqps',
      overrides: statusColors,
      width: 8,
      isStacked: true,
      queries: [
        { expr: ratePer('code', 'newrelic_exporter_api_requests_total'), legend: '{{code}}' },
      ],
    }),
    graph({
      title: 'Calls by operation',
      description: 'What is asked for: lists of applications, names of hosts, throughput.',
      unit: 'reqps',
      width: 8,
      isStacked: true,
      queries: [
        {
          expr: ratePer('operation', 'newrelic_exporter_api_requests_total'),
          legend: '{{operation}}',
        },
      ],
    }),
    graph({
      title: 'Failures by reason',
      description: 'Calls that failed. docs/operations.md explains the reasons.',
      unit: 'reqps',
      width: 8,
      isStacked: true,
      queries: [
        {
          expr: ratePer('reason', 'newrelic_exporter_api_request_failures_total'),
          legend: '{{reason}}',
        },
      ],
    }),
    graph({
      title: 'Duration of calls',
      description: 'From the start of sending to the last byte or the failure.',
      unit: 's',
      width: 8,
      queries: [0.5, 0.95, 0.99].map((quantile) => ({
        expr: `histogram_quantile(${quantile}, ${ratePer('le', 'newrelic_exporter_api_request_duration_seconds_bucket')})`,
        legend: `${quantile * 100} %`,
      })),
    }),
    graph({
      title: 'Calls in flight',
      description: 'Calls that are waiting for their answer.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: `sum by (account) (${ofAccount('newrelic_exporter_api_requests_in_flight')})`,
          legend: '{{account}}',
        },
      ],
    }),
    graph({
      title: 'Retries and throttling',
      description:
        'Calls sent again, by reason; answers with 429; and how long an account still pauses after a 429.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: `sum by (reason) (increase(${ofAccount('newrelic_exporter_api_request_retries_total')}[$__rate_interval]))`,
          legend: 'retried: {{reason}}',
        },
        {
          expr: `sum by (account) (increase(${ofAccount('newrelic_exporter_api_throttled_total')}[$__rate_interval]))`,
          legend: '{{account}}: 429',
        },
        {
          expr: `clamp_min(max by (account) (${ofAccount('newrelic_exporter_api_backoff_until_timestamp_seconds')}) - time(), 0)`,
          legend: '{{account}}: pause, in seconds',
        },
      ],
    }),
  ],
};
