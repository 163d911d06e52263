import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { reasonColors } from './overrides.ts';
import type { Panel } from './panel.ts';
import { quantilesOf, ratePer } from './rates.ts';
import { ofAccount } from './selectors.ts';

const sameAccount = 'cluster, job, instance, account';

function perExporter(metric: string): string {
  return `max by (${sameAccount}) (${ofAccount(metric)})`;
}

const requests = 'newrelic_exporter_api_requests_total';
const failures = 'newrelic_exporter_api_request_failures_total';
/** Also 0 of what is over: a name in the legend must not look as if it went on. */
const failed = `60 * ${ratePer('reason', failures)} and on (reason) sum by (reason) (increase(${ofAccount(failures)}[$__range] @ end())) > 0`;
const sent = `60 * ${ratePer(sameAccount, requests)}`;
const demand = perExporter('newrelic_exporter_api_demand_requests_per_minute');
const budget = perExporter('newrelic_exporter_api_budget_requests_per_minute');

/** The calls that the intervals ask for, as a share of the budget; of each exporter and account. */
export const budgetNeeded: string = `${demand} / ${budget}`;
/** From here on intervals are stretched, as the alert NewRelicExporterBudgetTooSmall has it. */
export const fullBudget = 0.985;

const amounts: readonly Panel[] = [
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
    id: 106,
    title: 'Failed calls by reason',
    description:
      'Calls a minute that failed, by each reason there was in the shown range; "none" if none did. docs/troubleshooting.md explains the reasons.',
    unit: 'cpm',
    width: 8,
    isStacked: true,
    softMax: 1,
    overrides: reasonColors,
    queries: [
      {
        expr: `(${failed}) or label_replace(0 * count(${ratePer('account', requests)}) unless on () (${failed}), "reason", "none", "", "")`,
        legend: '{{reason}}',
      },
    ],
  }),
];

const troubles: readonly Panel[] = [
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
];

const durations: readonly Panel[] = [
  graph({
    title: 'Duration of calls',
    width: 8,
    description:
      'From the start of sending to the last byte or the failure: half of the calls take less than p50, one in a hundred takes more than p99.',
    unit: 's',
    queries: quantilesOf('newrelic_exporter_api_request_duration_seconds'),
  }),
];

export const exporterCalls: Row = {
  title: 'Calls to New Relic',
  panels: [...amounts, ...results, ...troubles, ...durations],
};
