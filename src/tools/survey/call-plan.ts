import { formatDuration } from '../../config/duration.ts';
import type { AccountConfig, AccountSource, PollTiming, Query } from '../../model/config.ts';
import { isReadOf } from '../../model/polled-series.ts';
import {
  expectedHosts,
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
  accountPlanOf,
  busyShare,
  callsPerMinute,
  capacityOf,
  type Demand,
  demandOf,
  isCovered,
  leftForPolls,
  plannableOf,
  plannedShare,
  totalCalls,
} from '../../poll/account-plan.ts';
import { discoveryOptionsOf } from '../../poll/discovery-state.ts';
import type { DiscoveredAccount } from './discovered-account.ts';

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

/** What a discovery has found, to plan the calls with. */
export function planInputOf(
  { open, discovery, answers }: DiscoveredAccount,
  applications: readonly SelectedApplication[],
): CallPlanInput {
  return {
    account: open.account,
    applications,
    queries: answers.map(({ query, outcome: { reading } }) => ({
      ...query,
      mostRows: reading?.rows ?? query.mostRows,
    })),
    cost: (subjects) => open.source.cost(subjects),
    discovery: { calls: discovery.calls, intervalMs: discoveryOptionsOf(open.entries).intervalMs },
  };
}

/** Applications or hosts on a page, and ids in one call. */
export const perPage = 200;

/** Calls a minute. */
type Rates = CallsByOperation & { readonly total: number };

/**
 * What polling an account will take, by the names that `plan -o json` has for it: calls a minute in the steady
 * state, when every application is polled once in each of its intervals and every host name is known. Retries
 * are not counted.
 */
