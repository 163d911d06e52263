import type { Clock } from '../model/clock.ts';
import type { PolledSeries } from '../model/polled-series.ts';
import {
  asksForApplication,
  expectedHosts,
  hostSelectorOf,
  hostsToPoll,
  isWorthPolling,
  type SelectedApplication,
} from '../model/selected-application.ts';
import type { CallCosts, Source } from '../model/source.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import { type CallGroups, callGroupsOf } from './call-groups.ts';
import { createCompletingClient } from './completing-client.ts';
import { createRestBatch } from './rest-batch.ts';
import type { RestClient } from './rest-client.ts';
import { SplitMetrics } from './split-metrics.ts';

export interface RestSourceDependencies {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly observer: Pick<ApiObserver, 'unexpected'>;
  readonly logger: Logger;
}

const splitMessage = 'a metric has values only if it is asked for alone';
const splitRemedy =
  'Such metrics take a call of their own from now on: fewer of them in "metrics", or "source: nerdgraph", take fewer calls';

/** Applications or hosts on a page of the vendor, and ids in one call. */
const perPage = 200;

/** A call for an application and one for each host that its entry chooses, or a few for each of them. */
function costsWith(groupsOf: (series: readonly PolledSeries[]) => CallGroups): CallCosts {
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
      };
    },
    onceOperation: 'list_hosts',
    once: (applications) => applications.reduce((sum, one) => sum + hostNameCallsOf(one), 0),
    discovery: ({ length }) => ({ calls: Math.max(1, Math.ceil(length / perPage)) }),
    // Measured on the real API.
    usualCallMs: { mean: 250, most: 400 },
  };
}

/** What polls cost as long as New Relic answers for several metrics together. */
export const restCosts: CallCosts = costsWith((series) => callGroupsOf(series, () => false));

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
  let isLogged = false;
  const metrics = new SplitMetrics(clock, ({ metric, applicationId }) => {
    observer.unexpected(kind, 1);
    const fields = { account, kind, metric, app_id: applicationId, remedy: splitRemedy };
    if (isLogged) logger.debug(fields, splitMessage);
    else logger.warn(fields, splitMessage);
    isLogged = true;
  });
  const groupsOf = (series: readonly PolledSeries[]): CallGroups => metrics.callGroupsOf(series);
  const polling = {
    clock,
    callGroupsOf: (series: readonly PolledSeries[]) => metrics.callGroupsNow(series),
    client: { ...client, ...createCompletingClient(client, metrics) },
  };
  return {
    costs: costsWith(groupsOf),
    gatherMs: 0,
    discover: async (selectors, knownIds, signal) => client.discover(selectors, knownIds, signal),
    hostNames: async (applicationId, signal, wanted) =>
      client.hostNames(applicationId, { signal }, wanted),
    batches: (due) => due.map((one) => createRestBatch(one, polling)),
  };
}
