import type { Clock } from '../model/clock.ts';
import type { ThroughputAnswer, ThroughputQuery } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { ApiObserver, InvalidSampleReason, Logger } from '../model/telemetry.ts';
import type { ApiResponse, Transport } from '../transport/transport.ts';
import { type CallSubject, countingFailures, documentOf } from './answer.ts';
import { discoverApplications } from './discovery.ts';
import { createLookUps } from './findings.ts';
import { parseJson } from './json.ts';
import { createListReader, findHost } from './lists.ts';
import { throughputAnswerOf } from './metric-payload.ts';
import { createThroughputRequests } from './requests.ts';

export interface RestSourceOptions {
  /** Pages of one list at most: a guard against one that does not end. */
  readonly maxPages: number;
}

/** 200,000 applications: nine times the longest list that anybody reported. */
export const defaultMaxPages = 1000;

export interface RestSourceDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'invalidSample' | 'failed'>;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The vendor's REST API v2 as a `Source`: one account. */
export function createRestSource(
  options: RestSourceOptions,
  dependencies: RestSourceDependencies,
): Source {
  const { send, observer, clock } = dependencies;
  const lists = createListReader(options, dependencies);
  const lookUps = createLookUps({ clock });

  const requests = createThroughputRequests();
  const onInvalid = (reason: InvalidSampleReason): void => {
    observer.invalidSample(reason);
  };

  const throughputOf = (
    response: ApiResponse,
    subject: CallSubject,
    query: ThroughputQuery,
  ): ThroughputAnswer =>
    countingFailures(response, subject, observer, () =>
      throughputAnswerOf(documentOf(response, subject, parseJson), query, subject, {
        onInvalid,
        wallMs: clock.wallMs(),
      }),
    );

  return {
    discover: async (selectors, knownIds, signal) =>
      discoverApplications(
        { selectors, knownIds, signal },
        { lookUps, read: async (ids) => lists.applications(ids, signal) },
      ),

    hostNames: async (applicationId, signal, onWire, wanted) => {
      if (wanted !== undefined) return findHost(lists, { applicationId, wanted, onWire }, signal);
      const { items, error, calls } = await lists.hosts(applicationId, signal, { onWire });
      return { names: new Map(items.map(({ id, name }) => [id, name])), error, calls };
    },

    applicationThroughput: async (applicationId, query, signal, onWire) => {
      const subject = {
        operation: 'application_throughput',
        applicationId,
        hostId: undefined,
      } as const;
      const response = await send(requests.application(applicationId, query, onWire), signal);
      return throughputOf(response, subject, query);
    },

    hostThroughput: async (applicationId, hostId, query, signal, onWire) => {
      const subject = { operation: 'host_throughput', applicationId, hostId } as const;
      const response = await send(requests.host(applicationId, hostId, query, onWire), signal);
      return throughputOf(response, subject, query);
    },
  };
}
