import { byReason } from './by-reason.ts';
import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { lastSuccess } from './known.ts';
import { inColor } from './overrides.ts';
import type { Panel } from './panel.ts';
import { quantilesOf, ratePer } from './rates.ts';
import { inEachCluster, ofAccount, perApp } from './selectors.ts';
import { busiest } from './series.ts';

const ended = 'newrelic_exporter_polls_total';
const failed = 'newrelic_exporter_polls_failed_total';

const ofExporters = 'cluster, job, instance, account';
const failedShare = `${ratePer(ofExporters, failed)} / (${ratePer(ofExporters, ended)} > 0)`;
const interval = `max by (cluster, account) (${ofAccount('newrelic_exporter_poll_interval_seconds')})`;
const oldestSuccess = `min by (cluster, account) (${inEachCluster(lastSuccess(ofAccount))})`;

const outcomes: readonly Panel[] = [
  graph({
    id: 109,
    title: 'Polls',
    description:
      'Polls of applications a minute: ended, failed ones included; failed; and left out because the one before took too long.',
    unit: 'cpm',
    width: 8,
    softMax: 1,
    overrides: [inColor('ended', 'blue'), inColor('failed', 'red'), inColor('left out', 'orange')],
    queries: [
      { expr: `60 * sum(rate(${ofAccount(ended)}[$__rate_interval]))`, legend: 'ended' },
      { expr: `60 * sum(rate(${ofAccount(failed)}[$__rate_interval]))`, legend: 'failed' },
      {
        expr: `60 * sum(rate(${ofAccount('newrelic_exporter_polls_skipped_total')}[$__rate_interval]))`,
        legend: 'left out',
      },
    ],
  }),
  graph({
    id: 108,
    title: 'Failed polls by exporter',
    description:
      'Share of the polls that did not get all that was asked for, of the exporters with the most in the shown range. Failures of sidecars show only here.',
    unit: 'percentunit',
    width: 8,
    max: 1,
    queries: [
      {
        expr: busiest(failedShare, ofAccount(failed)),
        legend: '{{account}}, {{instance}}',
      },
    ],
  }),
  byReason({
    title: 'Failing applications by reason',
    description:
      'Applications whose last poll failed, by the reason of its first failure; "none" as long as all succeed. Sidecars publish no such reasons. docs/troubleshooting.md explains them.',
    unit: 'none',
    counts: `count by (reason) (max by (account, app_id, reason) (${ofAccount('newrelic_application_poll_failure_info')}))`,
    all: perApp(ofAccount('newrelic_application_poll_success')),
  }),
];

const times: readonly Panel[] = [
  graph({
    title: 'Duration of polls',
    description:
      'Of an application with all its hosts, including the time it waits for the budget: half of the polls take less than p50, one in a hundred takes more than p99.',
    unit: 's',
    queries: quantilesOf('newrelic_exporter_poll_duration_seconds'),
  }),
  graph({
    title: 'Poll interval',
    description:
      'Longest effective interval of each account. It is the configured one, unless the budget or the speed of New Relic stretches it.',
    unit: 'dthms',
    isStepped: true,
    queries: [{ expr: `max by (account) (${interval})`, legend: '{{account}}' }],
  }),
  graph({
    title: 'Age of the values',
    description:
      'How long ago the published window of the application with the oldest values ended. Values that are no longer published do not count; sidecars do not publish it.',
    unit: 'dthms',
    queries: [
      {
        expr: `time() - min by (account) (${perApp(ofAccount('newrelic_application_window_end_timestamp_seconds'))})`,
        legend: '{{account}}',
      },
    ],
  }),
  graph({
    title: 'Last complete poll, in intervals',
    description:
      'How many poll intervals ago the last complete poll was, of the application for which it is the longest, also if its exporter is down. From 3 on the values are stale. Sidecars do not publish it.',
    unit: 'none',
    decimals: 1,
    softMax: 3,
    thresholds: [[3, 'red']],
    queries: [
      {
        expr: `max by (account) ((time() - ${oldestSuccess}) / ${interval})`,
        legend: '{{account}}',
      },
    ],
  }),
];

export const exporterPolls: Row = {
  title: 'Polling',
  isCollapsed: true,
  panels: [...outcomes, ...times],
};
