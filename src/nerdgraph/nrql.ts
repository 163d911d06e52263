import type { TransactionType } from '../model/application.ts';
import { transactionTypes } from '../model/application.ts';
import type { TimeWindow } from '../model/window.ts';
import { metricNames } from '../newrelic/metric-names.ts';

/**
 * Every agent sends this metric once a minute, whatever the application does: a host that has it in a
 * minute was there.
 */
export const heartbeatMetric = 'Agent/MetricsReported/count';

/** A FACET query returns this many rows at most. */
export const maxRows = 5000;

/** What is counted, of which applications, and in which window. */
export interface CountQuestion {
  readonly applicationIds: readonly string[];
  readonly window: TimeWindow;
}

/** The calls of whole applications, and whether they were there. */
export function applicationsNrql(
  question: CountQuestion,
  transactions: readonly TransactionType[],
): string {
  return countNrql(question, {
    metrics: [...transactions.map((type) => metricNames[type]), heartbeatMetric],
    facets: ['appId', 'metricTimesliceName'],
  });
}

/**
 * The calls of each host, and whether it was there.
 *
 * @param condition which hosts, as a condition of NRQL; `undefined` for all of them
 */
export function hostsNrql(
  question: CountQuestion,
  transactions: readonly TransactionType[],
  condition: string | undefined,
): string {
  return countNrql(question, {
    metrics: [...transactions.map((type) => metricNames[type]), heartbeatMetric],
    facets: ['appId', 'host', 'metricTimesliceName'],
    condition,
  });
}

/**
 * The hosts that were there at any time in the window. Not only by the heartbeat: it is not documented
 * that every agent sends it.
 */
export function liveHostsNrql(question: CountQuestion, condition: string | undefined): string {
  const metrics = [...transactionTypes.map((type) => metricNames[type]), heartbeatMetric];
  return countNrql(question, { metrics, facets: ['appId', 'host'], condition });
}

/** Which of the throughput metrics an application had at any time in the window. */
export function recordedMetricsNrql(question: CountQuestion): string {
  return countNrql(question, {
    metrics: transactionTypes.map((type) => metricNames[type]),
    facets: ['appId', 'metricTimesliceName'],
  });
}

/**
 * Calls without a host could count as rows that did not fit into the answer: it would look truncated,
 * however it is divided.
 */
const withHost = 'host IS NOT NULL';

interface CountOptions {
  readonly metrics: readonly string[];
  readonly facets: readonly string[];
  readonly condition?: string | undefined;
}

/**
 * `LIMIT MAX` would change with the vendor's maximum. Both ends of the window are stated, because the
 * defaults of NRQL are others than those of the REST API.
 */
function countNrql({ applicationIds, window }: CountQuestion, options: CountOptions): string {
  const conditions = [
    ...(options.facets.includes('host') ? [withHost] : []),
    `appId IN (${applicationIds.join(',')})`,
    `metricTimesliceName IN (${options.metrics.map(nrqlText).join(',')})`,
    ...(options.condition === undefined ? [] : [options.condition]),
  ];
  return [
    'SELECT count(newrelic.timeslice.value) AS calls FROM Metric',
    `WHERE ${conditions.join(' AND ')}`,
    `FACET ${options.facets.join(', ')} LIMIT ${maxRows}`,
    `SINCE ${window.fromMs} UNTIL ${window.toMs}`,
  ].join(' ');
}

/** A text of NRQL, in single quotes. */
export function nrqlText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
