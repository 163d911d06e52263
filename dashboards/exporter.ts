import { field, inColor, words } from './colors.ts';
import type { DashboardOptions } from './dashboard.ts';
import { tables, toApplication, toTable } from './links.ts';
import { graph, type Panel, table, tile } from './panel.ts';
import { queries } from './queries.ts';
import {
  appLabels,
  countOf,
  exporterLabels,
  growthOf,
  of,
  per,
  perMinute,
  sameApp,
  sameExporter,
} from './selectors.ts';
import { accountUp, exporterUp, stale } from './state.ts';
import { pollColumns, trouble } from './tiles.ts';
import { exporterVariables } from './variables.ts';

/** Each account of each exporter. */
const labels = `${exporterLabels}, account`;

function perAccount(metric: string): string {
  return `max by (${labels}) (${of.account(metric)})`;
}

function perProcess(metric: string): string {
  return `max by (${exporterLabels}) (${of.process(metric)})`;
}

const accepted = 'newrelic_exporter_config_last_reload_successful';
const missing = of.account('newrelic_exporter_app_missing');
const budget = perAccount('newrelic_exporter_api_budget_requests_per_minute');
/** The calls that the intervals ask for, as a share of the budget. */
const demand = `${perAccount('newrelic_exporter_api_demand_requests_per_minute')} / ${budget}`;
/** From here on intervals are stretched, as the alert NewRelicExporterBudgetTooSmall has it. */
const fullBudget = [0.985, 'orange'] as const;
const ofJob = 'cluster, namespace, job';
const expectedShards = `max by (${ofJob}) (${of.process('newrelic_exporter_total_shards')})`;
const shards = `count by (${ofJob}) (count_values by (${ofJob}) ("shard", ${of.process('newrelic_exporter_shard')}))`;

const tiles: readonly Panel[] = [
  tile('Configuration valid', {
    description:
      'Whether every exporter accepted its configuration when it last read it. A click names those that did not.',
    map: words.yesOrNo,
    links: [toTable('exporters', 'exporter')],
    shows: `min(${of.process(accepted)})`,
  }),
  tile('Shards missing', {
    id: 112,
    description:
      'Shards that the exporters expect and that are not scraped. A click shows those that are.',
    limit: [1, 'red'],
    links: [toTable('exporters', 'exporter')],
    shows: `sum(${expectedShards} - on (${ofJob}) ${shards})`,
  }),
  tile('Highest demand', {
    description:
      'Calls that the configured intervals ask for, as a share of the budget, where it is the highest. From 98.5 % on the intervals are stretched. A click shows that of each account.',
    unit: 'percentunit',
    decimals: 0,
    limit: fullBudget,
    links: [toTable('accounts of exporters', 'exporter')],
    shows: `max(${demand})`,
  }),
  tile('Unmatched entries', {
    description: 'Entries of the configuration that match nothing. A click names them.',
    limit: [1, 'orange'],
    links: [toTable('entries', 'exporter')],
    shows: countOf(
      `max by (cluster, account, selector) (${missing}) == 1`,
      of.account('newrelic_up'),
    ),
  }),
];

const failures = 'newrelic_exporter_api_request_failures_total';
const failuresByReason = perMinute(`${labels}, reason`, failures, 'reason!="not_found"');

const accounts = table('Accounts', {
  id: tables['accounts of exporters'].id,
  description:
    'Each account of each exporter, those in trouble first: whether the last discovery succeeded, or, of an account with queries only, whether one of the last two queries did; applications whose last poll failed (of a sidecar 1 if one failed in the last five minutes), or whose values are stale; how old the oldest complete poll is; failed calls a minute with their most frequent reason; how long the account still pauses after a 429; the demand as a share of the budget; whether the API key can still be read (if not, it is missing after a restart).',
  sortBy: { Up: 'least', 'Values stale': 'greatest', 'Polls failing': 'greatest' },
  labels: {
    account: { title: 'Account', width: 90 },
    instance: { title: 'Instance' },
    reason: { title: 'Reason', width: 85 },
    job: { title: 'Job', width: 110, isLast: true },
    cluster: { title: 'Cluster', width: 90, isLast: true },
  },
  columns: {
    Up: { width: 60, map: words.upOrDown, expr: accountUp(exporterLabels) },
    ...pollColumns(exporterLabels),
    'Failed calls': {
      width: 95,
      decimals: 1,
      expr: `topk by (${labels}) (1, ${failuresByReason} > 0)`,
    },
    Pause: {
      width: 105,
      unit: 'dtdurations',
      limit: [1, 'orange'],
      expr: `clamp_min(${perAccount('newrelic_exporter_api_backoff_until_timestamp_seconds')} - time(), 0)`,
    },
    Demand: { width: 75, unit: 'percentunit', decimals: 0, limit: fullBudget, expr: demand },
    Key: {
      width: 85,
      map: words.readableOrNot,
      expr: perAccount('newrelic_exporter_api_key_readable'),
    },
  },
});

