import type { Row } from './dashboard.ts';
import { healthOf } from './health.ts';
import { accountUp, lastSuccess, pollOf, stale } from './known.ts';
import { linked, toApplication } from './links.ts';
import { blank, health, poll, poorApdex, upOrDown, yesOrUnusual } from './mappings.ts';
import {
  alertsOfApps,
  anyApp,
  appLabels,
  averageTime,
  errorRatio,
  hostsPerApp,
  inEachCluster,
  ofAccount,
  ofListed,
  ofListedType,
  perApp,
  sameApp,
  throughput,
} from './selectors.ts';
import { type Column, table } from './table.ts';

const perAccount = 'sum by (cluster, account)';

/** As `countOf`, for each account. */
function countPerAccount(matching: string, all: string): string {
  const count = 'count by (cluster, account)';
  return `${count} (${matching}) or 0 * ${count} (${all})`;
}

function callRate(metric: string, more?: string): string {
  return `${perAccount} (rate(${ofAccount(metric, more)}[$__rate_interval]))`;
}

const published = inEachCluster(anyApp(ofAccount));

const accounts = table({
  id: linked.accounts,
  title: 'Accounts',
  description:
    'Each account, also of exporters that are down. Oldest poll: how long ago the application whose last complete poll is the oldest had it. Calls failing: without 404, which is how New Relic says that something is gone. Unmatched: entries of the configuration that match no application.',
  height: 7,
  sortBy: [
    ['Up', 'least'],
    ['Values stale', 'greatest'],
    ['Polls failing', 'greatest'],
  ],
  labels: { account: { title: 'Account', width: 160 }, cluster: { title: 'Cluster' } },
  columns: [
    { title: 'Up', unit: 'none', cell: 'state', mappings: [upOrDown], expr: accountUp },
    {
      title: 'Applications',
      unit: 'none',
      expr: `count by (cluster, account) (${published})`,
    },
    {
      title: 'Polls failing',
      unit: 'none',
      cell: 'state',
      thresholds: [[1, 'orange']],
      expr: countPerAccount(
        inEachCluster(`${perApp(ofAccount('newrelic_application_poll_success'))} == 0`),
        published,
      ),
    },
    {
      title: 'Values stale',
      unit: 'none',
      cell: 'state',
      thresholds: [[1, 'orange']],
      expr: countPerAccount(inEachCluster(stale(ofAccount)), published),
    },
    {
      title: 'Oldest poll',
      unit: 'dtdurations',
      decimals: 0,
      expr: `time() - min by (cluster, account) (${inEachCluster(lastSuccess(ofAccount))})`,
    },
    {
      title: 'Calls failing',
      unit: 'percentunit',
      decimals: 1,
      cell: 'state',
      thresholds: [[0.05, 'orange']],
      expr: `${callRate('newrelic_exporter_api_request_failures_total', 'reason!="not_found"')} / (${callRate('newrelic_exporter_api_requests_total')} > 0)`,
    },
    {
      title: 'Pause after 429',
      unit: 's',
      decimals: 0,
      cell: 'state',
      thresholds: [[1, 'orange']],
      expr: `clamp_min(max by (cluster, account) (${ofAccount('newrelic_exporter_api_backoff_until_timestamp_seconds')}) - time(), 0)`,
    },
    {
      title: 'Unmatched',
      unit: 'none',
      cell: 'state',
      thresholds: [[1, 'orange']],
      expr: countPerAccount(
        `max by (cluster, account, selector) (${ofAccount('newrelic_exporter_app_missing')}) == 1`,
        accountUp,
      ),
    },
  ],
});

/** Only of what `listedApps` has chosen: to rank all of them anew in each column would cost much. */
function plain(metric: string, options: Omit<Column, 'expr'>): Column {
  return { ...options, expr: perApp(ofListed(`newrelic_application_${metric}`)) };
}

const ofListedApps = { select: ofListedType };
const responseTime = averageTime(
  appLabels,
  { time: 'response_time_seconds', calls: 'requests_per_minute' },
  ofListedApps,
);

/** Of the polled window where it is read, as the throughput, otherwise of the summary. */
function polledOr(summary: string, polled: string, options: Omit<Column, 'expr'>): Column {
  const ofSummary = perApp(ofListed(`newrelic_application_summary_${summary}`));
  return { ...options, expr: `${polled} or ${sameApp} ${ofSummary}` };
}

const applications = table({
  id: linked.applications,
  title: 'Applications',
  description:
    "What is in trouble first, then by throughput: up to 100 applications with firing alerts, up to 100 with stale values or failing polls, up to 100 unhealthy ones, up to 100 that do not report, and the 100 busiest. Errors from 5 % on and an Apdex below 0.7 are orange, as in the alerts. Response time, errors per request and Apdex are of the same window as the throughput where metrics has them, otherwise of New Relic's summary, an average of the last minutes. Age: how long ago the window of the throughput ended.",
  height: 14,
  sortBy: [
    ['Alerts', 'greatest'],
    ['Poll', 'greatest'],
    ['Health', 'greatest'],
    ['Reporting', 'least'],
    ['Throughput', 'greatest'],
  ],
  labels: {
    app_name: {
      title: 'Application',
      width: 200,
      links: [toApplication('table row', 'overview')],
    },
    account: { title: 'Account', width: 95 },
    app_id: { title: 'Id', width: 95 },
  },
  columns: [
    {
      title: 'Alerts',
      unit: 'none',
      width: 75,
      cell: 'state',
      thresholds: [[1, 'red']],
      mappings: [blank],
      expr: `${perApp(ofListed('newrelic_application_info'))} * ${sameApp} group_left () count by (account, app_id) (${alertsOfApps})`,
    },
    {
      title: 'Poll',
      unit: 'none',
      width: 85,
      cell: 'state',
      mappings: [poll],
      expr: pollOf(ofListed),
    },
    {
      title: 'Health',
      unit: 'none',
      width: 75,
      cell: 'state',
      mappings: [health],
      expr: healthOf(ofListed),
    },
    {
      title: 'Reporting',
      unit: 'none',
      width: 90,
      cell: 'state',
      mappings: [yesOrUnusual],
      expr: perApp(ofListed('newrelic_application_reporting')),
    },
    {
      title: 'Throughput',
      unit: 'reqpm',
      width: 110,
      expr: `sum by (${appLabels}) ${throughput({ select: ofListedType })}`,
    },
    { title: 'Hosts', unit: 'none', width: 60, expr: hostsPerApp(ofListed) },
    plain('instances', { title: 'Instances', unit: 'none', width: 82 }),
    polledOr('response_time_seconds', responseTime, { title: 'Response', unit: 's', width: 85 }),
    polledOr('error_ratio', errorRatio(appLabels, ofListedApps), {
      title: 'Errors',
      unit: 'percentunit',
      decimals: 2,
      width: 75,
      cell: 'state',
      mappings: [blank],
      thresholds: [[0.05, 'orange']],
    }),
    polledOr('apdex_score', perApp(ofListed('newrelic_application_apdex_score')), {
      title: 'Apdex',
      unit: 'none',
      decimals: 2,
      width: 70,
      cell: 'state',
      mappings: [poorApdex],
    }),
    {
      title: 'Age',
      unit: 'dtdurations',
      decimals: 0,
      expr: `time() - ${perApp(ofListed('newrelic_application_window_end_timestamp_seconds'))}`,
    },
  ],
});

export const overviewTables: Row = {
  title: 'Accounts and applications',
  panels: [accounts, applications],
};
