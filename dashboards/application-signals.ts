import { needs } from './asked.ts';
import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { allInBackground, inBackground, transactionColors } from './overrides.ts';
import {
  averageTime,
  aWeekAgo,
  errorRatio,
  ofApp,
  ofType,
  perApp,
  perType,
  rate,
  throughput,
} from './selectors.ts';

const current = throughput();
const lastWeek = throughput({ at: aWeekAgo });
const errors = rate('errors_per_minute');
const apdex = ofApp('newrelic_application_apdex_score');
const legend = '{{transaction_type}}';

/** By transaction type, as few applications have comparable ones. */
function responseTime(at?: (selected: string) => string): string {
  const ofRequests = { time: 'response_time_seconds', calls: 'requests_per_minute' };
  return averageTime('transaction_type', ofRequests, at === undefined ? {} : { at });
}

const perRequest = `(sum${current} > 0)`;
const averageOfAll = averageTime('', {
  time: 'response_time_seconds',
  calls: 'requests_per_minute',
});

/** What the calls of databases or external services take of each request. */
function shareOf(layer: 'database' | 'external'): string {
  const each = (name: string): string =>
    layer === 'database'
      ? perType(ofType(`newrelic_application_${layer}_${name}`))
      : perApp(ofApp(`newrelic_application_${layer}_${name}`));
  return `sum(${each('calls_per_minute')} * ${each('response_time_seconds')}) / ${perRequest}`;
}

const [database, external] = [shareOf('database'), shareOf('external')];
const layers = `(${database} or 0 * ${perRequest}) + (${external} or 0 * ${perRequest})`;

/** In three columns: rate, errors, duration. */
export const applicationSignals: Row = {
  title: 'Rate, errors and duration',
  panels: [
    graph({
      id: 102,
      title: 'Web and other transactions',
      description: 'Requests per minute by transaction type, averaged over the polled window.',
      unit: 'reqpm',
      width: 8,
      isStacked: true,
      overrides: transactionColors,
      queries: [{ expr: `sum by (transaction_type) ${current}`, legend }],
    }),
    graph({
      id: 107,
      title: 'Error ratio',
      description:
        'Errors per request, by transaction type and of both together. A request may have several errors.',
      unit: 'percentunit',
      width: 8,
      softMax: 0.06,
      thresholds: [[0.05, 'red']],
      noValue: needs('throughput', 'errors'),
      overrides: [...transactionColors, inBackground('together')],
      queries: [
        { expr: errorRatio('transaction_type'), legend },
        { expr: errorRatio(''), legend: 'together' },
      ],
    }),
    graph({
      id: 108,
      title: 'Response time',
      description:
        'Average response time by transaction type, now and seven days earlier. Of several applications, each counts by its requests.',
      unit: 's',
      width: 8,
      noValue: needs('throughput', 'response_time'),
      overrides: [...transactionColors, allInBackground(' last week')],
      queries: [
        { expr: responseTime(), legend },
        { expr: responseTime(aWeekAgo), legend: `${legend} last week` },
      ],
    }),
    graph({
      title: 'Response time by layer',
      description:
        'What the application itself, its databases and external services take of a request, on average. Calls made side by side count one after the other. External services are those of all transaction types.',
      unit: 's',
      width: 24,
      isStacked: true,
      noValue: needs('throughput', 'response_time', 'database', 'external'),
      queries: [
        { expr: `clamp_min(${averageOfAll} - (${layers}), 0)`, legend: 'application' },
        { expr: database, legend: 'database' },
        { expr: external, legend: 'external' },
      ],
    }),
    graph({
      id: 103,
      title: 'Now and last week',
      description: 'Requests per minute now and seven days earlier.',
      unit: 'reqpm',
      width: 8,
      overrides: [inBackground('last week')],
      queries: [
        { expr: `sum${current}`, legend: 'now' },
        { expr: `sum${lastWeek}`, legend: 'last week' },
      ],
    }),
    graph({
      title: 'Errors',
      description: 'Errors per minute by transaction type, averaged over the polled window.',
      unit: 'cpm',
      width: 8,
      isStacked: true,
      softMax: 1,
      noValue: needs('errors'),
      overrides: transactionColors,
      queries: [{ expr: `sum by (transaction_type) ${errors}`, legend }],
    }),
    graph({
      id: 109,
      title: 'Apdex',
      description:
        'Apdex score, 0 to 1, over the polled window: how many requests were fast enough, now and seven days earlier. Of several applications the least. Sidecars publish only those of their hosts.',
      unit: 'none',
      decimals: 2,
      max: 1,
      width: 8,
      thresholds: [[0.7, 'red']],
      noValue: needs('apdex'),
      overrides: [inBackground('last week')],
      queries: [
        { expr: `min(${perApp(apdex)})`, legend: 'now' },
        { expr: `min(${perApp(aWeekAgo(apdex))})`, legend: 'last week' },
      ],
    }),
  ],
};
