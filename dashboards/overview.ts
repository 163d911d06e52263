import type { DashboardOptions, Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { unhealthy } from './health.ts';
import { countOf } from './known.ts';
import { toApplication, toTable } from './links.ts';
import { health, poorApdex } from './mappings.ts';
import { byName, inBackground, thresholdsOf, transactionColors } from './overrides.ts';
import { overviewTables } from './overview-tables.ts';
import { states } from './panels.ts';
import {
  alertsOfApps,
  anyApp,
  appLegend,
  averageTime,
  aWeekAgo,
  errorRatio,
  hostsPerApp,
  ofApp,
  ofBusiestType,
  perApp,
  sameApp,
  throughput,
} from './selectors.ts';
import { compared, tile } from './tile.ts';
import { troubleRow } from './trouble.ts';
import { overviewVariables } from './variables.ts';

const current = throughput();
const lastWeek = throughput({ at: aWeekAgo });
const byApp = 'sum by (account, app_id, app_name)';
const ofBusiest = throughput({ select: ofBusiestType });
const all = anyApp(ofApp);
const toApp = toApplication('series', 'overview');

function countWith(status: 'orange' | 'red'): string {
  const selected = ofApp('newrelic_application_health_status', `status="${status}"`);
  return countOf(`${perApp(selected)} == 1`, all);
}

/** Each application counts by its requests. */
function apdexOfAll(at: (selected: string) => string): string {
  const apdex = perApp(at(ofApp('newrelic_application_apdex_score')));
  const requests = `sum by (account, app_id) ${throughput({ at })}`;
  return `sum(${apdex} * ${sameApp} group_left () ${requests}) / (sum(${requests} and ${sameApp} ${apdex}) > 0)`;
}

const now: Row = {
  title: 'Now',
  panels: [
    compared({
      title: 'Throughput',
      description:
        'Requests per minute of all selected applications, web and other transactions together. For applications that only sidecars publish, the sum of the hosts.',
      unit: 'reqpm',
      value: (at) => `sum${throughput({ at })}`,
    }),
    compared({
      title: 'Error ratio',
      description:
        'Errors per request of all selected applications whose errors are read; orange from 5 % on.',
      unit: 'percentunit',
      decimals: 2,
      mayLack: true,
      isDifference: true,
      thresholds: [[0.05, 'orange']],
      links: [toTable('applications', 'overview')],
      value: (at) => errorRatio('', { at }),
    }),
    compared({
      title: 'Response time',
      description: 'Average response time; each application counts by its requests.',
      unit: 's',
      mayLack: true,
      value: (at) =>
        averageTime('', { time: 'response_time_seconds', calls: 'requests_per_minute' }, { at }),
    }),
    compared({
      title: 'Apdex',
      description:
        'Apdex score, 0 to 1; each application counts by its requests. Orange below 0.7.',
      unit: 'none',
      decimals: 2,
      mayLack: true,
      isDifference: true,
      mappings: [poorApdex],
      links: [toTable('applications', 'overview')],
      value: apdexOfAll,
    }),
    tile({
      title: 'Applications with alerts',
      description:
        'Applications about which an alert of the rules fires. It stays 0 where Prometheus does not have the rules. A click names them.',
      unit: 'none',
      thresholds: [[1, 'red']],
      links: [toTable('applications', 'overview')],
      queries: [{ expr: countOf(`count by (account, app_id) (${alertsOfApps})`, all) }],
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
        'Requests per minute, averaged over the polled window, of the applications with the most requests in the shown range, and of all others together.',
      unit: 'reqpm',
      width: 24,
      overrides: [
        byName('all others', { color: { mode: 'fixed', fixedColor: 'gray' }, links: [] }),
      ],
      maxDataPoints: 120,
      isStacked: true,
      links: [toApp],
      queries: [
        { expr: `${byApp} ${ofBusiest}`, legend: appLegend },
        { expr: `clamp_min(sum${current} - sum${ofBusiest}, 0)`, legend: 'all others' },
      ],
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
      width: 24,
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
  ],
};

export const overview: DashboardOptions = {
  name: 'overview',
  title: 'New Relic / Overview',
  description: 'Throughput and state of all applications that the exporter polls.',
  variables: overviewVariables,
  rows: [troubleRow(ofApp, 'overview'), now, overTime, overviewTables],
};
