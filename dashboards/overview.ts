import { type DashboardOptions, type Row } from './dashboard.ts';
import { health, yesOrNo } from './mappings.ts';
import { bars, graph, stat, states } from './panels.ts';
import { anyApp, hostsPerApp, ofAccount, ofApp, perApp, throughput } from './selectors.ts';
import { table } from './table.ts';
import { toApplication } from './to-application.ts';
import { overviewVariables } from './variables.ts';

const current = throughput();
const lastWeek = throughput('1w');
const byApp = 'sum by (account, app_name)';
const change = `(${byApp} ${current} / (${byApp} ${lastWeek} > 0) - 1)`;

const now: Row = {
  title: 'Now',
  panels: [
    stat({
      width: 3,
      title: 'Throughput',
      description:
        'Requests per minute of all selected applications, web and other transactions. For applications that only sidecars publish, the sum of the hosts.',
      unit: 'rpm',
      queries: [{ expr: `sum${current}` }],
    }),
    stat({
      width: 3,
      title: 'Applications',
      description: 'Applications that are published, reporting or not.',
      unit: 'short',
      queries: [{ expr: `count${anyApp()}` }],
    }),
    stat({
      width: 3,
      title: 'Hosts',
      description:
        'Hosts that New Relic lists for all selected applications; for applications that only sidecars publish, the hosts with a sidecar.',
      unit: 'short',
      queries: [{ expr: `sum${hostsPerApp()}` }],
    }),
    stat({
      width: 3,
      title: 'Oldest values',
      description: 'Age of the oldest values: how long ago their window ended.',
      unit: 's',
      queries: [
        {
          expr: `time() - min(${perApp(ofApp('newrelic_application_window_end_timestamp_seconds'))})`,
        },
      ],
    }),
    stat({
      width: 3,
      title: 'Not reporting',
      description: 'Applications that do not report to New Relic.',
      unit: 'short',
      thresholds: [[1, 'orange']],
      queries: [
        { expr: `count(${perApp(ofApp('newrelic_application_reporting'))} == 0) or vector(0)` },
      ],
    }),
    stat({
      width: 3,
      title: 'Unhealthy',
      description: 'Applications whose health status in New Relic is orange or red.',
      unit: 'short',
      thresholds: [[1, 'red']],
      queries: [
        {
          expr: `count(${perApp(ofApp('newrelic_application_health_status', 'status=~"orange|red"'))} == 1) or vector(0)`,
        },
      ],
    }),
    stat({
      width: 3,
      title: 'Polls failing',
      description:
        'Applications whose last poll did not get all that was asked for. For polls of sidecars see the dashboard of the exporter.',
      unit: 'short',
      thresholds: [[1, 'orange']],
      queries: [
        { expr: `count(${perApp(ofApp('newrelic_application_poll_success'))} == 0) or vector(0)` },
      ],
    }),
    stat({
      width: 3,
      title: 'Entries without application',
      description: 'Entries of the configuration that match nothing.',
      unit: 'short',
      thresholds: [[1, 'orange']],
      queries: [
        {
          expr: `count(max by (cluster, account, selector) (${ofAccount('newrelic_exporter_app_missing')}) == 1) or vector(0)`,
        },
      ],
    }),
  ],
};

const overTime: Row = {
  title: 'Throughput',
  panels: [
    graph({
      title: 'Throughput of the busiest applications',
      description:
        'Requests per minute, averaged over the polled window, of the applications that were the busiest at each moment.',
      unit: 'rpm',
      isStacked: true,
      links: [toApplication('series')],
      queries: [{ expr: `topk($topn, ${byApp} ${current})`, legend: '{{app_name}}' }],
    }),
    graph({
      title: 'Web and other transactions',
      description: 'Requests per minute of all selected applications, by transaction type.',
      unit: 'rpm',
      isStacked: true,
      queries: [{ expr: `sum by (transaction_type) ${current}`, legend: '{{transaction_type}}' }],
    }),
    graph({
      title: 'Now and last week',
      description: 'Requests per minute of all selected applications, now and seven days earlier.',
      unit: 'rpm',
      queries: [
        { expr: `sum${current}`, legend: 'now' },
        { expr: `sum${lastWeek}`, legend: 'last week' },
      ],
    }),
    states({
      title: 'Health',
      description: 'Health status of each application, as New Relic sees it.',
      unit: 'none',
      mappings: [health],
      links: [toApplication('series')],
      queries: [{ expr: healthExpression(), legend: '{{app_name}}' }],
    }),
    bars({
      title: 'Busiest applications',
      description: 'Current requests per minute.',
      unit: 'rpm',
      links: [toApplication('series')],
      queries: [{ expr: `topk($topn, ${byApp} ${current})`, legend: '{{app_name}}' }],
    }),
    bars({
      title: 'Change since last week',
      description:
        'The greatest changes of throughput, up or down, compared with the same time last week.',
      unit: 'percentunit',
      min: -1,
      links: [toApplication('series')],
      queries: [
        {
          expr: `sort_desc(${change} and on (account, app_name) topk($topn, abs(${change})))`,
          legend: '{{app_name}}',
        },
      ],
    }),
  ],
};

/** 1 green, 2 orange, 3 red, 4 anything else. */
function healthExpression(): string {
  const statuses = [
    'status="green"',
    'status="orange"',
    'status="red"',
    'status!~"green|orange|red"',
  ];
  const numbered = statuses.map((matcher, index) => {
    const selected = ofApp('newrelic_application_health_status', matcher);
    return `${index + 1} * (max by (account, app_name) (${selected}) == 1)`;
  });
  return numbered.join(' or ');
}

const applications: Row = {
  title: 'Applications',
  panels: [
    table({
      title: 'Applications',
      description:
        "All selected applications. Response time, errors and Apdex come from New Relic's summary, an average of the last minutes.",
      labels: { account: 'Account', app_name: 'Application', app_id: 'Id' },
      hidden: ['cluster'],
      links: [toApplication('table row')],
      columns: [
        {
          title: 'Throughput',
          unit: 'rpm',
          expr: `sum by (cluster, account, app_id, app_name) ${current}`,
        },
        { title: 'Hosts', unit: 'short', expr: hostsPerApp() },
        {
          title: 'Instances',
          unit: 'short',
          expr: perApp(ofApp('newrelic_application_instances')),
        },
        {
          title: 'Reporting',
          unit: 'short',
          mappings: [yesOrNo],
          expr: perApp(ofApp('newrelic_application_reporting')),
        },
        {
          title: 'Response time',
          unit: 's',
          expr: perApp(ofApp('newrelic_application_summary_response_time_seconds')),
        },
        {
          title: 'Errors',
          unit: 'percentunit',
          expr: perApp(ofApp('newrelic_application_summary_error_ratio')),
        },
        {
          title: 'Apdex',
          unit: 'none',
          expr: perApp(ofApp('newrelic_application_summary_apdex_score')),
        },
        {
          title: 'Age',
          unit: 's',
          expr: `time() - ${perApp(ofApp('newrelic_application_window_end_timestamp_seconds'))}`,
        },
      ],
    }),
  ],
};

export const overview: DashboardOptions = {
  uid: 'newrelic-overview',
  title: 'New Relic / Overview',
  description: 'Throughput and state of all applications that the exporter polls.',
  variables: overviewVariables,
  rows: [now, overTime, applications],
};
