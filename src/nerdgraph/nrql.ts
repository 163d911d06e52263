import { transactionTypes } from '../model/application.ts';
import type { TimeWindow } from '../model/window.ts';
import { metricNames } from '../newrelic/metric-names.ts';
import type { Column } from './column-sets.ts';
import { functionTexts } from './nrql-values.ts';

/**
 * Every agent sends this metric once a minute, whatever the application does: a host that has it in a
 * minute was there.
 */
const heartbeatMetric = 'Agent/MetricsReported/count';

/** A FACET query returns this many rows at most. */
export const maxRows = 5000;

/** Which applications are asked about, and which window. */
export interface MetricQuestion {
  readonly applicationIds: readonly string[];
  readonly window: TimeWindow;
}

/** The values of whole applications, and whether they were there. */
export function applicationsNrql(question: MetricQuestion, columns: readonly Column[]): string {
  return metricNrql(question, {
    metrics: [...columns.map(({ metric }) => metric), heartbeatMetric],
    columns,
    facets: ['appId'],
  });
}

/**
 * The values of each host, and whether it was there.
 *
 * @param condition which hosts, as a condition of NRQL; `undefined` for all of them
 */
export function hostsNrql(
  question: MetricQuestion,
  columns: readonly Column[],
  condition: string | undefined,
): string {
  return metricNrql(question, {
    metrics: [...columns.map(({ metric }) => metric), heartbeatMetric],
    columns,
    facets: ['appId', 'host'],
    condition,
  });
}

/**
 * The hosts that were there at any time in the window. Not only by the heartbeat: it is not documented
 * that every agent sends it.
 */
export function liveHostsNrql(question: MetricQuestion, condition: string | undefined): string {
  const metrics = [...transactionTypes.map((type) => metricNames[type]), heartbeatMetric];
  return metricNrql(question, { metrics, facets: ['appId', 'host'], condition });
}

/** Which of these metrics an application had at any time in the window. */
export function recordedMetricsNrql(question: MetricQuestion, metrics: readonly string[]): string {
  return metricNrql(question, { metrics, facets: ['appId', 'metricTimesliceName'] });
}

/**
 * Calls without a host could count as rows that did not fit into the answer: it would look truncated,
 * however it is divided.
 */
const withHost = 'host IS NOT NULL';

interface MetricOptions {
  readonly metrics: readonly string[];
  /** Beside the number of calls. With them comes the heartbeat. */
  readonly columns?: readonly Column[];
  readonly facets: readonly string[];
  readonly condition?: string | undefined;
}

/**
 * The number of all calls comes first: the first function decides which rows an answer has, and what it
 * gives for the others tells whether there are more. `LIMIT MAX` would change with the vendor's maximum.
 * Both ends of the window are stated, because the defaults of NRQL are others than those of the REST API.
 */
function metricNrql({ applicationIds, window }: MetricQuestion, options: MetricOptions): string {
  const { metrics, columns, facets, condition } = options;
  const selected = [
    `${functionTexts.count} AS calls`,
    ...(columns === undefined ? [] : [heartbeatColumn, ...columns].map(columnText)),
  ];
  const conditions = [
    ...(facets.includes('host') ? [withHost] : []),
    `appId IN (${applicationIds.join(',')})`,
    `metricTimesliceName IN (${[...new Set(metrics)].map(nrqlText).join(',')})`,
    ...(condition === undefined ? [] : [condition]),
  ];
  return [
    `SELECT ${selected.join(', ')} FROM Metric`,
    `WHERE ${conditions.join(' AND ')}`,
    `FACET ${facets.join(', ')} LIMIT ${maxRows}`,
    `SINCE ${window.fromMs} UNTIL ${window.toMs}`,
  ].join(' ');
}

/** More than 0 for what was there. */
const heartbeatColumn: Column = { name: 'live', metric: heartbeatMetric, of: 'count' };

function columnText({ name, metric, of }: Column): string {
  const condition = `metricTimesliceName = ${nrqlText(metric)}`;
  return `filter(${functionTexts[of]}, WHERE ${condition}) AS ${name}`;
}

/** A text of NRQL, in single quotes. */
export function nrqlText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
