import { ApiError } from '../../model/api-error.ts';
import type { PolledSeries } from '../../model/polled-series.ts';
import { countedBy, type ValueName } from '../../model/vendor-value.ts';
import { isEntityId, minuteTextOf } from '../answer.ts';
import type { RestRequest } from './answer.ts';
import type { MetricQuery } from './metric-payload.ts';

/** A parameter of a query; left out without a value. */
type Parameter = readonly [name: string, value: string | undefined];

/**
 * Asks for the applications of the account; with `ids` only for those. Every page is asked for with
 * the same query: the vendor does not say whether its own links to further pages keep a filter.
 */
export function applicationsRequest(ids: readonly string[] | undefined, page: number): RestRequest {
  const wanted = ids?.map((id) => digitsOf('application', id)).join(',');
  return {
    operation: 'list_applications',
    target: `/v2/applications.json${queryText([['filter[ids]', wanted], pageOf(page)])}`,
    answerSize: 'large',
  };
}

// Names are a convenience that must not delay values. This is the limit for each page.
const hostsTimeoutMs = 10_000;

/** Asks for the names of an application's hosts; with `hostName` only for those that contain it. */
export function hostsRequest(applicationId: string, page: number, hostName?: string): RestRequest {
  const query = queryText([['filter[hostname]', hostName], pageOf(page)]);
  return {
    operation: 'list_hosts',
    applicationId,
    target: `${targetOf(applicationId)}/hosts.json${query}`,
    answerSize: 'medium',
    timeoutMs: hostsTimeoutMs,
    // Nobody waits for names.
    mayRetry: false,
  };
}

/** Asks for the values of an application, or of one of its hosts: all of them in one call. */
export function metricsRequest(
  applicationId: string,
  hostId: string | undefined,
  { series, window, raw }: MetricQuery,
): RestRequest {
  const query = queryText([
    ...seriesParametersOf(series),
    ['summarize', 'true'],
    ['from', window && minuteTextOf(window.fromMs)],
    ['to', window && minuteTextOf(window.toMs)],
    ['raw', raw ? 'true' : undefined],
  ]);
  return {
    operation: hostId === undefined ? 'application_metrics' : 'host_metrics',
    applicationId,
    hostId,
    target: `${targetOf(applicationId, hostId)}/metrics/data.json${query}`,
  };
}

/** How many characters of a query these series take. */
export function queryLengthOf(series: readonly PolledSeries[]): number {
  return queryText(seriesParametersOf(series)).length;
}

/** Each once: the query asks for each value of each metric. */
function seriesParametersOf(series: readonly PolledSeries[]): readonly Parameter[] {
  const names = new Set(series.map(({ metric }) => metric));
  const values = new Set(series.flatMap(valuesOf));
  return [
    ...Array.from(names, (name) => ['names[]', name] as const),
    ...Array.from(values, (value) => ['values[]', value] as const),
  ];
}

/** The values to ask for: that of the series, and the one that says whether there were calls. */
export function valuesOf({ value }: PolledSeries): readonly ValueName[] {
  const counter = countedBy[value];
  return counter === undefined ? [value] : [value, counter];
}

export function pageOf(page: number): Parameter {
  return ['page', page === 1 ? undefined : String(page)];
}

/** Not `URLSearchParams`: that writes a space as a raw `+`. */
export function queryText(parameters: readonly Parameter[]): string {
  const texts = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return texts.length === 0 ? '' : `?${texts.join('&')}`;
}

export function targetOf(applicationId: string, hostId?: string): string {
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
