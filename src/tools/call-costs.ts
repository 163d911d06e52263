import type { AccountSource } from '../model/config.ts';
import {
  hostSelectorOf,
  hostsToPoll,
  type SelectedApplication,
} from '../model/selected-application.ts';
import type { DiscoveryCalls, Source } from '../model/source.ts';
import type { DaemonOperation } from '../model/telemetry.ts';
import { nerdGraphCosts } from '../newrelic/nerdgraph/nerdgraph-source.ts';
import { restCosts } from '../newrelic/rest/rest-source.ts';

/** What only a plan has to know of the calls of an API, beside the cost of polls. */
export interface PlanCosts {
  /** What happens once, with the first polls of these applications, and what it is for. */
  once(applications: readonly SelectedApplication[]): number;
  readonly firstPollOperation: DaemonOperation;
  discovery(applications: readonly SelectedApplication[]): DiscoveryCalls;
  /** How long an answer usually takes, and how long a slow one takes. */
  readonly usualCallMs: { readonly mean: number; readonly most: number };
}

/** What polling costs with an API, in calls: the unit of the budget. */
export type CallCosts = PlanCosts & Pick<Source, 'cost'>;

/** @param source as its answers have shown so far. Default: nothing has to be asked apart. */
export function costsOfSource(
  kind: AccountSource['kind'],
  source: Pick<Source, 'cost'> = kind === 'rest' ? restCosts : nerdGraphCosts,
): CallCosts {
  const planCosts = kind === 'rest' ? restPlanCosts : nerdGraphPlanCosts;
  return { ...planCosts, cost: (subjects) => source.cost(subjects) };
}

/** Applications, hosts or entities on a page, and ids in one call. */
const perPage = 200;

export const nerdGraphPlanCosts: PlanCosts = {
  once: () => 0,
  firstPollOperation: 'application_metrics',
  discovery: ({ length }) => ({ calls: Math.max(1, Math.ceil(length / perPage)) }),
  // Not measured on the real API: a query may take 5 s there by default.
  usualCallMs: { mean: 1000, most: 3000 },
};

const restPlanCosts: PlanCosts = {
  once: (applications) => applications.reduce((sum, one) => sum + hostNameCallsOf(one), 0),
  firstPollOperation: 'list_hosts',
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
