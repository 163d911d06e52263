import type { Clock } from '../../model/clock.ts';
import type { Selector } from '../../model/config.ts';
import type { Discovery, HostNames, RequestContext } from '../../model/source.ts';
import type { InvalidSampleReason } from '../../model/telemetry.ts';
import { countingFailures } from '../answer.ts';
import { parseJson } from '../json.ts';
import { documentOf } from './answer.ts';
import { discoverApplications } from './discovery.ts';
import { LookUps } from './findings.ts';
import { createListReader, findHost, type ListDependencies } from './lists.ts';
import { type MetricAnswer, type MetricQuery, metricAnswerOf } from './metric-payload.ts';
import { metricsRequest } from './requests.ts';

export interface RestClientDependencies extends ListDependencies {
  readonly clock: Clock;
}

/**
 * The REST API v2 for one account. The calls for values reject with an `ApiError` or with the
 * signal's reason. The lists keep what they have read.
 */
export interface RestClient {
  /** As `Source.discover`. */
  discover(
    selectors: readonly Selector[],
    knownIds: readonly string[],
    signal: AbortSignal,
  ): Promise<Discovery>;
  hostNames(
    applicationId: string,
    context: RequestContext,
    wanted?: readonly string[],
  ): Promise<HostNames>;
  metrics(
    applicationId: string,
    hostId: string | undefined,
    query: MetricQuery,
    context: RequestContext,
  ): Promise<MetricAnswer>;
}

export function createRestClient(dependencies: RestClientDependencies): RestClient {
  const { send, observer, clock } = dependencies;
  const lists = createListReader(dependencies);
  const lookUps = new LookUps(clock);
  const onInvalid = (reason: InvalidSampleReason): void => {
    observer.invalidSample(reason);
  };

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

    metrics: async (applicationId, hostId, query, { signal, turn, isRepeated }) => {
      const request = metricsRequest(applicationId, hostId, query);
      const subject = { operation: request.operation, applicationId, hostId };
      const response = await send({ ...request, turn, isRepeated }, signal);
      return countingFailures(response, subject, observer, () =>
        metricAnswerOf(documentOf(response, subject, parseJson), query, subject, {
          onInvalid,
          wallMs: clock.wallMs(),
        }),
      );
    },
  };
}
