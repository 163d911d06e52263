import type { Clock } from '../model/clock.ts';
import type { Selector } from '../model/config.ts';
import type { Discovery, HostNames } from '../model/source.ts';
import type { ApiObserver, InvalidSampleReason, Logger } from '../model/telemetry.ts';
import { type CallSubject, countingFailures, documentOf } from '../newrelic/answer.ts';
import { parseJson } from '../newrelic/json.ts';
import type { ApiResponse, Transport } from '../transport/transport.ts';
import { discoverApplications } from './discovery.ts';
import { createLookUps } from './findings.ts';
import { createListReader, findHost } from './lists.ts';
import { type MetricAnswer, type MetricQuery, metricAnswerOf } from './metric-payload.ts';
import { createMetricRequests, type RequestContext, sendingBy } from './requests.ts';

export interface RestClientOptions {
  /** Pages of one list at most: a guard against one that does not end. */
  readonly maxPages: number;
}

/** Enough for 200,000 applications: nine times the longest list that anybody has reported. */
export const defaultMaxPages = 1000;

export interface RestClientDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'invalidSample' | 'failed'>;
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * The REST API v2 for one account. The throughput calls reject with an `ApiError` or with the
 * signal's reason. The lists keep what they have read.
 */
export interface RestClient {
  /** As `Source.discover`. */
  discover(
    selectors: readonly Selector[],
    knownIds: readonly string[],
    signal: AbortSignal,
  ): Promise<Discovery>;
  /** As `Source.hostNames`. */
  hostNames(
    applicationId: string,
    context: RequestContext,
    wanted?: readonly string[],
  ): Promise<HostNames>;
  applicationMetrics(
    applicationId: string,
    query: MetricQuery,
    context: RequestContext,
  ): Promise<MetricAnswer>;
  hostMetrics(
    applicationId: string,
    hostId: string,
    query: MetricQuery,
    context: RequestContext,
  ): Promise<MetricAnswer>;
}

export function createRestClient(
  options: RestClientOptions,
  dependencies: RestClientDependencies,
): RestClient {
  const { observer, clock } = dependencies;
  const sendIn = sendingBy(dependencies.send);
  const lists = createListReader(options, dependencies);
  const lookUps = createLookUps({ clock });

  const requests = createMetricRequests();
  const onInvalid = (reason: InvalidSampleReason): void => {
    observer.invalidSample(reason);
  };

  const throughputOf = (
    response: ApiResponse,
    subject: CallSubject,
    query: MetricQuery,
  ): MetricAnswer =>
    countingFailures(response, subject, observer, () =>
      metricAnswerOf(documentOf(response, subject, parseJson), query, subject, {
        onInvalid,
        wallMs: clock.wallMs(),
      }),
    );

  return {
    discover: async (selectors, knownIds, signal) =>
      discoverApplications(
        { selectors, knownIds, signal },
        { lookUps, read: async (ids) => lists.applications(ids, { signal }) },
      ),

    hostNames: async (applicationId, context, wanted) => {
      if (wanted !== undefined) return findHost(lists, { applicationId, wanted }, context);
      const { items, error, calls } = await lists.hosts({ applicationId }, context);
      return { names: new Map(items.map(({ id, name }) => [id, name])), error, calls };
    },

    applicationMetrics: async (applicationId, query, context) => {
      const operation = 'application_metrics';
      const response = await sendIn(context, requests.application(applicationId, query));
      return throughputOf(response, { operation, applicationId, hostId: undefined }, query);
    },

    hostMetrics: async (applicationId, hostId, query, context) => {
      const operation = 'host_metrics';
      const response = await sendIn(context, requests.host(applicationId, hostId, query));
      return throughputOf(response, { operation, applicationId, hostId }, query);
    },
  };
}
