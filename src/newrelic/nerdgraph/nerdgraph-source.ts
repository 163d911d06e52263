import type { Clock } from '../../model/clock.ts';
import { isWorthPolling } from '../../model/selected-application.ts';
import type { CallsByOperation, Question, Source } from '../../model/source.ts';
import type { ApiObserver, Logger } from '../../model/telemetry.ts';
import { createUnexpectedAnswers, type InvalidSampleListener } from '../answer.ts';
import type { AccountCalls } from '../calls/account-calls.ts';
import type { Transport } from '../calls/transport.ts';
import type { VendorTime } from '../calls/vendor-clock.ts';
import { SeenMetrics } from './answers.ts';
import { createSearchDiscovery } from './discovery.ts';
import { createGraphqlClient } from './graphql-client.ts';
import { pollGroup } from './poll.ts';
import { groupsOf, plannedQueries, undivided } from './query-plan.ts';
import { QuerySizes } from './query-sizes.ts';

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
  /** Whose call is next. */
  readonly calls: AccountCalls;
  readonly observer: Pick<ApiObserver, 'failed' | 'invalidSample' | 'unexpected'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** New Relic's clock, which this machine's may differ from. */
  readonly vendorClock: VendorTime;
}

/**
 * NerdGraph for one account. Up to 200 applications are asked for in one query, and their hosts in a few
 * more, each query in a request of its own. The answers name the hosts.
 */
export function createNerdGraphSource(
  { account, accountId, timeoutMs }: NerdGraphSourceOptions,
  { send, calls, observer, logger, clock, vendorClock }: NerdGraphSourceDependencies,
): Source {
  const unexpected = createUnexpectedAnswers(account, { observer, logger });
  const client = createGraphqlClient({ accountId, timeoutMs, send, observer, unexpected, clock });
  const onInvalid: InvalidSampleListener = (reason) => observer.invalidSample(reason);
  const sizes = new QuerySizes(clock);
  const seen = new SeenMetrics();
  const wallMs = (): number => vendorClock.wallMs();
  const discover = createSearchDiscovery(accountId, { client, wallMs });
  const context = { client, calls, sizes, seen, unexpected, onInvalid, vendorClock };

  return {
    listsHosts: false,
    sharesCalls: true,
    discover: async (...wanted) => {
      const discovery = await discover(...wanted);
      if (discovery.complete) {
        const ids = [...discovery.applications.map(({ id }) => id), ...discovery.unreadableIds];
        seen.keepOnly(new Set(ids));
        sizes.keepOnly(new Set(ids));
      }
      return discovery;
    },
    groups: (due, early) => groupsOf(due, early, sizes.hanging(calls.sparePerMinute())),
    poll: (asked, options) => pollGroup(asked, options, context),
    cost,
    costChanges: () => sizes.changes,
  };
}

/** What NerdGraph costs: what is asked in smaller parts takes only what can be spared. */
export const nerdGraphCosts: Pick<Source, 'cost'> = { cost };

/** The number of queries, by the same functions that make them. */
function cost(subjects: readonly Question[]): CallsByOperation {
  const applications = subjects.filter((one) => one.kind === 'application');
  const polled = applications.filter(({ selected }) => isWorthPolling(selected));
  const queries = groupsOf(polled).flatMap((group) => plannedQueries(group, () => () => undivided));
  const ofHosts = queries.filter(({ subject }) => subject === 'hosts').length;
  return {
    list_applications: 0,
    list_hosts: 0,
    application_metrics: queries.length - ofHosts,
    host_metrics: ofHosts,
    query: subjects.length - applications.length,
  };
}
