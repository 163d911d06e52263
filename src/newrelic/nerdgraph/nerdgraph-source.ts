import type { Clock } from '../../model/clock.ts';
import { isWorthPolling } from '../../model/selected-application.ts';
import type { CallCosts, Source } from '../../model/source.ts';
import type { ApiObserver, Logger } from '../../model/telemetry.ts';
import type { Transport } from '../calls/transport.ts';
import type { InvalidSampleListener } from '../json.ts';
import { createDiscover } from './discovery.ts';
import { createGraphqlClient } from './graphql-client.ts';
import { listHosts } from './host-list.ts';
import { NerdGraphBatch } from './nerdgraph-batch.ts';
import { pollWindow } from './nrql.ts';
import { batchesOf, type DivisionOf, queriesOf } from './query-plan.ts';
import { QuerySizes, undivided } from './query-sizes.ts';
import { SeenMetrics } from './seen-metrics.ts';
import { createUnexpectedAnswers } from './unexpected-answers.ts';

export interface NerdGraphSourceOptions {
  /** The account's name, for the log. */
  readonly account: string;
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
  /** New Relic's wall time, which this machine's may differ from. */
  readonly vendorWallMs: () => number;
}

/** Entities on a page. */
const perPage = 200;
/**
 * NerdGraph for one account. Up to 200 applications are asked for in one query, and their hosts in a few
 * more, each query in a request of its own. The answers name the hosts.
 */
export function createNerdGraphSource(
  { account, accountId, timeoutMs }: NerdGraphSourceOptions,
  { send, observer, logger, clock, vendorWallMs }: NerdGraphSourceDependencies,
): Source {
  const unexpected = createUnexpectedAnswers(account, { observer, logger });
  const client = createGraphqlClient({ accountId, timeoutMs }, { send, observer, unexpected });
  const onInvalid: InvalidSampleListener = (reason) => observer.invalidSample(reason);
  const sizes = new QuerySizes(clock);
  const seen = new SeenMetrics();
  const discover = createDiscover(accountId, { client, unexpected, clock, wallMs: vendorWallMs });
  const polling = { client, sizes, seen, unexpected, onInvalid };

  return {
    costs: createNerdGraphCosts((id) => sizes.divisionOf(id)),
    onCostsChange: (listener) => sizes.onChange(listener),
    listsHosts: false,
    sharesCalls: true,
    discover: async (selectors, knownIds, signal, tags) => {
      const discovery = await discover(selectors, knownIds, signal, tags);
      if (discovery.complete) {
        const ids = [...discovery.applications.map(({ id }) => id), ...discovery.unreadableIds];
        seen.keepOnly(new Set(ids));
        sizes.keepOnly(new Set(ids));
      }
      return discovery;
    },
    hostNames: async (applicationId, signal) =>
      listHosts(applicationId, { client, wallMs: vendorWallMs, signal }),
    batches: (due, early) =>
      batchesOf(due, early).map((batch) => new NerdGraphBatch(batch, polling)),
    query: async (query, context) =>
      client.query(query, pollWindow(query.poll, context.wallMs), context),
  };
}

/** What NerdGraph costs while no query has to be divided. */
export const nerdGraphCosts: CallCosts = createNerdGraphCosts(() => undivided);

/** The number of queries, by the same functions that make them. */
function createNerdGraphCosts(divisionOf: DivisionOf): CallCosts {
  return {
    polls: (applications) => {
      const polled = applications.filter(isWorthPolling).map((selected) => ({ selected }));
      const queries = batchesOf(polled).flatMap((batch) => queriesOf(batch, divisionOf));
      const ofHosts = queries.filter(({ subject }) => subject === 'hosts').length;
      return {
        list_applications: 0,
        list_hosts: 0,
        application_metrics: queries.length - ofHosts,
        host_metrics: ofHosts,
        query: 0,
      };
    },
    firstPollOperation: 'application_metrics',
    once: () => 0,
    discovery: (applications) => ({ calls: Math.max(1, Math.ceil(applications.length / perPage)) }),
    // Not measured on the real API: a query may take 5 s there by default.
    usualCallMs: { mean: 1000, most: 3000 },
  };
}
