import type { AccountConfig, AccountSource, PollTiming, Query } from '../../model/config.ts';
import {
  hostSelectorOf,
  hostsToPoll,
  isWorthPolling,
  type SelectedApplication,
} from '../../model/selected-application.ts';
import type { CallsByOperation, Question, Source } from '../../model/source.ts';
import { minuteMs } from '../../model/time.ts';
import { nerdGraphCosts } from '../../newrelic/nerdgraph/nerdgraph-source.ts';
import { restCosts } from '../../newrelic/rest/rest-source.ts';
import {
  type AccountPlan,
  accountPlanOf,
  busyShare,
  callsPerMinute,
  capacityOf,
  type Demand,
  demandOf,
  isCovered,
  leftForPolls,
  plannedShare,
  totalOf,
} from '../../poll/account-plan.ts';

/** What only a plan has to know of an API of New Relic. */
interface VendorFacts {
  /** Calls that New Relic allows. */
  readonly limitPerMinute: number;
  /** What has this limit, as New Relic counts. */
  readonly countedBy: string;
  /** How long an answer usually takes, and how long a slow one takes. */
  readonly meanCallMs: number;
  readonly slowCallMs: number;
  /** Whether the names of hosts are asked for apart. */
  readonly namesHosts: boolean;
  /** Facts, summary, health and polls of an application, if New Relic has every value of them. */
  readonly seriesPerApplication: number;
  /** What polls cost as long as no answer has shown anything else. */
  readonly cost: Source['cost'];
}

export const vendorFacts: Readonly<Record<AccountSource['kind'], VendorFacts>> = {
  rest: {
    limitPerMinute: 1000,
    countedBy: 'a key',
    // Measured on the real API.
    meanCallMs: 250,
    slowCallMs: 400,
    namesHosts: true,
    seriesPerApplication: 17,
    cost: (subjects) => restCosts.cost(subjects),
  },
  nerdgraph: {
    limitPerMinute: 3000,
    countedBy: 'an account',
    // Not measured on the real API: a query may take 5 s there by default.
    meanCallMs: 1000,
    slowCallMs: 3000,
    namesHosts: false,
    seriesPerApplication: 15,
    cost: (subjects) => nerdGraphCosts.cost(subjects),
  },
};

/** What is known or assumed about an account before it is polled. */
export interface CallPlanInput {
  readonly account: AccountConfig;
  readonly applications: readonly SelectedApplication[];
  readonly queries: readonly Query[];
  /** What polls cost, as far as answers have shown. */
  readonly cost: Source['cost'];
  /** How many calls a discovery takes, and how often there is one. */
  readonly discovery: { readonly calls: number; readonly intervalMs: number };
}

/** Applications or hosts on a page, and ids in one call. */
const perPage = 200;

/** How many calls a discovery of so many applications takes, in either API. */
export function discoveryCalls(applications: number): number {
  return Math.max(1, Math.ceil(applications / perPage));
}

/** One of the poll intervals in the account. */
export interface PlannedInterval {
  readonly configuredMs: number;
  /** The interval after it was stretched to fit the budget. */
  readonly effectiveMs: number;
  /** How many applications and queries have this interval. */
  readonly polled: number;
}

/** What would make the account fit: longer intervals alone, or the other two together. */
export interface Remedy {
  /** `undefined` when the budget is large enough. */
  readonly budgetPerMinute: number | undefined;
  /** `undefined` when the configured concurrency suffices. */
  readonly concurrency: number | undefined;
  /** The factor for every interval; `undefined` when no interval is long enough. */
  readonly intervalFactor: number | undefined;
}

/**
 * What polling an account will take: calls a minute in the steady state, when every application is
 * polled once in each of its intervals and every host name is known. Retries are not counted.
 */
export interface CallPlan extends AccountPlan {
  readonly account: string;
  readonly vendor: VendorFacts;
  readonly applications: number;
  readonly queries: number;
  /** Applications that do not report, and so cost no calls. */
  readonly silentApplications: number;
  /** Calls a minute that the configured intervals need. */
  readonly demand: CallsByOperation;
  /** Calls a minute that will be sent: the demand, or as much of it as the budget allows. */
  readonly sent: CallsByOperation;
  readonly sentPerMinute: number;
  readonly fits: boolean;
  /** The shortest first. */
  readonly intervals: readonly PlannedInterval[];
  /** `undefined` when the account fits. */
  readonly remedy: Remedy | undefined;
  /** Calls for host names that are made once, with the first polls. */
  readonly firstPollCalls: number;
  /** Calls until everything has been polled once. */
  readonly startCalls: number;
  /** About how long it takes from the start until everything has been polled once. */
  readonly firstFullSetMs: number;
}

