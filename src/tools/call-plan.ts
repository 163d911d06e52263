import type { AccountConfig, PollTiming, Query } from '../model/config.ts';
import { isWorthPolling, type SelectedApplication } from '../model/selected-application.ts';
import type { CallsByOperation, DiscoveryCalls, Subject } from '../model/source.ts';
import type { DaemonOperation } from '../model/telemetry.ts';
import { minuteMs } from '../model/time.ts';
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
} from '../poll/account-plan.ts';
import type { CallCosts } from './call-costs.ts';

/** What is known or assumed about an account before it is polled. */
export interface CallPlanInput {
  readonly account: Pick<AccountConfig, 'name' | 'requestsPerMinute' | 'concurrency'>;
  readonly applications: readonly SelectedApplication[];
  /** Default: none. */
  readonly queries?: readonly Query[];
  /** What calls the source in use needs. */
  readonly costs: CallCosts;
  /** How many calls a discovery takes, and how often there is one. */
  readonly discovery: DiscoveryCalls & { readonly intervalMs: number };
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
  /** Calls that are made once, with the first polls, such as those for host names. */
  readonly firstPollCalls: number;
  /** What these are for. */
  readonly firstPollOperation: DaemonOperation;
  /** Calls until everything has been polled once. */
  readonly startCalls: number;
  /** About how long it takes from the start until everything has been polled once. */
  readonly firstFullSetMs: number;
}

/** Uses the functions that the daemon itself plans with. */
export function planCalls(input: CallPlanInput): CallPlan {
  const { account, applications, queries = [], costs, discovery } = input;
  const all = { subjects: subjectsOf(applications, queries), cost: costs.cost };
  const budgetPerMinute = account.requestsPerMinute;
  const carriedPerMinute = (account.concurrency * minuteMs) / costs.usualCallMs.mean;
  const plan = accountPlanOf(all, discovery, {
    budgetPerMinute,
    capacityPerMinute: capacityOf(budgetPerMinute, carriedPerMinute),
  });
  const { stretch, capacityPerMinute } = plan;
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
  const firstPollCalls = costs.once(polled);
  return {
    ...plan,
    account: account.name,
    applications: applications.length,
    queries: queries.length,
    silentApplications: applications.length - polled.length,
    demand,
    sent,
    sentPerMinute: totalOf(sent),
    fits: isCovered(needed, capacityPerMinute),
    intervals,
    remedy: remedyFor(needed, input, capacityPerMinute),
    firstPollCalls,
    firstPollOperation: costs.firstPollOperation,
    startCalls: discovery.calls + firstPollCalls + totalOf(costs.cost(subjectsOf(polled, queries))),
    firstFullSetMs: firstFullSetMs(input, { stretch, intervals, firstPollCalls }),
  };
}

function subjectsOf(
  applications: readonly SelectedApplication[],
  queries: readonly Query[] = [],
): readonly Subject[] {
  return [
    ...applications.map((selected) => ({ kind: 'application', selected }) as const),
    ...queries.map((query) => ({ kind: 'query', query }) as const),
  ];
}

function remedyFor(
  demand: Demand,
  { account: { requestsPerMinute, concurrency }, costs }: CallPlanInput,
  capacityPerMinute: number,
): Remedy | undefined {
  if (isCovered(demand, capacityPerMinute)) return undefined;
  const budgetPerMinute = budgetFor(demand);
  const neededConcurrency = Math.ceil(
    (budgetPerMinute * costs.usualCallMs.mean) / (busyShare * minuteMs),
  );
  return {
    budgetPerMinute: budgetPerMinute > requestsPerMinute ? budgetPerMinute : undefined,
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

function intervalsOf(
  polls: readonly Pick<PollTiming, 'intervalMs'>[],
  stretch: number,
): readonly PlannedInterval[] {
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
  { account, applications, queries = [], costs, discovery }: CallPlanInput,
  plan: Pick<CallPlan, 'stretch' | 'intervals' | 'firstPollCalls'>,
): number {
  const { requestsPerMinute, concurrency } = account;
  const inFlightMs = (calls: number): number =>
    Math.ceil(calls / concurrency) * costs.usualCallMs.most;
  const discoveryMs = discovery.calls * costs.usualCallMs.most;
  if (plan.stretch > 1) {
    const longestMs = plan.intervals.at(-1)?.effectiveMs ?? 0;
    const largest = applications.reduce(
      (most, one) => Math.max(most, totalOf(costs.cost(subjectsOf([one])))),
      0,
    );
    const evenly = plan.firstPollCalls + largest;
    return discoveryMs + longestMs + (evenly * minuteMs) / requestsPerMinute;
  }
  const calls = plan.firstPollCalls + totalOf(costs.cost(subjectsOf(applications, queries)));
  const fullMinutes = Math.max(0, Math.ceil((discovery.calls + calls) / requestsPerMinute) - 1);
  const earlier = Math.min(calls, fullMinutes * requestsPerMinute);
  const earlierMs = Math.max(fullMinutes * minuteMs, inFlightMs(earlier));
  return discoveryMs + earlierMs + inFlightMs(calls - earlier);
}
