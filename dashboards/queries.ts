import { words } from './colors.ts';
import { graph, type Panel, table } from './panel.ts';
import { of } from './selectors.ts';

/** Each query of each job, however many exporters ask it. */
const queryLabels = 'cluster, job, account, query';

function perQuery(selected: string, by = queryLabels): string {
  return `max by (${by}) (${selected})`;
}

const success = of.account('newrelic_query_success');
const rows = of.account('newrelic_query_rows');
const answered = of.account('newrelic_query_last_success_timestamp_seconds');
const hasNoValue = `${perQuery(of.account('newrelic_exporter_query_missing'))} == 1`;

/** By the labels of a line: those that failed for the longest part of the range, as many as are chosen. */
const ofLine = 'account, query';
const failedLongest = `and on (${ofLine}) topk($topn, 1 - ${perQuery(`avg_over_time(${success}[$__range] @ end())`, ofLine)})`;

/** What the configuration asks for by NRQL. */
export const queries: readonly Panel[] = [
  table('State of the queries', {
    id: 114,
    description:
      'Each query of the configuration, by its first gauge, those in trouble first: "failing" if the last poll did not get its rows (older values are held for stale_after), "no value" if New Relic has never had a row with a number for it; the rows of the last answer, and how old that is. The status page of the exporter says why.',
    w: 24,
    noRows: 'No query is configured',
    sortBy: { State: 'greatest', 'Last answer': 'greatest' },
    labels: {
      query: { title: 'Query' },
      account: { title: 'Account', width: 160 },
      job: { title: 'Job', width: 170, isLast: true },
      cluster: { title: 'Cluster', width: 110, isLast: true },
    },
    columns: {
      State: {
        width: 110,
        map: words.query,
        expr: `2 + 0 * (${perQuery(success)} == 0) or ${hasNoValue} or 1 - ${perQuery(success)}`,
      },
      Rows: { width: 90, decimals: 0, expr: perQuery(rows) },
      'Last answer': {
        width: 130,
        unit: 'dtdurations',
        decimals: 0,
        map: words.neverPolled,
        expr: `time() - (${perQuery(answered)} or 0 * ${perQuery(success)})`,
      },
    },
  }),
  graph('Age of the last answer', {
    description:
      'How long ago each query last got its rows, of those that failed for the longest part of the shown range. While a query fails, its line rises.',
    unit: 's',
    lines: { '{{account}}: {{query}}': `time() - ${perQuery(answered, ofLine)} ${failedLongest}` },
  }),
  graph('Rows by query', {
    description:
      'Rows of the last answer, of the queries that had the most in the shown range. New Relic gives no more than LIMIT says, and ten of a FACET without it.',
    decimals: 0,
    lines: {
      '{{account}}: {{query}}': `${perQuery(rows, ofLine)} and on (${ofLine}) topk($topn, ${perQuery(`max_over_time(${rows}[$__range] @ end())`, ofLine)})`,
    },
  }),
];