const failureInfo = of.account('newrelic_application_poll_failure_info');
const never = `0 * ${per.app(failureInfo)}`;
const since = `time() - (${per.app(of.account('newrelic_application_last_success_timestamp_seconds'))} or ${sameApp} ${never})`;
const withReason = `max by (${appLabels}, reason) (${failureInfo}) * ${sameApp} group_left () (${since})`;

const failingApplications = table('Failing applications', {
  id: 103,
  description:
    'Applications whose last poll failed, with the reason of its first failure, and those whose values are stale; those without a complete poll for the longest time first, 200 at most. It is empty if all is well: the tiles at the top then say 0. docs/troubleshooting.md explains the reasons.',
  w: 16,
  h: 6,
  noRows: 'No application fails (sidecars are in the table above)',
  sortBy: { 'Last complete poll': 'greatest' },
  labels: {
    app_name: { title: 'Application', links: [toApplication('exporter')] },
    account: { title: 'Account', width: 110 },
    app_id: { title: 'Id', width: 100 },
    reason: { title: 'Reason', width: 110 },
  },
  columns: {
    'Last complete poll': {
      width: 165,
      unit: 'dtdurations',
      map: words.neverPolled,
      expr: `topk(200, ${withReason} or ${sameApp} ${stale(of.account)})`,
    },
  },
});

const entries = table('Entries that match nothing', {
  id: tables.entries.id,
  description:
    'Entries of the configuration that match no application, or, for a sidecar, no application that has its host.',
  w: 8,
  h: 6,
  noRows: 'Every entry matches something',
  labels: {
    account: { title: 'Account' },
    selector: { title: 'Entry', width: 160 },
    job: { title: 'Job' },
    cluster: { title: 'Cluster' },
  },
  columns: {
    Exporters: { width: 80, expr: `count by (cluster, job, account, selector) (${missing} == 1)` },
  },
});

const metrics = table('Metrics without a value', {
  id: 113,
  description:
    "Metrics of the configuration that no application of their entry has ever had a value of: New Relic's metric or its value may be misspelt, or the agents do not send it. With shards, each speaks of its own applications.",
  h: 6,
  noRows: 'Every metric has a value',
  labels: {
    name: { title: 'Metric', width: 360 },
    metric: { title: "New Relic's metric", width: 240 },
    value: { title: 'Its value', width: 200 },
    account: { title: 'Account' },
    selector: { title: 'Entry' },
    job: { title: 'Job' },
    cluster: { title: 'Cluster' },
  },
  columns: {
    Exporters: {
      width: 80,
      expr: `count by (cluster, job, account, selector, name, metric, value) (${of.account('newrelic_exporter_metric_missing')} == 1)`,
    },
  },
});

/**
 * What counters grow by in a minute, by each value of the label that there was in the shown range:
 * also 0 of what is over, as a name in the legend must not look as if it went on. A line "none" says
 * that there was nothing, so that no line at all can only mean that nothing is known.
 */
function ofRange(label: string, counter: string): string {
  const grown = `sum by (${label}) (${growthOf(of.account(counter))}) > 0`;
  const none = `label_replace(0 * count(${of.account('newrelic_up')}) unless on () (${grown}), "${label}", "none", "", "")`;
  return `${perMinute(label, counter)} and on (${label}) ${grown} or ${none}`;
}

function sentUntil(offset: string): string {
  return `sum by (${labels}) (${of.account('newrelic_exporter_api_requests_total')}${offset})`;
}

