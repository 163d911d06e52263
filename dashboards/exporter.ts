import type { DashboardOptions, Row } from './dashboard.ts';
import { exporterAccounts } from './exporter-accounts.ts';
import { exporterCalls } from './exporter-calls.ts';
import { exporterProcess } from './exporter-process.ts';
import { graph } from './graph.ts';
import { linked } from './links.ts';
import { yesOrNo } from './mappings.ts';
import { ofAccount, ofProcess, perApp } from './selectors.ts';
import { table } from './table.ts';
import { tile } from './tile.ts';
import { troubleRow } from './trouble.ts';
import { exporterVariables } from './variables.ts';

const own = 'newrelic_exporter_build_info';
const isOurs = `and on (cluster, job, instance) ${ofProcess(own)}`;

const state: Row = {
  title: 'State',
  panels: [
    tile({
      title: 'Exporters scraped',
      description: 'Exporters that Prometheus scrapes successfully.',
      unit: 'short',
      queries: [{ expr: `count(${ofProcess('up')} == 1 ${isOurs})` }],
    }),
    tile({
      title: 'Accounts discovered',
      description: 'Whether the last discovery of every account succeeded.',
      unit: 'short',
      mappings: [yesOrNo],
      queries: [{ expr: `min(${ofAccount('newrelic_up')})` }],
    }),
    tile({
      title: 'Configuration accepted',
      description: 'Whether every exporter accepted its configuration when it last read it.',
      unit: 'short',
      mappings: [yesOrNo],
      queries: [{ expr: `min(${ofProcess('newrelic_exporter_config_last_reload_successful')})` }],
    }),
    tile({
      title: 'Configuration since',
      description: 'When the newest configuration in force was accepted.',
      unit: 'dateTimeFromNow',
      queries: [
        {
          expr: `1000 * max(${ofProcess('newrelic_exporter_config_last_reload_success_timestamp_seconds')})`,
        },
      ],
    }),
    tile({
      title: 'Oldest complete poll',
      description:
        'Age of the oldest last complete poll of an application; sidecars do not publish it.',
      unit: 's',
      queries: [
        {
          expr: `time() - min(${perApp(ofAccount('newrelic_application_last_success_timestamp_seconds'))})`,
        },
      ],
    }),
    tile({
      title: 'Shards missing',
      description: 'Shards that the exporters expect and that are not scraped.',
      unit: 'short',
      thresholds: [[1, 'red']],
      queries: [
        {
          expr: `sum(max by (cluster, namespace, job) (${ofProcess('newrelic_exporter_total_shards')}) - on (cluster, namespace, job) count by (cluster, namespace, job) (count_values by (cluster, namespace, job) ("shard", ${ofProcess('newrelic_exporter_shard')})))`,
        },
      ],
    }),
    table({
      id: linked.exporters,
      title: 'Exporters',
      description: 'Each exporter with its version and its shard, counted from 0.',
      height: 6,
      labels: {
        job: { title: 'Job' },
        instance: { title: 'Instance' },
        version: { title: 'Version' },
        revision: { title: 'Revision' },
        node_version: { title: 'Node.js' },
        cluster: { title: 'Cluster' },
      },
      columns: [
        {
          title: 'Running for',
          unit: 's',
          expr: `(time() - max by (cluster, job, instance) (${ofProcess('process_start_time_seconds')})) * on (cluster, job, instance) group_left (version, revision, node_version) max by (cluster, job, instance, version, revision, node_version) (${ofProcess(own)})`,
        },
        {
          title: 'Shard',
          unit: 'none',
          expr: `max by (cluster, job, instance) (${ofProcess('newrelic_exporter_shard')})`,
        },
        {
          title: 'Of',
          unit: 'none',
          expr: `max by (cluster, job, instance) (${ofProcess('newrelic_exporter_total_shards')})`,
        },
      ],
    }),
  ],
};

const polling: Row = {
  title: 'Polling',
  panels: [
    graph({
      title: 'Polls',
      description: 'Polls of applications a minute: ended, failed, and left out.',
      unit: 'cpm',
      width: 8,
      queries: [
        perMinute('newrelic_exporter_polls_total', 'ended'),
        perMinute('newrelic_exporter_polls_failed_total', 'failed'),
        perMinute('newrelic_exporter_polls_skipped_total', 'left out'),
      ],
    }),
    graph({
      title: 'Failed polls by exporter',
      description:
        'Share of the polls that did not get all that was asked for, for the exporters with the most. Failures of sidecars show only here.',
      unit: 'percentunit',
      width: 8,
      max: 1,
      queries: [
        {
          expr: `topk($topn, ${ofInstances('newrelic_exporter_polls_failed_total')} / (${ofInstances('newrelic_exporter_polls_total')} > 0))`,
          legend: '{{account}}, {{instance}}',
        },
      ],
    }),
    graph({
      title: 'Failing applications by reason',
      description:
        'Applications whose last poll failed, by the reason of its first failure. docs/operations.md explains the reasons.',
      unit: 'short',
      width: 8,
      isStacked: true,
      queries: [
        {
          expr: `count by (account, reason) (max by (cluster, account, app_id, reason) (${ofAccount('newrelic_application_poll_failure_info')}))`,
          legend: '{{account}}, {{reason}}',
        },
      ],
    }),
    graph({
      title: 'Duration of polls, and interval',
      width: 8,
      description:
        'Duration of a poll with all its hosts, including the time it waits for the budget, and the longest effective interval.',
      unit: 's',
      queries: [
        ...[0.5, 0.95].map((quantile) => ({
          expr: `histogram_quantile(${quantile}, sum by (le, account) (rate(${ofAccount('newrelic_exporter_poll_duration_seconds_bucket')}[$__rate_interval])))`,
          legend: `{{account}}, ${quantile * 100} %`,
        })),
        {
          expr: `max by (account) (${ofAccount('newrelic_exporter_poll_interval_seconds')})`,
          legend: '{{account}}, interval',
        },
      ],
    }),
    graph({
      title: 'Age of the values',
      description:
        'How long ago the published window ended, for the applications with the oldest values.',
      unit: 's',
      width: 8,
      queries: [
        {
          expr: `topk($topn, time() - ${perApp(ofAccount('newrelic_application_window_end_timestamp_seconds'))})`,
          legend: '{{account}}: {{app_name}}',
        },
      ],
    }),
    graph({
      title: 'Age of the last complete poll',
      description: 'For the applications whose last complete poll is the longest ago.',
      unit: 's',
      width: 8,
      queries: [
        {
          expr: `topk($topn, time() - ${perApp(ofAccount('newrelic_application_last_success_timestamp_seconds'))})`,
          legend: '{{account}}: {{app_name}}',
        },
      ],
    }),
  ],
};

function perMinute(metric: string, legend: string): { expr: string; legend: string } {
  const rates = `sum by (account) (rate(${ofAccount(metric)}[$__rate_interval]))`;
  return { expr: `60 * ${rates}`, legend: `{{account}}, ${legend}` };
}

function ofInstances(metric: string): string {
  const rates = `rate(${ofAccount(metric)}[$__rate_interval])`;
  return `sum by (cluster, job, instance, account) (${rates})`;
}

export const exporter: DashboardOptions = {
  name: 'exporter',
  title: 'New Relic / Exporter',
  description:
    'The exporter itself: its calls and their budget, its polls, its series, its process.',
  variables: exporterVariables,
  rows: [
    troubleRow(ofAccount, 'exporter'),
    state,
    exporterAccounts,
    exporterCalls,
    polling,
    exporterProcess,
  ],
};
