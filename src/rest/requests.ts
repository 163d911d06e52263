import { ApiError } from '../model/api-error.ts';
import type { MetricListQuestion } from '../model/metric-list.ts';
import type { CallContext } from '../model/source.ts';
import { isEntityId, minuteTextOf } from '../newrelic/json.ts';
import type { ApiRequest, ApiResponse, Transport } from '../transport/transport.ts';
import { valuesOf } from './call-groups.ts';
import type { MetricQuery } from './metric-payload.ts';

/**
 * Asks for the applications of the account; with `ids` only for those. Every page is asked for with
 * the same query: the vendor does not say whether its own links to further pages keep a filter.
 */
export function applicationsRequest(ids: readonly string[] | undefined, page: number): ApiRequest {
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
export function hostsRequest(applicationId: string, page: number, hostName?: string): ApiRequest {
  const filter = hostName === undefined ? [] : [parameterOf('filter[hostname]', hostName)];
  return {
    operation: 'list_hosts',
    target: `${pathOf(applicationId)}/hosts.json${queryOf([...filter, ...pageOf(page)])}`,
    answerSize: 'medium',
    timeoutMs: hostsTimeoutMs,
    // Nobody waits for names.
    isOptional: true,
  };
}

/** Asks for the names of the metrics of an application, or of one of its hosts. */
export function metricNamesRequest(
  { applicationId, hostId, like }: MetricListQuestion,
  page: number,
): ApiRequest {
  const filter = like === undefined ? [] : [parameterOf('name', like)];
  const host = hostId === undefined ? '' : `/hosts/${digitsOf('host', hostId)}`;
  return {
    operation: 'list_metrics',
    target: `${pathOf(applicationId)}${host}/metrics.json${queryOf([...filter, ...pageOf(page)])}`,
    answerSize: 'large',
  };
}

/** The requests for values: all of them in one call. */
export interface MetricRequests {
  application(applicationId: string, query: MetricQuery): ApiRequest;
  /** One host of an application. */
  host(applicationId: string, hostId: string, query: MetricQuery): ApiRequest;
}

export function createMetricRequests(): MetricRequests {
  // A poll uses one query for its application and for each of its hosts: it is written out once.
  const written = new WeakMap<MetricQuery, string>();
  /** Every poll asks for the same values. */
  const writtenSeries = new WeakMap<MetricQuery['series'], string>();

  const pathEndOf = (query: MetricQuery): string => {
    const known = written.get(query);
    if (known !== undefined) return known;
    const { series } = query;
    const parameters = writtenSeries.get(series) ?? seriesParametersOf(series);
    writtenSeries.set(series, parameters);
    const pathEnd = `/metrics/data.json?${parameters}${windowParametersOf(query)}`;
    written.set(query, pathEnd);
    return pathEnd;
  };

  return {
    application: (applicationId, query) => ({
      operation: 'application_metrics',
      target: pathOf(applicationId) + pathEndOf(query),
    }),
    host: (applicationId, hostId, query) => ({
      operation: 'host_metrics',
      target: `${pathOf(applicationId)}/hosts/${digitsOf('host', hostId)}${pathEndOf(query)}`,
    }),
  };
}

function seriesParametersOf(series: MetricQuery['series']): string {
  const names = new Set(series.map(({ metric }) => metric));
  const values = new Set(series.flatMap(valuesOf));
  return [
    ...[...names].map((name) => parameterOf('names[]', name)),
    ...[...values].map((value) => parameterOf('values[]', value)),
    parameterOf('summarize', 'true'),
  ].join('&');
}

/** To be appended to others. */
function windowParametersOf({ window, raw }: MetricQuery): string {
  const parameters =
    window === undefined
      ? []
      : [
          parameterOf('from', minuteTextOf(window.fromMs)),
          parameterOf('to', minuteTextOf(window.toMs)),
        ];
  if (raw) parameters.push(parameterOf('raw', 'true'));
  return parameters.map((parameter) => `&${parameter}`).join('');
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

function pathOf(applicationId: string): string {
  return `/v2/applications/${digitsOf('application', applicationId)}`;
}

function digitsOf(kind: 'application' | 'host', id: string): string {
  if (isEntityId(id)) return id;
  throw new ApiError(
    'client',
    `The ${kind} id ${JSON.stringify(id.slice(0, 40))} is not a number, so nothing was asked for. ` +
      'Use the numeric id that New Relic shows.',
  );
}

/** What a request needs to know about the call that it belongs to. */
export type RequestContext = Pick<CallContext, 'signal' | 'turn'>;

/** Sends a request as part of a call. */
export type SendIn = (context: RequestContext, request: ApiRequest) => Promise<ApiResponse>;

export function sendingBy(send: Transport): SendIn {
  return async ({ signal, turn }, request) => send({ ...request, turn }, signal);
}
