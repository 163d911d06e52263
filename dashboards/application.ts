import { applicationHosts } from './application-hosts.ts';
import type { DashboardOptions, Row } from './dashboard.ts';
import { yesOrNo } from './mappings.ts';
import { graph, stat } from './panels.ts';
import { ofApp, ofType, perApp, throughput } from './selectors.ts';
import { applicationVariables } from './variables.ts';

const current = throughput();
const lastWeek = throughput('1w');

function summaryOf(name: string): string {
  return perApp(ofApp(`newrelic_application_summary_${name}`));
}

const now: Row = {
  title: 'Now',
  panels: [
    stat({
      title: 'Throughput',
      description:
        'Requests per minute, web and other transactions together. If only sidecars publish the application, the sum of its hosts.',
      unit: 'rpm',
      queries: [{ expr: `sum${current}` }],
    }),
    stat({
      title: 'Hosts with traffic',
      description: 'Hosts that have served at least one request in the window.',
      unit: 'short',
      queries: [
        {
          expr: `count(count by (cluster, account, app_id, host_id) (${ofType('newrelic_application_host_requests_per_minute')} > 0))`,
        },
      ],
    }),
    stat({
      title: 'Reporting',
      description: 'Whether the application reports to New Relic.',
      unit: 'short',
      mappings: [yesOrNo],
      queries: [{ expr: `min(${perApp(ofApp('newrelic_application_reporting'))})` }],
    }),
    stat({
      title: 'Last report',
      description: 'How long ago the application last reported, accurate to a few minutes.',
      unit: 's',
      queries: [
        {
          expr: `time() - max(${perApp(ofApp('newrelic_application_last_reported_timestamp_seconds'))})`,
        },
      ],
    }),
    stat({
      title: 'Age of the values',
      description: 'How long ago the window of the throughput ended.',
      unit: 's',
      queries: [
        {
          expr: `time() - min(${perApp(ofApp('newrelic_application_window_end_timestamp_seconds'))})`,
        },
      ],
    }),
    stat({
      title: 'Last poll complete',
      description: 'Whether the last poll got all that was asked for. If not, old values are held.',
      unit: 'short',
      mappings: [yesOrNo],
      queries: [{ expr: `min(${perApp(ofApp('newrelic_application_poll_success'))})` }],
    }),
  ],
};

const overTime: Row = {
  title: 'Throughput',
  panels: [
    graph({
      title: 'Web and other transactions',
      description: 'Requests per minute by transaction type, averaged over the polled window.',
      unit: 'rpm',
      isStacked: true,
      queries: [{ expr: `sum by (transaction_type) ${current}`, legend: '{{transaction_type}}' }],
    }),
    graph({
      title: 'Now and last week',
      description: 'Requests per minute now and seven days earlier.',
      unit: 'rpm',
      queries: [
        { expr: `sum${current}`, legend: 'now' },
        { expr: `sum${lastWeek}`, legend: 'last week' },
      ],
    }),
  ],
};

const summary: Row = {
  title: "New Relic's summary",
  panels: [
    graph({
      title: 'Throughput in the summary',
      description:
        "New Relic's own rolling average, which has another window than the polled values, compared with these.",
      unit: 'rpm',
      width: 6,
      queries: [
        { expr: summaryOf('requests_per_minute'), legend: 'summary' },
        { expr: `sum${current}`, legend: 'polled' },
      ],
    }),
    graph({
      title: 'Response time',
      description: 'Average response time of the last minutes.',
      unit: 's',
      width: 6,
      queries: [{ expr: summaryOf('response_time_seconds'), legend: '{{app_name}}' }],
    }),
    graph({
      title: 'Errors',
      description: 'Share of the requests of the last minutes that failed.',
      unit: 'percentunit',
      width: 6,
      queries: [{ expr: summaryOf('error_ratio'), legend: '{{app_name}}' }],
    }),
    graph({
      title: 'Apdex',
      description: 'Apdex score, 0 to 1, and the response time that it is measured against.',
      unit: 'none',
      width: 6,
      queries: [
        { expr: summaryOf('apdex_score'), legend: 'score' },
        { expr: summaryOf('apdex_target_seconds'), legend: 'target, in seconds' },
      ],
    }),
  ],
};

export const application: DashboardOptions = {
  uid: 'newrelic-application',
  title: 'New Relic / Application',
  description:
    'One application: web and other transactions, its hosts and how evenly the load is distributed.',
  variables: applicationVariables,
  rows: [now, overTime, applicationHosts, summary],
};
