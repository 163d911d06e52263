import type { Row } from './dashboard.ts';
import { budgetNeeded, fullBudget } from './exporter-calls.ts';
import { exporterUp } from './known.ts';
import { linked } from './links.ts';
import { upOrDown, validOrRefused, yesOrNo } from './mappings.ts';
import type { Panel } from './panel.ts';
import { ofAccount, ofProcess } from './selectors.ts';
import { table } from './table.ts';
import { tile } from './tile.ts';

const exporterLabels = 'cluster, job, instance';
const accepted = ofProcess('newrelic_exporter_config_last_reload_successful');
const expectedShards = `max by (cluster, namespace, job) (${ofProcess('newrelic_exporter_total_shards')})`;
const shards = `count by (cluster, namespace, job) (count_values by (cluster, namespace, job) ("shard", ${ofProcess('newrelic_exporter_shard')}))`;
const missing = ofAccount('newrelic_exporter_app_missing');

const tiles: readonly Panel[] = [
  tile({
    title: 'Configuration valid',
    description:
      'Whether every exporter accepted its configuration when it last read it. The table of the exporters names those that did not.',
    unit: 'none',
    mappings: [yesOrNo],
    queries: [{ expr: `min(${accepted})` }],
  }),
  tile({
    id: 112,
    title: 'Shards missing',
    description: 'Shards that the exporters expect and that are not scraped.',
    unit: 'none',
    thresholds: [[1, 'red']],
    queries: [{ expr: `sum(${expectedShards} - on (cluster, namespace, job) ${shards})` }],
  }),
  tile({
    title: 'Highest demand',
    description:
      'Calls that the configured intervals ask for, as a share of the budget, where it is the highest. From 98.5 % on the intervals are stretched.',
    unit: 'percentunit',
    decimals: 0,
    thresholds: [[fullBudget, 'orange']],
    queries: [{ expr: `max(${budgetNeeded})` }],
  }),
  tile({
    title: 'Unmatched entries',
    description:
      'Entries of the configuration that match nothing. A table of the next row names them.',
    unit: 'none',
    thresholds: [[1, 'orange']],
    queries: [
      {
        expr: `count(max by (cluster, account, selector) (${missing}) == 1) or 0 * count(${ofAccount('newrelic_up')})`,
      },
    ],
  }),
];

const exporters: Panel = table({
  id: linked.exporters,
  title: 'Exporters',
  description:
    'Each exporter with its version and its shard, counted from 0; those that Prometheus cannot scrape first. Of these nothing else is known.',
  height: 6,
  sortBy: [
    ['Up', 'least'],
    ['Configuration', 'least'],
  ],
  labels: {
    job: { title: 'Job', width: 170 },
    instance: { title: 'Instance', width: 190 },
    version: { title: 'Version' },
    revision: { title: 'Revision' },
    node_version: { title: 'Node.js' },
    cluster: { title: 'Cluster' },
  },
  columns: [
    {
      title: 'Up',
      unit: 'none',
      cell: 'state',
      mappings: [upOrDown],
      expr: exporterUp,
    },
    {
      title: 'Configuration',
      width: 120,
      unit: 'none',
      cell: 'state',
      mappings: [validOrRefused],
      expr: `max by (${exporterLabels}) (${accepted})`,
    },
    {
      title: 'Running for',
      unit: 'dtdurations',
      expr: `(time() - max by (${exporterLabels}) (${ofProcess('process_start_time_seconds')})) * on (${exporterLabels}) group_left (version, revision, node_version) max by (${exporterLabels}, version, revision, node_version) (${ofProcess('newrelic_exporter_build_info')})`,
    },
    {
      title: 'Shard',
      unit: 'none',
      expr: `max by (${exporterLabels}) (${ofProcess('newrelic_exporter_shard')})`,
    },
    {
      title: 'Of',
      unit: 'none',
      expr: `max by (${exporterLabels}) (${ofProcess('newrelic_exporter_total_shards')})`,
    },
  ],
});

export const exporterState: Row = { title: 'State', panels: [...tiles, exporters] };
