import type { Clock } from '../../model/clock.ts';
import type { AppEntry } from '../../model/config.ts';
import type { PolledSeries } from '../../model/polled-series.ts';
import {
  asksForApplication,
  expectedHosts,
  hostSelectorOf,
  hostsToPoll,
  isWorthPolling,
  type SelectedApplication,
} from '../../model/selected-application.ts';
import type { CallCosts, Source } from '../../model/source.ts';
import type { ApiObserver, Logger } from '../../model/telemetry.ts';
import { type CallGroups, createCallGroups } from './call-groups.ts';
import { RestBatch } from './rest-batch.ts';
import type { RestClient } from './rest-client.ts';
import { WholeAnswers } from './whole-answers.ts';

export interface RestSourceDependencies {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly observer: Pick<ApiObserver, 'unexpected'>;
  readonly logger: Logger;
}

const apartMessage = 'New Relic answers for one metric at a time';
const apartRemedy =
  'each kind of metric takes a call of its own from now on: fewer of them in "metrics", or "source: nerdgraph", take fewer calls';

/** Applications or hosts on a page of the vendor, and ids in one call. */
const perPage = 200;

/** A call for an application and one for each host that its entry chooses, or a few for each of them. */
function costsWith(areWhole: () => boolean, callGroupsOf = createCallGroups()): CallCosts {
  const groupsOf = (series: readonly PolledSeries[]): CallGroups =>
    callGroupsOf(series, areWhole());
  return {
    polls: (applications) => {
      let ofApplications = 0;
      let ofHosts = 0;
      for (const selected of applications) {
        if (!isWorthPolling(selected)) continue;
        const groups = groupsOf(selected.entry.series);
        if (asksForApplication(selected)) ofApplications += groups.applications.length;
        ofHosts += expectedHosts(selected) * groups.hosts.length;
      }
      return {
        list_applications: 0,
        list_hosts: 0,
        application_metrics: ofApplications,
        host_metrics: ofHosts,
        query: 0,
      };
    },
    firstPollOperation: 'list_hosts',
    once: (applications) => applications.reduce((sum, one) => sum + hostNameCallsOf(one), 0),
    discovery: ({ length }) => ({ calls: Math.max(1, Math.ceil(length / perPage)) }),
    // Measured on the real API.
    usualCallMs: { mean: 250, most: 400 },
    ofMetrics: (entries) => {
      const [most] = entries.toSorted((one, other) => metricsOf(other) - metricsOf(one));
      if (most === undefined || metricsOf(most) < 2) return undefined;
      const { applications, hosts } = groupsOf(most.series);
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
export const restCosts: CallCosts = costsWith(() => true);

function hostNameCallsOf(selected: SelectedApplication): number {
  const { application, entry } = selected;
  const selector = hostSelectorOf(selected);
  if (selector?.kind === 'self') return 1;
  // The names of all hosts are needed to choose some of them.
  if (selector !== undefined) return Math.ceil((application.hostIds ?? []).length / perPage);
  return entry.poll.hostNames ? Math.ceil(hostsToPoll(selected).length / perPage) : 0;
}

/**
 * The vendor's REST API v2. Each application is a batch of its own.
 *
 * @param account its name in the log
 */
export function createRestSource(
  account: string,
  { client, clock, observer, logger }: RestSourceDependencies,
): Source {
  const kind = 'values_missing';
  observer.unexpected(kind, 0);
  const wholeAnswers = new WholeAnswers(clock, () => {
    observer.unexpected(kind, 1);
    // Every six hours it is found out again.
    if (!wholeAnswers.areWhole) return;
    logger.warn({ account, kind, remedy: apartRemedy }, apartMessage);
  });
  const callGroupsOf = createCallGroups();
  const polling = { client, callGroupsOf, wholeAnswers };
  return {
    costs: costsWith(() => wholeAnswers.areWhole, callGroupsOf),
    onCostsChange: (listener) => wholeAnswers.onChange(listener),
    listsHosts: true,
    sharesCalls: false,
    discover: async (selectors, knownIds, signal) => client.discover(selectors, knownIds, signal),
    hostNames: async (applicationId, signal, wanted) =>
      client.hostNames(applicationId, { signal }, wanted),
    batches: (due) => due.map((one) => new RestBatch(one, polling)),
  };
}
