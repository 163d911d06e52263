import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { inColor } from './overrides.ts';
import type { Panel } from './panel.ts';
import { ratePer } from './rates.ts';
import { ofAccount } from './selectors.ts';
import { busiest } from './series.ts';

const ended = 'newrelic_exporter_polls_total';
const failed = 'newrelic_exporter_polls_failed_total';

const ofExporters = 'cluster, job, instance, account';
const failedShare = `${ratePer(ofExporters, failed)} / (${ratePer(ofExporters, ended)} > 0)`;

const outcomes: readonly Panel[] = [
  graph({
    id: 109,
    title: 'Polls',
    description:
      'Polls of applications a minute: ended, failed ones included; failed; and left out because the one before took too long.',
    unit: 'cpm',
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
    max: 1,
    queries: [
      {
        expr: busiest(failedShare, ofAccount(failed)),
        legend: '{{account}}, {{instance}}',
      },
    ],
  }),
];

export const exporterPolls: Row = {
  title: 'Polling',
  isCollapsed: true,
  panels: outcomes,
};
