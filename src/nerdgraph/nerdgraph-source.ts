import type { Clock } from '../model/clock.ts';
import { isWorthPolling, type SelectedApplication } from '../model/selected-application.ts';
import type { CallCosts, HostNames, Source } from '../model/source.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import type { Transport } from '../transport/transport.ts';
import { createDiscover } from './discovery.ts';
import { createGraphqlClient } from './graphql-client.ts';
import { hostListCalls } from './host-list.ts';
import { createNerdGraphBatch } from './nerdgraph-batch.ts';
import {
  applicationQueriesOf,
  batchesOf,
  fillUp,
  hostQueriesOf,
  ofQuestion,
  wantedHosts,
} from './query-plan.ts';
import { createQuerySizes, fullSize, type QuerySize } from './query-sizes.ts';
import { createRecordedMetrics } from './recorded-metrics.ts';
import { createSurprises } from './surprises.ts';

export interface NerdGraphSourceOptions {
  readonly accountId: number;
  /** How long a whole call may take. */
  readonly timeoutMs: () => number;
}

export interface NerdGraphSourceDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'failed' | 'invalidSample' | 'unexpected'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The vendor's wall time. Default: the wall time of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
}

/** Entities on a page. */
const perPage = 200;
/** Enough for 200,000 applications. */
const maxPages = 1000;
/** New Relic's data has a resolution of one minute: nobody needs half of that more often. */
const gatherMs = 30_000;

/**
 * NerdGraph for one account. Up to 200 applications are asked for in one query, and their hosts in a few
 * more, each query in a request of its own.
 */
export function createNerdGraphSource(
  { accountId, timeoutMs }: NerdGraphSourceOptions,
  dependencies: NerdGraphSourceDependencies,
): Source {
  const { send, observer, logger, clock } = dependencies;
  const surprises = createSurprises({ observer, logger });
  const client = createGraphqlClient({ accountId, timeoutMs }, { send, observer, surprises });
  const sizes = createQuerySizes({ clock });
  const recorded = createRecordedMetrics();
  const wallMs = dependencies.vendorWallMs ?? ((): number => clock.wallMs());
  const discover = createDiscover({ accountId, maxPages }, { client, sizes, surprises, wallMs });
  let hostNames: ReadonlyMap<string, HostNames> = new Map();

  return {
    costs: createNerdGraphCosts(() => sizes.current()),
    gatherMs,
    discover: async (selectors, knownIds, signal) => {
      const discovery = await discover({ selectors, knownIds, signal });
      hostNames = new Map(
        discovery.applications.map(({ id, hostIds }) => [id, namesOf(hostIds ?? [])]),
      );
      if (discovery.complete) recorded.keepOnly(new Set(hostNames.keys()));
      return discovery;
    },
    // The discovery has listed them: in this API the name of a host is its id.
    hostNames: async (applicationId) => hostNames.get(applicationId) ?? namesOf([]),
    batches: (due, early) => {
      const size = sizes.current();
      const batches = batchesOf(due, ofQuestion, size);
      fillUp(batches, early, ofQuestion, size);
      const parts = { client, sizes, recorded, surprises };
      return batches.map((batch) => createNerdGraphBatch(batch, parts));
    },
  };
}

function itself(selected: SelectedApplication): SelectedApplication {
  return selected;
}

function namesOf(hostIds: readonly string[]): HostNames {
  return { names: new Map(hostIds.map((name) => [name, name])), error: undefined, calls: 0 };
}

/** What NerdGraph costs with queries of full size. */
export const nerdGraphCosts: CallCosts = createNerdGraphCosts(() => fullSize);

/** The number of queries, by the same functions that make them. */
export function createNerdGraphCosts(sizeNow: () => QuerySize): CallCosts {
  return {
    polls: (applications) => {
      const size = sizeNow();
      const batches = batchesOf(applications.filter(isWorthPolling), itself, size);
      const queries = (of: (batch: readonly SelectedApplication[]) => readonly unknown[]): number =>
        batches.reduce((sum, batch) => sum + of(batch).length, 0);
      return {
        list_applications: 0,
        list_hosts: 0,
        application_throughput: queries((batch) => applicationQueriesOf(batch, itself, size)),
        host_throughput: queries((batch) => hostQueriesOf(batch, itself, size)),
      };
    },
    // Which metrics an application has at all: asked once, with its first poll.
    onceOperation: 'application_throughput',
    once: (applications) => {
      const size = sizeNow();
      const asked = applications.filter(
        (one) => one.entry.application || wantedHosts(one).length > 0,
      );
      return batchesOf(asked, itself, size).length;
    },
    discovery: (applications) => {
      const size = sizeNow();
      const hosts = applications
        .filter(({ application }) => application.reporting !== false)
        .map(({ application }) => application.hostIds?.length ?? 0);
      const pages = Math.max(1, Math.ceil(applications.length / perPage));
      // An empty list is confirmed.
      return pages + (applications.length === 0 ? 1 : hostListCalls(hosts, size));
    },
    // Not measured on the real API: a query may take 5 s there by default.
    usualCallMs: { mean: 1000, most: 5000 },
  };
}
