import { errorLimit, field, inColor, thresholdsOf, words } from './colors.ts';
import type { DashboardOptions } from './dashboard.ts';
import { tables, toAccount, toApplication, toAppOfLine, toTable } from './links.ts';
import { graph, type Panel, table, tile } from './panel.ts';
import { alertsOfApps, appLabels, countOf, inEach, of, per, perMinute } from './selectors.ts';
import { anyApp, hostsPerApp, listedApps, signalOf, throughput } from './signals.ts';
import {
  accountUp,
  alertsPerApp,
  healthOf,
  limitsOfListed,
  pollOf,
  silent,
  unhealthy,
} from './state.ts';
import { pollColumns, signalTiles, trouble } from './tiles.ts';
import { overviewVariables } from './variables.ts';

const all = anyApp(of.app);
const toApplications = [toTable('applications', 'overview')];

const tiles: readonly Panel[] = [
  tile('With alerts', {
    description:
      'Applications about which an alert of the rules fires. It stays 0 where Prometheus does not have the rules. A click names them.',
    limit: [1, 'orange'],
    links: toApplications,
    shows: countOf(`count by (account, app_id) (${alertsOfApps})`, all),
  }),
  tile('Unhealthy', {
    description:
      'Applications whose health status in New Relic is red or orange. A click names them.',
    links: toApplications,
    overrides: [
      field('red', { thresholds: thresholdsOf([1, 'red']) }),
      field('orange', { thresholds: thresholdsOf([1, 'orange']) }),
    ],
    shows: {
      red: countOf(`${unhealthy(of.app)} == 4`, all),
      orange: countOf(`${unhealthy(of.app)} == 3`, all),
    },
  }),
  tile('Not reporting', {
    description: 'Applications that report nothing to New Relic. A click names them.',
    limit: [1, 'orange'],
    links: toApplications,
    shows: countOf(silent(of.app), all),
  }),
  tile('Published', {
    description:
      'Applications, and the hosts that New Relic lists for them; for applications that only sidecars publish, the hosts with a sidecar.',
    shows: { applications: `count(${all})`, hosts: `sum${hostsPerApp(of.app)}` },
  }),
];

const applications = table('Applications', {
  id: tables.applications.id,
  description:
    "What is in trouble first, then by throughput: up to 100 applications each with firing alerts, with stale values or failing polls, with broken limits, unhealthy, or not reporting, and the 100 busiest. Limits: how many of 5 % errors and an Apdex of 0.7, as the alerts have them, an application does not keep. Response time, errors per request and Apdex are of the same window as the throughput where metrics has them, otherwise of New Relic's summary, an average of the last minutes, but not while polls fail. Age: how long ago the window of the throughput ended.",
  h: 14,
  noRows: 'No application',
  sortBy: {
    Alerts: 'greatest',
    Poll: 'greatest',
    Limits: 'greatest',
    Health: 'greatest',
    Reporting: 'least',
    Throughput: 'greatest',
  },
  labels: {
    app_name: { title: 'Application', links: [toApplication('overview')] },
    account: { title: 'Account', width: 90 },
    app_id: { title: 'Id', width: 90 },
  },
  columns: {
    Alerts: { width: 78, limit: [1, 'orange'], expr: alertsPerApp(of.listed) },
    Poll: { width: 80, map: words.poll, expr: pollOf(of.listed) },
    Limits: { width: 78, limit: [1, 'orange'], expr: limitsOfListed() },
    Health: { width: 84, map: words.health, expr: healthOf(of.listed) },
    Reporting: {
      width: 108,
      map: words.yesOrNo,
      expr: per.app(of.listed('newrelic_application_reporting')),
    },
    Throughput: {
      unit: 'reqpm',
      width: 120,
      expr: `sum by (${appLabels}) ${throughput({ select: of.listedType })}`,
    },
    Response: { unit: 's', width: 85, expr: signalOf('response_time_seconds', listedApps) },
    Errors: {
      unit: 'percentunit',
      decimals: 2,
      width: 68,
      limit: [errorLimit, 'orange'],
      expr: signalOf('error_ratio', listedApps),
    },
    Apdex: {
      decimals: 2,
      width: 62,
      map: words.poorApdex,
      expr: signalOf('apdex_score', listedApps),
    },
    Age: {
      unit: 'dtdurations',
      decimals: 0,
      width: 84,
      expr: `time() - ${per.app(of.listed('newrelic_application_window_end_timestamp_seconds'))}`,
    },
  },
});

const busiest = throughput({ select: of.busiestType });

const throughputOfBusiest = graph('Throughput of the busiest applications', {
  description:
    'Requests per minute, averaged over the polled window, of the applications with the most requests in the shown range, and of all others together.',
  unit: 'reqpm',
  w: 24,
  h: 9,
  legendWidth: 260,
  maxDataPoints: 40,
  isStacked: true,
  links: [toAppOfLine],
  overrides: [inColor('all others', 'gray'), field('all others', { links: [] })],
  lines: {
    '{{app_name}} · {{account}}': `sum by (${appLabels}) ${busiest}`,
    'all others': `clamp_min(sum${throughput()} - sum${busiest}, 0)`,
  },
});

const each = 'cluster, account';

const accounts = table('Accounts', {
  id: tables.accounts.id,
  description:
    'Each account, also of exporters that are down; a click leads to its exporters. Oldest poll: how long ago the application whose last complete poll is the oldest had it. Calls failing: without 404, which is how New Relic says that something is gone. Unmatched: entries of the configuration that match no application.',
  h: 5,
  sortBy: { Up: 'least', 'Values stale': 'greatest', 'Polls failing': 'greatest' },
  labels: {
    account: { title: 'Account', width: 160, links: [toAccount] },
    cluster: { title: 'Cluster' },
  },
  columns: {
    Up: { map: words.upOrDown, expr: accountUp('cluster') },
    Applications: { expr: `count by (${each}) (${inEach('cluster', anyApp(of.account))})` },
    ...pollColumns('cluster'),
    'Calls failing': {
      unit: 'percentunit',
      decimals: 1,
      limit: [0.05, 'orange'],
      expr: `${perMinute(each, 'newrelic_exporter_api_request_failures_total', 'reason!="not_found"')} / (${perMinute(each, 'newrelic_exporter_api_requests_total')} > 0)`,
    },
    'Pause after 429': {
      unit: 's',
      decimals: 0,
      limit: [1, 'orange'],
      expr: `clamp_min(max by (${each}) (${of.account('newrelic_exporter_api_backoff_until_timestamp_seconds')}) - time(), 0)`,
    },
    Unmatched: {
      limit: [1, 'orange'],
      expr: countOf(
        `max by (${each}, selector) (${of.account('newrelic_exporter_app_missing')}) == 1`,
        accountUp('cluster'),
        `count by (${each})`,
      ),
    },
  },
});

export const overview: DashboardOptions = {
  name: 'overview',
  title: 'New Relic / Overview',
  description: 'What is wrong, and the throughput and state of all applications.',
  variables: overviewVariables,
  open: [
    ...trouble(of.app, 'overview'),
    ...tiles,
    ...signalTiles('overview'),
    applications,
    throughputOfBusiest,
    accounts,
  ],
  closed: {},
};