/** Uses the functions that the daemon itself plans with. */
export function planCalls(input: CallPlanInput): CallPlan {
  const { account, applications, queries, cost, discovery } = input;
  const { requestsPerMinute: budgetPerMinute, concurrency } = account;
  const vendor = vendorFacts[account.source.kind];
  const all = { subjects: subjectsOf(applications, queries), cost };
  const capacityPerMinute = capacityOf(
    budgetPerMinute,
    (concurrency * minuteMs) / vendor.meanCallMs,
  );
  const plan = accountPlanOf(all, discovery, { budgetPerMinute, capacityPerMinute });
  const { stretch } = plan;
  const demand = callsPerMinute(all, discovery);
  const needed = demandOf(all, discovery);
  const sent: CallsByOperation = {
    list_applications: demand.list_applications,
    list_hosts: demand.list_hosts,
    application_metrics: demand.application_metrics / stretch,
    host_metrics: demand.host_metrics / stretch,
    query: demand.query / stretch,
  };
  const polled = applications.filter(isWorthPolling);
  const polls = [...polled.map(({ entry }) => entry.poll), ...queries.map(({ poll }) => poll)];
  const intervals = intervalsOf(polls, stretch);
  const firstPollCalls = vendor.namesHosts
    ? polled.reduce((sum, one) => sum + hostNameCallsOf(one), 0)
    : 0;
  const fits = isCovered(needed, capacityPerMinute);
  return {
    ...plan,
    account: account.name,
    vendor,
    applications: applications.length,
    queries: queries.length,
    silentApplications: applications.length - polled.length,
    demand,
    sent,
    sentPerMinute: totalOf(sent),
    fits,
    intervals,
    remedy: fits ? undefined : remedyFor(needed, account, capacityPerMinute),
    firstPollCalls,
    startCalls: discovery.calls + firstPollCalls + totalOf(cost(subjectsOf(polled, queries))),
    firstFullSetMs: firstFullSetMs(input, stretch, intervals, firstPollCalls),
  };
}

function subjectsOf(
  applications: readonly SelectedApplication[],
  queries: readonly Query[],
): readonly Question[] {
  return [
    ...applications.map((selected) => ({ kind: 'application', selected }) as const),
    ...queries.map((query) => ({ kind: 'query', query }) as const),
  ];
}

function hostNameCallsOf(selected: SelectedApplication): number {
  const { application, entry } = selected;
  const selector = hostSelectorOf(selected);
  if (selector?.kind === 'self') return 1;
  // The names of all hosts are needed to choose some of them.
  if (selector !== undefined) return Math.ceil((application.hostIds ?? []).length / perPage);
  return entry.poll.hostNames ? Math.ceil(hostsToPoll(selected).length / perPage) : 0;
}

function remedyFor(
  demand: Demand,
  { requestsPerMinute, concurrency, source }: AccountConfig,
  capacityPerMinute: number,
): Remedy {
  const budget = budgetFor(demand);
  const { meanCallMs } = vendorFacts[source.kind];
  const neededConcurrency = Math.ceil((budget * meanCallMs) / (busyShare * minuteMs));
  return {
    budgetPerMinute: budget > requestsPerMinute ? budget : undefined,
    concurrency: neededConcurrency > concurrency ? neededConcurrency : undefined,
    intervalFactor: intervalFactorFor(demand, capacityPerMinute),
  };
}

/** The smallest budget, in whole calls a minute, that covers the demand. */
export function budgetFor(demand: Demand): number {
  const about = Math.floor((demand.polls + demand.discovery) / plannedShare);
  return Math.max(1, isCovered(demand, about) ? about : about + 1);
}

/**
 * The factor by which every interval would have to be longer for the budget to cover the demand;
 * `undefined` when discovery alone takes the whole budget.
 */
export function intervalFactorFor(demand: Demand, budgetPerMinute: number): number | undefined {
  const left = leftForPolls(demand, budgetPerMinute);
  return left > 0 ? Math.max(1, demand.polls / left) : undefined;
}

function intervalsOf(polls: readonly PollTiming[], stretch: number): readonly PlannedInterval[] {
  const counts = new Map<number, number>();
  for (const { intervalMs } of polls) {
    counts.set(intervalMs, 1 + (counts.get(intervalMs) ?? 0));
  }
  return [...counts]
    .toSorted(([left], [right]) => left - right)
    .map(([configuredMs, polled]) => ({
      configuredMs,
      effectiveMs: configuredMs * stretch,
      polled,
    }));
}

/**
 * A demand within the budget is polled at once: only the budget of each minute and the calls in
 * flight limit it. Beyond the budget the first polls are spread over one stretched interval, and
 * the largest may be the last to begin.
 */
function firstFullSetMs(
  { account, applications, queries, cost, discovery }: CallPlanInput,
  stretch: number,
  intervals: readonly PlannedInterval[],
  firstPollCalls: number,
): number {
  const { requestsPerMinute, concurrency, source } = account;
  const { slowCallMs } = vendorFacts[source.kind];
  const inFlightMs = (calls: number): number => Math.ceil(calls / concurrency) * slowCallMs;
  const discoveryMs = discovery.calls * slowCallMs;
  if (stretch > 1) {
    const longestMs = intervals.at(-1)?.effectiveMs ?? 0;
    const each = applications.map((one) => totalOf(cost(subjectsOf([one], []))));
    const largest = each.reduce((most, calls) => Math.max(most, calls), 0);
    const evenly = firstPollCalls + largest;
    return discoveryMs + longestMs + (evenly * minuteMs) / requestsPerMinute;
  }
  const calls = firstPollCalls + totalOf(cost(subjectsOf(applications, queries)));
  const fullMinutes = Math.max(0, Math.ceil((discovery.calls + calls) / requestsPerMinute) - 1);
  const earlier = Math.min(calls, fullMinutes * requestsPerMinute);
  const earlierMs = Math.max(fullMinutes * minuteMs, inFlightMs(earlier));
  return discoveryMs + earlierMs + inFlightMs(calls - earlier);
}
