import { ApiError } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import type { AppEntry } from '../../model/config.ts';
import { queryOutcomeOf } from '../../model/poll-outcome.ts';
import {
  asksForApplication,
  expectedHosts,
  isWorthPolling,
} from '../../model/selected-application.ts';
import { countOf } from '../../model/shown-text.ts';
import type { Source } from '../../model/source.ts';
import { askRest, type RestContext } from './answer.ts';
import {
  apartMessage,
  type CallGroupsOf,
  createCallGroups,
  type SeriesGroup,
  WholeAnswers,
  type WholeAnswersContext,
} from './call-groups.ts';
import { createRestDiscovery } from './discovery.ts';
import { KnownHosts } from './host-names.ts';
import { readHostNames } from './lists.ts';
import { metricAnswerOf } from './metric-payload.ts';
import { pollApplication, type RestClient, type RestPoll } from './poll.ts';
import { metricsRequest } from './requests.ts';

export function createRestClient(context: RestContext): RestClient {
  return {
    discover: createRestDiscovery(context),

    hostNames: async (applicationId, call, wanted) =>
      readHostNames(applicationId, wanted, context, call),

    metrics: async (applicationId, hostId, query, call) => {
      const request = metricsRequest(applicationId, hostId, query);
      return askRest(request, context, call, (document) =>
        metricAnswerOf(document, query, request, context.clock.wallMs(), (reason) =>
          context.observer.invalidSample(reason),
        ),
      );
    },
  };
}

type RestCosts = Required<Pick<Source, 'cost' | 'metricCalls'>>;

/** A call for an application and one for each host that its entry chooses, or a few for each of them. */
function costsWith(callGroupsOf: CallGroupsOf, areWhole: () => boolean): RestCosts {
  const callsOf = (groups: readonly SeriesGroup[]): number =>
    groups.reduce((sum, { kinds }) => sum + (areWhole() ? 1 : kinds.length), 0);
  return {
    cost: (subjects) => {
      let ofApplications = 0;
      let ofHosts = 0;
      for (const subject of subjects) {
        // The REST API has no queries.
        if (subject.kind === 'query' || !isWorthPolling(subject.selected)) continue;
        const { selected } = subject;
        const { applications, hosts } = callGroupsOf(selected.entry.series);
        if (asksForApplication(selected)) ofApplications += callsOf(applications);
        ofHosts += expectedHosts(selected) * callsOf(hosts);
      }
      const lists = { list_applications: 0, list_hosts: 0 };
      return { ...lists, application_metrics: ofApplications, host_metrics: ofHosts, query: 0 };
    },
    metricCalls: (entries) => {
      const [most] = entries.toSorted((one, other) => metricCount(other) - metricCount(one));
      if (most === undefined || metricCount(most) < 2) return undefined;
      const { applications, hosts } = callGroupsOf(most.series);
      const calls = Math.max(callsOf(applications), callsOf(hosts));
      const counted = `${metricCount(most)} metrics take ${countOf(calls, 'call')}`;
      return areWhole() || calls === 1 ? counted : `${counted}: ${apartMessage}`;
    },
  };
}

function metricCount({ poll }: AppEntry): number {
  return poll.metrics.length;
}

/** What polls cost as long as New Relic answers for several metrics together. */
export const restCosts: RestCosts = costsWith(createCallGroups(), () => true);

const noQueries = new ApiError('client', 'The REST API has no queries.');

/**
 * The vendor's REST API v2. Each application is polled by itself.
 *
 * @param account its name in the log
 */
export function createRestSource(
  account: string,
  {
    client,
    calls,
    vendorClock,
    ...context
  }: WholeAnswersContext &
    Pick<RestPoll, 'client' | 'calls' | 'vendorClock'> & { readonly clock: Clock },
): Source {
  const callGroupsOf = createCallGroups();
  const wholeAnswers = new WholeAnswers(account, context);
  const knownHosts = new KnownHosts(account, context);
  const shared = { client, calls, vendorClock, callGroupsOf, wholeAnswers, knownHosts };
  return {
    ...costsWith(callGroupsOf, () => wholeAnswers.areWhole),
    costChanges: () => (wholeAnswers.areWhole ? 0 : 1),
    listsHosts: true,
    sharesCalls: false,
    discover: async (...wanted) => {
      const discovery = await client.discover(...wanted);
      const { applications, complete, unreadableIds, pendingIds } = discovery;
      const ids = [...applications.map(({ id }) => id), ...unreadableIds, ...pendingIds];
      if (complete) knownHosts.keepOnly(new Set(ids));
      return discovery;
    },
    groups: (due) => due.map((one) => [one]),
    async *poll(asked, options) {
      for (const question of asked()) {
        if (question.kind === 'application') {
          yield* pollApplication(question, options, shared);
        } else {
          yield { kind: 'query', question, outcome: queryOutcomeOf(noQueries) };
        }
      }
    },
  };
}
