import { transactionMetrics } from '../../model/presets.ts';
import type { TimeWindow } from '../../model/window.ts';
import { functionTexts, type TimesliceFunction } from './nrql-values.ts';

/**
 * Every agent sends this metric once a minute, whatever the application does: a host that has it in a
 * minute was there.
 */
const heartbeatMetric = 'Agent/MetricsReported/count';

/** A FACET query returns this many rows at most. */
export const maxRows = 5000;

/** What a row is about: an application, or one of its hosts. */
export type Facets = readonly ['appId'] | readonly ['appId', 'host'];

export const applicationFacets: Facets = ['appId'];
export const hostFacets: Facets = ['appId', 'host'];

/** A column of a query: a function of one metric. */
export interface MetricColumn {
  readonly name: string;
  readonly metric: string;
  readonly of: TimesliceFunction;
}

/** What one query asks for. */
export interface MetricQuestion {
  readonly applicationIds: readonly string[];
  readonly window: TimeWindow;
  readonly facets: Facets;
  /** Beside the number of calls and the heartbeat. */
  readonly columns: readonly MetricColumn[];
  /** Which hosts, as a condition of NRQL; `undefined` for all of them. */
  readonly condition?: string | undefined;
}

/**
 * Calls without a host could count as rows that did not fit into the answer: it would look truncated,
 * however it is divided.
 */
const withHost = 'host IS NOT NULL';

/**
 * The values of applications or hosts, and whether they were there. The number of all calls comes first:
 * the first function decides which rows an answer has, and its sums tell whether they are all there.
 * `LIMIT MAX` would change with the vendor's maximum. Both ends of the window are stated, because the
 * defaults of NRQL are others than those of the REST API.
 */
export function metricsNrql(question: MetricQuestion): string {
  const { applicationIds, window, facets, columns, condition } = question;
  const all = [heartbeatColumn, ...columns];
  const metrics = new Set([...columns, heartbeatColumn].map(({ metric }) => metric));
  const conditions = [
    ...(facets.length > 1 ? [withHost] : []),
    `appId IN (${applicationIds.join(',')})`,
    `metricTimesliceName IN (${[...metrics].map(nrqlText).join(',')})`,
    ...(condition === undefined ? [] : [condition]),
  ];
  return [
    `SELECT ${[`${functionTexts.count} AS calls`, ...all.map(columnText)].join(', ')} FROM Metric`,
    `WHERE ${conditions.join(' AND ')}`,
    `FACET ${facets.join(', ')} LIMIT ${maxRows}`,
    `SINCE ${window.fromMs} UNTIL ${window.toMs}`,
  ].join(' ');
}

/**
 * What a host has that was there. Not only the heartbeat: it is not documented that every agent sends it.
 */
export const liveColumns: readonly MetricColumn[] = Object.values(transactionMetrics).map(
  (metric, index) => ({ name: `c${index + 1}`, metric, of: 'count' }),
);

/** More than 0 for what was there. */
const heartbeatColumn: MetricColumn = { name: 'live', metric: heartbeatMetric, of: 'count' };

export function columnText({ name, metric, of }: MetricColumn): string {
  const condition = `metricTimesliceName = ${nrqlText(metric)}`;
  return `filter(${functionTexts[of]}, WHERE ${condition}) AS ${name}`;
}

/** The hosts with one of these names, whatever the case that New Relic writes them in. */
export function hostCondition(names: readonly string[]): string {
  const spelt = new Set(names.flatMap((name) => [name, name.toLowerCase()]));
  return `host IN (${[...spelt].map(nrqlText).join(',')})`;
}

/** A text of NRQL, in single quotes. */
export function nrqlText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
