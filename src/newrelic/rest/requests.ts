import { ApiError } from '../../model/api-error.ts';
import type { MetricListQuestion } from '../../model/metric-list.ts';
import type { PolledSeries } from '../../model/polled-series.ts';
import { countedBy, type ValueName } from '../../model/vendor-value.ts';
import { isEntityId, minuteTextOf } from '../json.ts';
import type { RestRequest } from './answer.ts';
import type { MetricQuery } from './metric-payload.ts';

/**
 * Asks for the applications of the account; with `ids` only for those. Every page is asked for with
 * the same query: the vendor does not say whether its own links to further pages keep a filter.
 */
export function applicationsRequest(ids: readonly string[] | undefined, page: number): RestRequest {
  const filter =
    ids === undefined
      ? []
      : [parameterOf('filter[ids]', ids.map((id) => digitsOf('application', id)).join(','))];
  return {
    operation: 'list_applications',
    target: `/v2/applications.json${queryOf([...filter, ...pageOf(page)])}`,
    answerSize: 'large',
  };
}

// Names are a convenience that must not delay values. This is the limit for each page.
const hostsTimeoutMs = 10_000;

/**
 * Asks for the hosts of one application, with their names; with `hostName` only for those whose
 * names contain it.
 */
export function hostsRequest(applicationId: string, page: number, hostName?: string): RestRequest {
  const filter = hostName === undefined ? [] : [parameterOf('filter[hostname]', hostName)];
  return {
    operation: 'list_hosts',
    applicationId,
    target: `${pathOf(applicationId)}/hosts.json${queryOf([...filter, ...pageOf(page)])}`,
    answerSize: 'medium',
    timeoutMs: hostsTimeoutMs,
    // Nobody waits for names.
    isOptional: true,
  };
}

export function metricNamesRequest(
  { applicationId, hostId, like }: MetricListQuestion,
  page: number,
): RestRequest {
  const filter = like === undefined ? [] : [parameterOf('name', like)];
  return {
    operation: 'list_metrics',
    applicationId,
    hostId,
    target: `${pathOf(applicationId, hostId)}/metrics.json${queryOf([...filter, ...pageOf(page)])}`,
    answerSize: 'large',
  };
}

/** Asks for the values of an application, or of one of its hosts: all of them in one call. */
export function metricsRequest(
  applicationId: string,
  hostId: string | undefined,
  asked: MetricQuery,
): RestRequest {
  const query = queryOf(metricParametersOf(asked));
  return {
    operation: hostId === undefined ? 'application_metrics' : 'host_metrics',
    applicationId,
    hostId,
    target: `${pathOf(applicationId, hostId)}/metrics/data.json${query}`,
  };
}

/** Each once: the query asks for each value of each metric. */
export function seriesParametersOf(series: readonly PolledSeries[]): string[] {
  const names = new Set(series.map(({ metric }) => metric));
  const values = new Set(series.flatMap(valuesOf));
  return [
    ...[...names].map((name) => parameterOf('names[]', name)),
    ...[...values].map((value) => parameterOf('values[]', value)),
  ];
}

/** The values to ask for: that of the series, and the one that says whether there were calls. */
export function valuesOf({ value }: Pick<PolledSeries, 'value'>): readonly ValueName[] {
  const counter = countedBy[value];
  return counter === undefined ? [value] : [value, counter];
}

function metricParametersOf({ series, window, raw }: MetricQuery): string[] {
  return [
    ...seriesParametersOf(series),
    parameterOf('summarize', 'true'),
    ...(window === undefined
      ? []
      : [
          parameterOf('from', minuteTextOf(window.fromMs)),
          parameterOf('to', minuteTextOf(window.toMs)),
        ]),
    ...(raw ? [parameterOf('raw', 'true')] : []),
  ];
}

function pageOf(page: number): string[] {
  return page === 1 ? [] : [parameterOf('page', String(page))];
}

function queryOf(parameters: readonly string[]): string {
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

/** Not `URLSearchParams`: that writes a space as a raw `+`. */
function parameterOf(name: string, value: string): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
}

function pathOf(applicationId: string, hostId?: string): string {
  const host = hostId === undefined ? '' : `/hosts/${digitsOf('host', hostId)}`;
  return `/v2/applications/${digitsOf('application', applicationId)}${host}`;
}

function digitsOf(kind: 'application' | 'host', id: string): string {
  if (isEntityId(id)) return id;
  throw new ApiError(
    'client',
    `The ${kind} id ${JSON.stringify(id.slice(0, 40))} is not a number, so nothing was asked for. ` +
      'Use the numeric id that New Relic shows.',
  );
}
