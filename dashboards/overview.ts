import type { DashboardOptions, Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { unhealthy } from './health.ts';
import { countOf } from './known.ts';
import { toApplication, toTable } from './links.ts';
import { health } from './mappings.ts';
import { byName, inBackground, thresholdsOf, transactionColors } from './overrides.ts';
import { overviewTables } from './overview-tables.ts';
import { bars, states } from './panels.ts';
import {
  anyApp,
  appLegend,
  aWeekAgo,
  hostsPerApp,
  ofApp,
  ofBusiestType,
  perApp,
  throughput,
} from './selectors.ts';
import { table } from './table.ts';
import { tile } from './tile.ts';
import { troubleRow } from './trouble.ts';
import { overviewVariables } from './variables.ts';

const current = throughput();
const lastWeek = throughput({ at: aWeekAgo });
const byApp = 'sum by (account, app_id, app_name)';
const change = `(${byApp} ${current} / (${byApp} ${lastWeek} > 0) - 1)`;
const changedMost = `and on (account, app_id) topk($topn, abs(${change}))`;
const all = anyApp(ofApp);
const toApp = toApplication('series', 'overview');

function countWith(status: 'orange' | 'red'): string {
  const selected = ofApp('newrelic_application_health_status', `status="${status}"`);
  return countOf(`${perApp(selected)} == 1`, all);
}

const now: Row = {
  title: 'Now',
  panels: [
    tile({
      title: 'Throughput',
      description:
        'Requests per minute of all selected applications, web and other transactions together. For applications that only sidecars publish, the sum of the hosts.',
      unit: 'reqpm',
      queries: [{ expr: `sum${current}` }],
    }),
    tile({
      title: 'Applications published',
      description: 'All, and those of them that do not report to New Relic.',
      unit: 'none',
      links: [toTable('applications', 'overview')],
      overrides: [byName('not reporting', { thresholds: thresholdsOf([[1, 'orange']]) })],
      queries: [
        { expr: `count(${all})`, legend: 'all' },
        {
          expr: countOf(`${perApp(ofApp('newrelic_application_reporting'))} == 0`, all),
          legend: 'not reporting',
        },
      ],
    }),
    tile({
      title: 'Hosts',
      description:
        'Hosts that New Relic lists for all selected applications; for applications that only sidecars publish, the hosts with a sidecar.',
      unit: 'none',
      queries: [{ expr: `sum${hostsPerApp(ofApp)}` }],
    }),
    tile({
      title: 'Unhealthy',
      description: 'Applications whose health status in New Relic is red or orange.',
      unit: 'none',
      links: [toTable('applications', 'overview')],
      overrides: [
        byName('red', { thresholds: thresholdsOf([[1, 'red']]) }),
        byName('orange', { thresholds: thresholdsOf([[1, 'orange']]) }),
      ],
      queries: [
        { expr: countWith('red'), legend: 'red' },
        { expr: countWith('orange'), legend: 'orange' },
      ],
    }),
  ],
};

const overTime: Row = {
  title: 'Over time',
  panels: [
    graph({
      title: 'Throughput of the busiest applications',
      description:
        'Requests per minute, averaged over the polled window, of the applications with the most requests in the shown range.',
      unit: 'reqpm',
      maxDataPoints: 120,
      isStacked: true,
      links: [toApp],
      queries: [{ expr: `${byApp} ${throughput({ select: ofBusiestType })}`, legend: appLegend }],
    }),
    graph({
      title: 'Web and other transactions',
      description: 'Requests per minute of all selected applications, by transaction type.',
      unit: 'reqpm',
      maxDataPoints: 120,
      isStacked: true,
      overrides: transactionColors,
      queries: [{ expr: `sum by (transaction_type) ${current}`, legend: '{{transaction_type}}' }],
    }),
    graph({
      title: 'Now and last week',
      description: 'Requests per minute of all selected applications, now and seven days earlier.',
      unit: 'reqpm',
      maxDataPoints: 120,
      overrides: [inBackground('last week')],
      queries: [
        { expr: `sum${current}`, legend: 'now' },
        { expr: `sum${lastWeek}`, legend: 'last week' },
      ],
    }),
    states({
      title: 'Unhealthy applications',
      description:
        'Applications whose health status in New Relic is orange or red: at each moment at most as many as "Top" says, red ones first.',
      unit: 'none',
      mappings: [health],
      links: [toApp],
      queries: [
        {
          expr: `topk($topn, ${unhealthy})`,
          legend: appLegend,
        },
        { expr: `0 * count(${all}) unless on () (${unhealthy})`, legend: 'all applications' },
      ],
    }),
    bars({
      title: 'Busiest applications',
      description: 'Current requests per minute.',
      unit: 'reqpm',
      links: [toApp],
      queries: [{ expr: `topk($topn, ${byApp} ${current})`, legend: appLegend }],
    }),
    table({
      title: 'Change since last week',
      description:
        'The greatest changes of throughput, up or down, compared with the same time last week. Empty without a week of data.',
      width: 12,
      height: 12,
      labels: {
        app_name: { title: 'Application', links: [toApplication('table row', 'overview')] },
        account: { title: 'Account', width: 110 },
        app_id: { title: 'Id', width: 110 },
      },
      columns: [
        {
          title: 'Change',
          unit: 'percentunit',
          width: 90,
          decimals: 0,
          cell: 'state',
          // Blue and orange differ for everybody; neither direction is a fault.
          thresholds: [
            [-Infinity, 'blue'],
            [-0.5, 'light-blue'],
            [-0.1, 'transparent'],
            [0.1, 'light-orange'],
            [0.5, 'orange'],
          ],
          expr: `${change} ${changedMost}`,
        },
        { title: 'Now', unit: 'reqpm', width: 110, expr: `${byApp} ${current} ${changedMost}` },
      ],
    }),
  ],
};

export const overview: DashboardOptions = {
  name: 'overview',
  title: 'New Relic / Overview',
  description: 'Throughput and state of all applications that the exporter polls.',
  variables: overviewVariables,
  rows: [troubleRow(ofApp, 'overview'), now, overTime, overviewTables],
};
