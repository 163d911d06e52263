import { ApiError } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import type { AppEntry } from '../../model/config.ts';
import { queryOutcomeOf } from '../../model/poll-outcome.ts';
import {
  asksForApplication,
  expectedHosts,
  isWorthPolling,
} from '../../model/selected-application.ts';
import type { Source } from '../../model/source.ts';
import { countingFailures } from '../answer.ts';
import { parseJson } from '../json.ts';
import { documentOf } from './answer.ts';
import { createCallGroups } from './call-groups.ts';
import { discoverApplications } from './discovery.ts';
import { LookUps } from './findings.ts';
import { createListReader, findHost, type ListDependencies } from './lists.ts';
import { metricAnswerOf } from './metric-payload.ts';
import { type PollClient, pollApplication } from './poll.ts';
import { metricsRequest } from './requests.ts';
import { apartMessage, WholeAnswers, type WholeAnswersContext } from './whole-answers.ts';

/** The REST API v2 for one account. The lists keep what they have read. */
export interface RestClient extends PollClient {
  readonly discover: Source['discover'];
}

export interface RestClientDependencies extends ListDependencies {
  readonly clock: Clock;
}

export function createRestClient(dependencies: RestClientDependencies): RestClient {
  const { send, observer, clock } = dependencies;
  const lists = createListReader(dependencies);
  const lookUps = new LookUps(clock);
  return {
    discover: async ({ selectors }, knownIds, signal) =>
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
          onInvalid: (reason) => observer.invalidSample(reason),
          wallMs: clock.wallMs(),
        }),
      );
    },
  };
}

export type RestCosts = Required<Pick<Source, 'cost' | 'metricCalls'>>;

/** A call for an application and one for each host that its entry chooses, or a few for each of them. */
function costsWith(areWhole: () => boolean, callGroupsOf = createCallGroups()): RestCosts {
  return {
    cost: (subjects) => {
      let ofApplications = 0;
      let ofHosts = 0;
      for (const subject of subjects) {
        // The REST API has no queries.
        if (subject.kind === 'query' || !isWorthPolling(subject.selected)) continue;
        const { selected } = subject;
        const { applications, hosts } = callGroupsOf(selected.entry.series, areWhole());
        if (asksForApplication(selected)) ofApplications += applications.length;
        ofHosts += expectedHosts(selected) * hosts.length;
      }
      const lists = { list_applications: 0, list_hosts: 0 };
      return { ...lists, application_metrics: ofApplications, host_metrics: ofHosts, query: 0 };
    },
    metricCalls: (entries) => {
      const [most] = entries.toSorted((one, other) => metricsOf(other) - metricsOf(one));
      if (most === undefined || metricsOf(most) < 2) return undefined;
      const { applications, hosts } = callGroupsOf(most.series, areWhole());
      const calls = Math.max(applications.length, hosts.length);
      const counted = `${metricsOf(most)} metrics take ${calls} ${calls === 1 ? 'call' : 'calls'}`;
      return areWhole() || calls === 1 ? counted : `${counted}: ${apartMessage}`;
    },
  };
}

function metricsOf({ poll }: AppEntry): number {
  return poll.metrics.length;
}

/** What polls cost as long as New Relic answers for several metrics together. */
export const restCosts: RestCosts = costsWith(() => true);

const noQueries = new ApiError('client', 'The REST API has no queries.');

/**
 * The vendor's REST API v2. Each application is polled by itself.
 *
 * @param account its name in the log
 */
export function createRestSource(
  account: string,
  { client, ...context }: WholeAnswersContext & { readonly client: RestClient },
): Source {
  const wholeAnswers = new WholeAnswers(account, context);
  const callGroupsOf = createCallGroups();
  return {
    ...costsWith(() => wholeAnswers.areWhole, callGroupsOf),
    costChanges: () => wholeAnswers.changes,
    listsHosts: true,
    sharesCalls: false,
    discover: client.discover,
    groups: (due) => due.map((one) => [one]),
    async *poll(asked, calls, signal) {
      for (const question of asked()) {
        if (question.kind === 'application') {
          yield* pollApplication(question, calls, signal, { client, callGroupsOf, wholeAnswers });
        } else {
          yield { kind: 'query', question, outcome: queryOutcomeOf(noQueries) };
        }
      }
    },
  };
}
