import type { ThroughputAnswer, ThroughputQuery } from '../model/reading.ts';
import type { Source } from '../model/source.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import type { ApiRequest, Transport } from '../transport/transport.ts';
import { documentOf } from './answer.ts';
import { discoverApplications } from './discovery.ts';
import type { CallSubject } from './failure-of-answer.ts';
import { parseJson } from './json.ts';
import { createListReader } from './lists.ts';
import { throughputAnswerOf } from './metric-payload.ts';
import { applicationThroughputRequest, hostThroughputRequest } from './requests.ts';

export interface RestSourceOptions {
  /** Pages of one list at most: a guard against one that does not end. */
  readonly maxPages: number;
}

/** 200,000 applications: nine times the longest list that anybody reported. */
export const defaultMaxPages = 1000;

export interface RestSourceDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'invalidSample'>;
  readonly logger: Logger;
}

/** The vendor's REST API v2 as a `Source`: one account. */
export function createRestSource(
  options: RestSourceOptions,
  dependencies: RestSourceDependencies,
): Source {
  const { send, observer } = dependencies;
  const lists = createListReader(options, dependencies);

  const throughputOf = async (
    request: ApiRequest,
    subject: CallSubject,
    query: ThroughputQuery,
    signal: AbortSignal,
  ): Promise<ThroughputAnswer> => {
    const document = documentOf(await send(request, signal), subject, parseJson);
    return throughputAnswerOf(document, query, subject, (reason) => {
      observer.invalidSample(reason);
    });
  };

  return {
    discover: async (selectors, signal) =>
      discoverApplications(selectors, async (ids) => lists.applications(ids, signal)),

    hostNames: async (applicationId, signal) => {
      const { items, error } = await lists.hosts(applicationId, signal);
      if (error !== undefined) throw error;
      return new Map(items.map(({ id, name }) => [id, name]));
    },

    applicationThroughput: async (applicationId, query, signal) => {
      const subject = {
        operation: 'application_throughput',
        applicationId,
        hostId: undefined,
      } as const;
      const request = applicationThroughputRequest(applicationId, query);
      return throughputOf(request, subject, query, signal);
    },

    hostThroughput: async (applicationId, hostId, query, signal) => {
      const subject = { operation: 'host_throughput', applicationId, hostId } as const;
      const request = hostThroughputRequest(applicationId, hostId, query);
      return throughputOf(request, subject, query, signal);
    },
  };
}
