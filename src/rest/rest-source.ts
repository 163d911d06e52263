import type { Clock } from '../model/clock.ts';
import {
  expectedHosts,
  hostSelectorOf,
  hostsToPoll,
  isWorthPolling,
  type SelectedApplication,
} from '../model/selected-application.ts';
import type { CallCosts, Source } from '../model/source.ts';
import { createRestBatch } from './rest-batch.ts';
import type { RestClient } from './rest-client.ts';

/** Applications or hosts on a page of the vendor, and ids in one call. */
const perPage = 200;

/** One call for an application and one for each host that its entry chooses. */
export const restCosts: CallCosts = {
  polls: (applications) => {
    let ofApplications = 0;
    let ofHosts = 0;
    for (const selected of applications) {
      if (!isWorthPolling(selected)) continue;
      if (selected.entry.application) ofApplications += 1;
      ofHosts += expectedHosts(selected);
    }
    return {
      list_applications: 0,
      list_hosts: 0,
      application_throughput: ofApplications,
      host_throughput: ofHosts,
    };
  },
  onceOperation: 'list_hosts',
  once: (applications) => applications.reduce((sum, one) => sum + hostNameCallsOf(one), 0),
  discovery: ({ length }) => ({ calls: Math.max(1, Math.ceil(length / perPage)) }),
  // Measured on the real API.
  usualCallMs: { mean: 250, most: 400 },
};

function hostNameCallsOf(selected: SelectedApplication): number {
  const { application, entry } = selected;
  const selector = hostSelectorOf(selected);
  if (selector?.kind === 'self') return 1;
  // The names of all hosts are needed to choose some of them.
  if (selector !== undefined) return Math.ceil((application.hostIds ?? []).length / perPage);
  return entry.poll.hostNames ? Math.ceil(hostsToPoll(selected).length / perPage) : 0;
}

/** The vendor's REST API v2. Each application is a batch of its own. */
export function createRestSource({
  client,
  clock,
}: {
  readonly client: RestClient;
  readonly clock: Clock;
}): Source {
  return {
    costs: restCosts,
    gatherMs: 0,
    discover: async (selectors, knownIds, signal) => client.discover(selectors, knownIds, signal),
    hostNames: async (applicationId, signal, wanted) =>
      client.hostNames(applicationId, { signal }, wanted),
    batches: (due) => due.map((one) => createRestBatch(one, { client, clock })),
  };
}
