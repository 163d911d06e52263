import { byReason } from './by-reason.ts';
import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { inBackground, inColor, statusColors } from './overrides.ts';
import type { Panel } from './panel.ts';
import { quantilesOf, ratePer } from './rates.ts';
import { ofAccount } from './selectors.ts';

const sameAccount = 'cluster, job, instance, account';

function perExporter(metric: string): string {
  return `max by (${sameAccount}) (${ofAccount(metric)})`;
}

const requests = 'newrelic_exporter_api_requests_total';
const sent = `60 * ${ratePer(sameAccount, requests)}`;
const demand = perExporter('newrelic_exporter_api_demand_requests_per_minute');
const budget = perExporter('newrelic_exporter_api_budget_requests_per_minute');

/** The calls that the intervals ask for, as a share of the budget; of each exporter and account. */
export const budgetNeeded: string = `${demand} / ${budget}`;
/** From here on intervals are stretched, as the alert NewRelicExporterBudgetTooSmall has it. */
export const fullBudget = 0.985;

const amounts: readonly Panel[] = [
  graph({
    title: 'Calls, demand and budget',
    description:
      'Calls sent a minute, calls that the configured intervals ask for, and calls that may be sent: the sum of the chosen accounts, on a logarithmic scale. A demand above the budget stretches the intervals.',
    unit: 'cpm',
    isLogarithmic: true,
    overrides: [inColor('sent', 'blue'), inColor('demand', 'orange'), inBackground('budget')],
    queries: [
      { expr: `sum(${sent})`, legend: 'sent' },
      { expr: `sum(${demand})`, legend: 'demand' },
      { expr: `sum(${budget})`, legend: 'budget' },
    ],
  }),
  graph({
    title: 'Calls by account',
    description: 'Calls sent a minute.',
    unit: 'cpm',
    queries: [{ expr: `sum by (account) (${sent})`, legend: '{{account}}' }],
  }),
  graph({
    id: 105,
    title: 'Demand by account',
    description:
      'Calls that the configured intervals ask for, as a share of the budget; of several exporters the highest. Above the line the intervals are stretched.',
    unit: 'percentunit',
    softMax: 1,
    thresholds: [[fullBudget, 'orange']],
    queries: [{ expr: `max by (account) (${budgetNeeded})`, legend: '{{account}}' }],
  }),
  graph({
    title: 'Use of the budget',
    description:
      'Calls sent, as a share of the calls that may be sent; of several exporters the highest.',
    unit: 'percentunit',
    softMax: 1,
    thresholds: [[fullBudget, 'orange']],
    queries: [{ expr: `max by (account) (${sent} / ${budget})`, legend: '{{account}}' }],
  }),
];

const results: readonly Panel[] = [
  graph({
    title: 'Calls by result',
    description: 'Calls a minute by HTTP status, or by the reason why no answer came.',
    unit: 'cpm',
    width: 8,
    isStacked: true,
    overrides: statusColors,
    queries: [{ expr: `60 * ${ratePer('code', requests)}`, legend: '{{code}}' }],
  }),
  graph({
    title: 'Calls by operation',
    description:
      'Calls a minute by what is asked for: lists of applications, names of hosts, values of applications and of hosts.',
    unit: 'cpm',
    width: 8,
    isStacked: true,
    queries: [{ expr: `60 * ${ratePer('operation', requests)}`, legend: '{{operation}}' }],
  }),
  byReason({
    id: 106,
    title: 'Failed calls by reason',
    description:
      'Calls a minute that failed; "none" as long as none does. docs/troubleshooting.md explains the reasons.',
    unit: 'cpm',
    counts: `60 * ${ratePer('reason', 'newrelic_exporter_api_request_failures_total')}`,
  }),
];

const troubles: readonly Panel[] = [
  byReason({
    title: 'Calls sent again',
    description: 'Calls a minute that were sent again, by the reason of the failure before.',
    unit: 'cpm',
    counts: `60 * ${ratePer('reason', 'newrelic_exporter_api_request_retries_total')}`,
  }),
  graph({
    id: 107,
    title: 'Answers with 429',
    description: 'Answers a minute that say that there were too many calls.',
    unit: 'cpm',
    width: 8,
    softMax: 1,
    queries: [
      {
        expr: `60 * ${ratePer('account', 'newrelic_exporter_api_throttled_total')}`,
        legend: '{{account}}',
      },
    ],
  }),
  graph({
    title: 'Pauses after 429',
    description: 'How long an account still waits before it sends the next call.',
    unit: 's',
    width: 8,
    softMax: 10,
    queries: [
      {
        expr: `clamp_min(max by (account) (${ofAccount('newrelic_exporter_api_backoff_until_timestamp_seconds')}) - time(), 0)`,
        legend: '{{account}}',
      },
    ],
  }),
];

const durations: readonly Panel[] = [
  graph({
    title: 'Duration of calls',
    description:
      'From the start of sending to the last byte or the failure: half of the calls take less than p50, one in a hundred takes more than p99.',
    unit: 's',
    queries: quantilesOf('newrelic_exporter_api_request_duration_seconds'),
  }),
  graph({
    title: 'Calls in flight',
    description: 'Calls that are waiting for their answer.',
    unit: 'none',
    softMax: 1,
    queries: [
      {
        expr: `sum by (account) (${ofAccount('newrelic_exporter_api_requests_in_flight')})`,
        legend: '{{account}}',
      },
    ],
  }),
];

export const exporterCalls: Row = {
  title: 'Calls to New Relic',
  panels: [...amounts, ...results, ...troubles, ...durations],
};
