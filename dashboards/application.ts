import { applicationHosts } from './application-hosts.ts';
import { applicationResources } from './application-resources.ts';
import { applicationSignals } from './application-signals.ts';
import type { DashboardOptions, Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { healthOf } from './health.ts';
import { countOf } from './known.ts';
import { health, noData, nothing, poorApdex, yesOrUnusual } from './mappings.ts';
import { byName } from './overrides.ts';
import {
  appLegend,
  averageTime,
  errorRatio,
  loneHosts,
  ofApp,
  ofType,
  perApp,
  sameApp,
  throughput,
} from './selectors.ts';
import { lastOf } from './series.ts';
import { compared, tile } from './tile.ts';
import { troubleRow } from './trouble.ts';
import { applicationVariables } from './variables.ts';

const current = throughput();

/** The age of the oldest, for how the worst of several applications is off. */
function oldest(metric: string): string {
  return `time() - min(${perApp(ofApp(`newrelic_application_${metric}_timestamp_seconds`))})`;
}

const now: Row = {
  title: 'Now',
  panels: [
    compared({
      title: 'Throughput',
      description:
        'Requests per minute, web and other transactions together. If only sidecars publish the application, the sum of its hosts.',
      unit: 'reqpm',
      mayLack: true,
      value: (at) => `sum${throughput({ at })}`,
    }),
    compared({
      title: 'Errors now',
      description: 'Errors per request, web and other transactions together; orange from 5 % on.',
      unit: 'percentunit',
      decimals: 2,
      mayLack: true,
      isDifference: true,
      thresholds: [[0.05, 'orange']],
      value: (at) => errorRatio('', { at }),
    }),
    compared({
      title: 'Response time now',
      description: 'Average response time, web and other transactions together.',
      unit: 's',
      mayLack: true,
      value: (at) =>
        averageTime('', { time: 'response_time_seconds', calls: 'requests_per_minute' }, { at }),
    }),
    compared({
      title: 'Apdex now',
      description: 'Apdex score, 0 to 1, of several applications the least; orange below 0.7.',
      unit: 'none',
      decimals: 2,
      mayLack: true,
      isDifference: true,
      mappings: [poorApdex],
      value: (at) => `min(${perApp(at(ofApp('newrelic_application_apdex_score')))})`,
    }),
    tile({
      title: 'Application',
      description: 'The name of the application, also of one that has vanished in the shown range.',
      unit: 'none',
      mayLack: true,
      isName: true,
      queries: [
        {
          expr: `group by (app_name) (${lastOf(ofApp('newrelic_application_info'))}) or group by (app_name) (${lastOf(loneHosts(ofApp))})`,
          legend: '{{app_name}}',
        },
      ],
    }),
    tile({
      title: 'Hosts with traffic',
      description: 'Hosts that have served at least one request in the window.',
      unit: 'none',
      queries: [
        {
          expr: countOf(
            `count by (account, app_id, host_id) (${ofType('newrelic_application_host_requests_per_minute')} > 0)`,
            current,
          ),
        },
      ],
    }),
    tile({
      id: 101,
      title: 'State in New Relic',
      description:
        'Whether the application reports to New Relic, and its health status; of several applications the worst. Sidecars publish neither.',
      unit: 'none',
      mayLack: true,
      overrides: [
        byName('reporting', { mappings: [noData, yesOrUnusual] }),
        byName('health', { mappings: [nothing, health] }),
      ],
      queries: [
        {
          expr: `min(${perApp(ofApp('newrelic_application_reporting'))})`,
          legend: 'reporting',
        },
        { expr: `max(${healthOf(ofApp)})`, legend: 'health' },
      ],
    }),
    tile({
      title: 'How long ago',
      description:
        'When the window of the values ended, and when the application last reported, accurate to a few minutes; of several applications the longest ago. Sidecars publish neither.',
      unit: 'dtdurations',
      decimals: 0,
      mayLack: true,
      queries: [
        { expr: oldest('window_end'), legend: 'values' },
        { expr: oldest('last_reported'), legend: 'last report' },
      ],
    }),
  ],
};

/** If more applications are chosen than can be told apart, as many as "Top" says. */
function summaryOf(name: string): string {
  const few = `topk($topn, ${perApp(lastOf(ofApp('newrelic_application_info')))})`;
  return `${perApp(ofApp(`newrelic_application_summary_${name}`))} and ${sameApp} ${few}`;
}

const summary: Row = {
  title: "New Relic's summary",
  isCollapsed: true,
  panels: [
    graph({
      title: 'Throughput in the summary',
      description:
        "New Relic's own rolling average, which has another window than the polled values, compared with these.",
      unit: 'reqpm',
      queries: [
        {
          expr: `sum(${perApp(ofApp('newrelic_application_summary_requests_per_minute'))})`,
          legend: 'summary',
        },
        { expr: `sum${current}`, legend: 'polled' },
      ],
    }),
    graph({
      title: 'Response time in the summary',
      description: 'Average response time of the last minutes.',
      unit: 's',
      queries: [{ expr: summaryOf('response_time_seconds'), legend: appLegend }],
    }),
    graph({
      title: 'Errors in the summary',
      description: 'Share of the requests of the last minutes that failed.',
      unit: 'percentunit',
      softMax: 0.05,
      width: 8,
      queries: [{ expr: summaryOf('error_ratio'), legend: appLegend }],
    }),
    graph({
      title: 'Apdex in the summary',
      description: 'Apdex score, 0 to 1.',
      unit: 'none',
      decimals: 2,
      max: 1,
      width: 8,
      queries: [{ expr: summaryOf('apdex_score'), legend: appLegend }],
    }),
    graph({
      title: 'Apdex target',
      description: 'The response time that the Apdex score is measured against.',
      unit: 's',
      width: 8,
      queries: [{ expr: summaryOf('apdex_target_seconds'), legend: appLegend }],
    }),
  ],
};

export const application: DashboardOptions = {
  name: 'application',
  title: 'New Relic / Application',
  description:
    'One application: requests, errors and response time, its hosts and how evenly the load is distributed.',
  variables: applicationVariables,
  rows: [
    troubleRow(ofApp, 'application'),
    now,
    applicationSignals,
    applicationHosts,
    applicationResources,
    summary,
  ],
};
