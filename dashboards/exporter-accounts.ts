import type { Row } from './dashboard.ts';
import { budgetNeeded, fullBudget } from './exporter-calls.ts';
import { knownAtExporters, stale } from './known.ts';
import { toApplication } from './links.ts';
import { neverPolled, readableOrNot, upOrDown } from './mappings.ts';
import type { Panel } from './panel.ts';
import { appLabels, ofAccount, perApp, sameApp } from './selectors.ts';
import { type Column, table } from './table.ts';

const labels = 'cluster, job, instance, account';

function per(metric: string, more?: string): string {
  return `max by (${labels}) (${ofAccount(metric, more)})`;
}

function perAppOfExporter(metric: string): string {
  return `max by (${labels}, app_id) (${ofAccount(metric)})`;
}

const lastSuccess = knownAtExporters(
  `${labels}, app_id`,
  'newrelic_application_last_success_timestamp_seconds',
);
const interval = knownAtExporters(labels, 'newrelic_exporter_poll_interval_seconds');
const staleOfExporter = `time() - ${lastSuccess} > on (${labels}) group_left () 3 * ${interval}`;
const failures = `sum by (${labels}, reason) (rate(${ofAccount('newrelic_exporter_api_request_failures_total', 'reason!="not_found"')}[$__rate_interval]))`;

const health: readonly Column[] = [
  {
    title: 'Up',
    width: 65,
    unit: 'none',
    cell: 'state',
    mappings: [upOrDown],
    expr: knownAtExporters(labels, 'newrelic_up', '0 * '),
  },
  {
    title: 'Polls failing',
    width: 105,
    unit: 'none',
    cell: 'state',
    thresholds: [[1, 'orange']],
    expr: `sum by (${labels}) (1 - ${perAppOfExporter('newrelic_application_poll_success')})`,
  },
  {
    title: 'Values stale',
    width: 105,
    unit: 'none',
    cell: 'state',
    thresholds: [[1, 'red']],
    expr: `count by (${labels}) (${staleOfExporter}) or 0 * count by (${labels}) (${lastSuccess})`,
  },
  {
    title: 'Oldest poll',
    width: 105,
    unit: 'dtdurations',
    expr: `time() - min by (${labels}) (${lastSuccess})`,
  },
  {
    title: 'Failed calls',
    width: 105,
    unit: 'none',
    decimals: 1,
    expr: `60 * topk by (${labels}) (1, ${failures} > 0)`,
  },
  {
    title: 'Pause',
    width: 90,
    unit: 'dtdurations',
    cell: 'state',
    thresholds: [[1, 'orange']],
    expr: `clamp_min(${per('newrelic_exporter_api_backoff_until_timestamp_seconds')} - time(), 0)`,
  },
];

const facts: readonly Column[] = [
  {
    title: 'Demand',
    width: 85,
    unit: 'percentunit',
    decimals: 0,
    cell: 'state',
    thresholds: [[fullBudget, 'orange']],
    expr: budgetNeeded,
  },
  {
    title: 'Key',
    width: 95,
    unit: 'none',
    cell: 'state',
    mappings: [readableOrNot],
    expr: per('newrelic_exporter_api_key_readable'),
  },
  {
    title: 'Key age',
    width: 85,
    unit: 'dtdurations',
    expr: `time() - ${per('newrelic_exporter_api_key_last_change_timestamp_seconds')}`,
  },
  {
    title: 'Discovery',
    width: 95,
    unit: 'dtdurations',
    expr: `time() - (${per('newrelic_exporter_discovery_last_success_timestamp_seconds')} > 0)`,
  },
  {
    title: 'Listed',
    width: 75,
    unit: 'none',
    expr: per('newrelic_exporter_applications', 'state="listed"'),
  },
  {
    title: 'Selected',
    width: 85,
    unit: 'none',
    expr: per('newrelic_exporter_applications', 'state="selected"'),
  },
];

const accounts: Panel = table({
  id: 102,
  title: 'Accounts',
  description:
    'Each account of each exporter, those in trouble first: whether the last discovery succeeded; applications whose last poll failed, or was more than three intervals ago; failed calls a minute with their most frequent reason; how long the account still pauses after a 429; the demand as a share of the budget; whether the API key can still be read (if not, it is missing after a restart), and how long it has been in use; how long ago the last discovery succeeded, and how many applications it listed and selected.',
  height: 8,
  sortBy: [
    ['Up', 'least'],
    ['Values stale', 'greatest'],
    ['Polls failing', 'greatest'],
  ],
  labels: {
    account: { title: 'Account', width: 110 },
    instance: { title: 'Instance', width: 150 },
    job: { title: 'Job' },
    reason: { title: 'Reason' },
    cluster: { title: 'Cluster' },
  },
  columns: [...health, ...facts],
});

const failureInfo = ofAccount('newrelic_application_poll_failure_info');
const never = `0 * ${perApp(failureInfo)}`;
const since = `time() - (${perApp(ofAccount('newrelic_application_last_success_timestamp_seconds'))} or ${sameApp} ${never})`;

const failing = `max by (${appLabels}, reason) (${failureInfo}) * ${sameApp} group_left () (${since})`;

const applications: Panel = table({
  id: 103,
  title: 'Failing applications',
  description:
    'Applications whose last poll failed, with the reason of its first failure, and those whose values are stale; those without a complete poll for the longest time first, 200 at most. It is empty if all is well: the tiles at the top then say 0. docs/troubleshooting.md explains the reasons.',
  width: 16,
  height: 8,
  sortBy: [['Last complete poll', 'greatest']],
  labels: {
    app_name: {
      title: 'Application',
      width: 260,
      links: [toApplication('table row', 'exporter')],
    },
    account: { title: 'Account' },
    app_id: { title: 'Id', width: 100 },
    reason: { title: 'Reason' },
  },
  columns: [
    {
      title: 'Last complete poll',
      unit: 'dtdurations',
      mappings: [neverPolled],
      expr: `topk(200, ${failing} or ${sameApp} ${stale(ofAccount)})`,
    },
  ],
});

const entries: Panel = table({
  id: 104,
  title: 'Entries that match nothing',
  description:
    'Entries of the configuration that match no application, or, for a sidecar, no application that has its host.',
  height: 8,
  width: 8,
  labels: {
    account: { title: 'Account' },
    selector: { title: 'Entry', width: 160 },
    job: { title: 'Job' },
    cluster: { title: 'Cluster' },
  },
  columns: [
    {
      title: 'Exporters',
      width: 80,
      unit: 'none',
      expr: `count by (cluster, job, account, selector) (${ofAccount('newrelic_exporter_app_missing')} == 1)`,
    },
  ],
});

const metrics: Panel = table({
  id: 113,
  title: 'Metrics without a value',
  description:
    "Metrics of the configuration that no application of their entry has ever had a value of: New Relic's metric or its value may be misspelt, or the agents do not send it. With shards, each speaks of its own applications.",
  height: 6,
  labels: {
    name: { title: 'Metric', width: 360 },
    metric: { title: "New Relic's metric", width: 240 },
    value: { title: 'Its value', width: 200 },
    account: { title: 'Account' },
    selector: { title: 'Entry' },
    job: { title: 'Job' },
    cluster: { title: 'Cluster' },
  },
  columns: [
    {
      title: 'Exporters',
      width: 80,
      unit: 'none',
      expr: `count by (cluster, job, account, selector, name, metric, value) (${ofAccount('newrelic_exporter_metric_missing')} == 1)`,
    },
  ],
});

export const exporterAccounts: Row = {
  title: 'Accounts and applications',
  panels: [accounts, applications, entries, metrics],
};