const calls: readonly Panel[] = [
  graph('Failed calls by reason', {
    id: 106,
    description:
      'Calls a minute that failed, by each reason there was in the shown range; "none" if none did. docs/troubleshooting.md explains the reasons.',
    unit: 'cpm',
    w: 8,
    isStacked: true,
    softMax: 1,
    // None looks as if all were well.
    overrides: [
      field(/./, { color: { mode: 'shades', fixedColor: 'orange' } }),
      inColor('none', 'gray'),
    ],
    lines: { '{{reason}}': ofRange('reason', failures) },
  }),
  graph('Demand by account', {
    id: 105,
    description:
      'Calls that the configured intervals ask for, as a share of the budget; of several exporters the highest. Above the line the intervals are stretched.',
    unit: 'percentunit',
    w: 8,
    softMax: 1,
    limit: fullBudget,
    lines: { '{{account}}': `max by (account) (${demand})` },
  }),
  graph('Use of the budget', {
    description:
      'Calls of the last two minutes, as a share of the calls that may be sent in them; of several exporters the highest. Nothing for two minutes after a restart.',
    unit: 'percentunit',
    w: 8,
    softMax: 1,
    limit: fullBudget,
    // A rate would extrapolate bursts to more than was ever sent.
    lines: {
      '{{account}}': `max by (account) ((${sentUntil('')} - ${sentUntil(' offset 2m')} >= 0) / 2 / ${budget})`,
    },
  }),
];

const processes = table('Exporters', {
  id: tables.exporters.id,
  description:
    'Each exporter with its version and its shard, counted from 0; those that Prometheus cannot scrape first. Of these nothing else is known.',
  h: 5,
  sortBy: { Up: 'least', 'Configuration valid': 'least' },
  labels: {
    instance: { title: 'Instance' },
    job: { title: 'Job', width: 170 },
    version: { title: 'Version', width: 90 },
    revision: { title: 'Revision', width: 90 },
    node_version: { title: 'Node.js', width: 90 },
    cluster: { title: 'Cluster' },
  },
  columns: {
    Up: { width: 70, map: words.upOrDown, expr: exporterUp },
    'Configuration valid': { width: 165, map: words.yesOrNo, expr: perProcess(accepted) },
    'Running for': {
      width: 110,
      unit: 'dtdurations',
      expr: `(time() - ${perProcess('process_start_time_seconds')}) * ${sameExporter} group_left (version, revision, node_version) max by (${exporterLabels}, version, revision, node_version) (${of.process('newrelic_exporter_build_info')})`,
    },
    Shard: { width: 70, expr: perProcess('newrelic_exporter_shard') },
    Of: { width: 60, expr: perProcess('newrelic_exporter_total_shards') },
  },
});

const ended = 'newrelic_exporter_polls_total';
const failed = 'newrelic_exporter_polls_failed_total';
const failedShare = `${perMinute(labels, failed)} / (${perMinute(labels, ended)} > 0)`;
/** Chosen for the whole range, so that lines have no gaps. */
const failedMost = `topk($topn, sum by (${exporterLabels}) (${growthOf(of.account(failed))}))`;

const details: readonly Panel[] = [
  metrics,
  graph('Polls', {
    id: 109,
    description:
      'Polls of applications a minute: ended, failed ones included; failed; and left out because the one before took too long.',
    unit: 'cpm',
    softMax: 1,
    overrides: [inColor('ended', 'blue'), inColor('failed', 'red'), inColor('left out', 'orange')],
    lines: {
      ended: perMinute('', ended),
      failed: perMinute('', failed),
      'left out': perMinute('', 'newrelic_exporter_polls_skipped_total'),
    },
  }),
  graph('Failed polls by exporter', {
    id: 108,
    description:
      'Share of the polls that did not get all that was asked for, of the exporters with the most in the shown range.',
    unit: 'percentunit',
    max: 1,
    lines: { '{{account}}, {{instance}}': `${failedShare} and ${sameExporter} ${failedMost}` },
  }),
  graph('Series left out', {
    id: 110,
    description: 'Series a minute that are left out because another one has the same labels.',
    unit: 'cpm',
    softMax: 1,
    lines: { '{{reason}}': ofRange('reason', 'newrelic_exporter_series_dropped_total') },
  }),
  graph('Values left out', {
    id: 111,
    description:
      'Values of New Relic a minute that cannot be used, and answers of NerdGraph that are not as New Relic documents them.',
    unit: 'cpm',
    softMax: 1,
    lines: {
      '{{reason}}': ofRange('reason', 'newrelic_exporter_invalid_samples_total'),
      'unexpected: {{kind}}': ofRange('kind', 'newrelic_exporter_unexpected_answers_total'),
    },
  }),
];

export const exporter: DashboardOptions = {
  name: 'exporter',
  title: 'New Relic / Exporter',
  description:
    'The exporter itself: its accounts, its calls and their budget, its polls, its queries.',
  variables: exporterVariables,
  open: [
    ...trouble(of.account, 'exporter'),
    ...tiles,
    accounts,
    failingApplications,
    entries,
    ...calls,
    processes,
  ],
  closed: { Queries: queries, 'Metrics without a value, polls and series': details },
};