export interface CallPlan {
  /** What is left out there. */
  readonly vendor: VendorFacts;
  readonly account: string;
  readonly fits: boolean;
  readonly applications: number;
  /** Applications that do not report, and so cost no calls. */
  readonly silent_applications: number;
  readonly queries: number;
  readonly hosts: number;
  readonly budget_per_minute: number;
  /** What is planned with: the budget, or less if `concurrency` carries less. */
  readonly capacity_per_minute: number;
  /** What the configured intervals need. */
  readonly demand_per_minute: Rates;
  /** What will be sent: the demand, or as much of it as the budget allows. */
  readonly sent_per_minute: Rates;
  readonly stretch: number;
  /** The poll intervals, the shortest first, and how many applications and queries have each. */
  readonly intervals: readonly {
    readonly configured_seconds: number;
    readonly effective_seconds: number;
    readonly polled: number;
  }[];
  /** Longer intervals alone, or the other two together; `null` for what is enough, or never will be. */
  readonly to_fit: {
    readonly requests_per_minute: number | null;
    readonly concurrency: number | null;
    readonly interval_factor: number | null;
  } | null;
  /** Calls for host names that are made once, with the first polls. */
  readonly host_name_calls: number;
  /** About how long it takes from the start until everything has been polled once. */
  readonly first_full_set_seconds: number;
  /** New Relic data, if New Relic has every value. */
  readonly series: number;
  /** Calls until everything has been polled once. */
  readonly start_calls: number;
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
  const hostNameCalls = vendor.namesHosts ? sumOf(polled.map(hostNameCallsOf)) : 0;
  const fits = isCovered(needed, capacityPerMinute);
  return {
    vendor,
    account: account.name,
    fits,
    applications: applications.length,
    silent_applications: applications.length - polled.length,
    queries: queries.length,
    hosts: plan.hosts,
    budget_per_minute: budgetPerMinute,
    capacity_per_minute: capacityPerMinute,
    demand_per_minute: { ...demand, total: plan.demandPerMinute },
    sent_per_minute: { ...sent, total: totalCalls(sent) },
    stretch,
    intervals,
    to_fit: fits ? null : remedyFor(needed, account, capacityPerMinute),
    host_name_calls: hostNameCalls,
    first_full_set_seconds: firstFullSetMs(input, stretch, intervals, hostNameCalls) / 1000,
    series: seriesOf(input),
    start_calls: discovery.calls + hostNameCalls + totalCalls(cost(subjectsOf(polled, queries))),
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
): NonNullable<CallPlan['to_fit']> {
  const budget = budgetFor(demand);
  const { meanCallMs } = vendorFacts[source.kind];
  const neededConcurrency = Math.ceil((budget * meanCallMs) / (busyShare * minuteMs));
  return {
    requests_per_minute: budget > requestsPerMinute ? budget : null,
    concurrency: neededConcurrency > concurrency ? neededConcurrency : null,
    interval_factor: intervalFactorFor(demand, capacityPerMinute) ?? null,
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

function intervalsOf(polls: readonly PollTiming[], stretch: number): CallPlan['intervals'] {
  const all = polls.map(({ intervalMs }) => intervalMs);
  const distinct = [...new Set(all)].toSorted((one, other) => one - other);
  return distinct.map((intervalMs) => ({
    configured_seconds: intervalMs / 1000,
    effective_seconds: (intervalMs * stretch) / 1000,
    polled: all.filter((one) => one === intervalMs).length,
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
  intervals: CallPlan['intervals'],
  hostNameCalls: number,
): number {
  const { requestsPerMinute, concurrency, source } = account;
  const { slowCallMs } = vendorFacts[source.kind];
  const inFlightMs = (calls: number): number => Math.ceil(calls / concurrency) * slowCallMs;
  const discoveryMs = discovery.calls * slowCallMs;
  if (stretch > 1) {
    const longestMs = (intervals.at(-1)?.configured_seconds ?? 0) * 1000 * stretch;
    const each = applications.map((one) => totalCalls(cost(subjectsOf([one], []))));
    const evenly = hostNameCalls + each.reduce((most, calls) => Math.max(most, calls), 0);
    return discoveryMs + longestMs + (evenly * minuteMs) / requestsPerMinute;
  }
  const calls = hostNameCalls + totalCalls(cost(subjectsOf(applications, queries)));
  const fullMinutes = Math.max(0, Math.ceil((discovery.calls + calls) / requestsPerMinute) - 1);
  const earlier = Math.min(calls, fullMinutes * requestsPerMinute);
  const earlierMs = Math.max(fullMinutes * minuteMs, inFlightMs(earlier));
  return discoveryMs + earlierMs + inFlightMs(calls - earlier);
}

function seriesOf({ account, applications, queries }: CallPlanInput): number {
  const { seriesPerApplication } = vendorFacts[account.source.kind];
  const ofApplications = applications.map((one) => seriesOfApplication(one, seriesPerApplication));
  // One is `newrelic_up`.
  return 1 + sumOf(ofApplications) + sumOf(queries.map(seriesOfQuery));
}

/** The series of an application and its hosts, if every answer has every value. */
function seriesOfApplication(selected: SelectedApplication, factsEach: number): number {
  const { application, series } = selected.entry;
  const facts = application ? factsEach : 0;
  if (!isWorthPolling(selected)) return facts;
  const countFor = (scope: 'applications' | 'hosts'): number =>
    series.filter((one) => isReadOf(scope, one)).length;
  // The end of the window belongs to the values.
  const values = application ? 1 + countFor('applications') : 0;
  return facts + values + expectedHosts(selected) * countFor('hosts');
}

/** Beside its own, whether it succeeds, when it last did, and how many rows it had. */
const factsPerQuery = 3;

/** The series of a query, if it has as many rows as it may, and each has every value. */
function seriesOfQuery({ gauges, mostRows, maxSeries }: Query): number {
  const perRow = sumOf(gauges.map(({ percentages }) => Math.max(1, percentages.length)));
  return factsPerQuery + Math.min(maxSeries, mostRows * perRow);
}

/** Whether an account fits its budget, with the numbers. */
export function budgetText(plan: CallPlan): string {
  const { fits, budget_per_minute: budget, capacity_per_minute: capacity } = plan;
  const ofBudget = `${rateText(plan.demand_per_minute.total)} of ${budget} calls a minute`;
  if (fits) return `fits: ${ofBudget}`;
  const carried = capacity < budget ? `; concurrency carries about ${Math.floor(capacity)}` : '';
  return `does not fit: ${ofBudget}${carried}, of which ${rateText(plannableOf(capacity))} may be planned`;
}

/** What would make an account fit. */
export function remedyTexts({ to_fit: remedy, intervals, vendor }: CallPlan): readonly string[] {
  if (remedy === null) return [];
  const { interval_factor: factor, requests_per_minute: budget, concurrency } = remedy;
  const isOne = intervals.length === 1;
  const longer = intervals.map(({ configured_seconds: seconds }) => {
    const needed = formatDuration(Math.ceil(seconds * (factor ?? 1)) * 1000);
    return isOne ? needed : `${needed} for ${formatDuration(seconds * 1000)}`;
  });
  const limits = [
    ...(budget === null ? [] : [`requests_per_minute: ${budget}`]),
    ...(concurrency === null ? [] : [`concurrency: ${concurrency}`]),
  ];
  const { limitPerMinute, countedBy } = vendor;
  const beyond =
    (budget ?? 0) > limitPerMinute
      ? `; New Relic allows ${limitPerMinute} for ${countedBy}, so this takes several accounts`
      : '';
  return [
    factor === null
      ? 'a longer discovery_interval: discovery alone takes the budget'
      : `interval: ${longer.join(', ')}`,
    `or ${limits.join(' and ')}${beyond}`,
  ];
}

/** At most one decimal. */
export function rateText(perMinute: number): string {
  return `${Math.round(perMinute * 10) / 10}`;
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
