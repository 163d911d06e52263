import { expectedHosts } from '../model/selected-application.ts';
import type {
  CallsByOperation,
  Discovery,
  DiscoveryCalls,
  Question,
  Source,
} from '../model/source.ts';
import { type DaemonOperation, operationNames } from '../model/telemetry.ts';
import { minuteMs } from '../model/time.ts';
import type { Context } from './context.ts';

/** The share of the budget that planned calls may take; the rest is for retries, look-ups and latency. */
export const plannedShare = 0.985;

/** What an account needs to stay up to date, in calls a minute. */
export interface Demand {
  readonly polls: number;
  readonly discovery: number;
}

/** What to poll, and how many calls that takes the source. */
export interface PlanInput extends Pick<Source, 'cost'> {
  readonly subjects: readonly Question[];
}

/** How many calls a discovery takes, and how often there is one. */
export interface Discoveries extends DiscoveryCalls {
  readonly intervalMs: number;
}

/**
 * The calls a minute needed to poll everything as often as configured, when every host name is
 * known. Subjects with the same interval are polled together.
 */
export function callsPerMinute(
  { subjects, cost }: PlanInput,
  { calls, intervalMs }: Discoveries,
): CallsByOperation {
  const byInterval = new Map<number, Question[]>();
  for (const subject of subjects) {
    const { poll } = subject.kind === 'query' ? subject.query : subject.selected.entry;
    const alike = byInterval.get(poll.intervalMs);
    if (alike === undefined) byInterval.set(poll.intervalMs, [subject]);
    else alike.push(subject);
  }
  const sum: Record<DaemonOperation, number> = {
    list_applications: (calls * minuteMs) / intervalMs,
    list_hosts: 0,
    application_metrics: 0,
    host_metrics: 0,
    query: 0,
  };
  for (const [pollIntervalMs, alike] of byInterval) {
    const ofPolls = cost(alike);
    for (const operation of operationNames) {
      sum[operation] += (ofPolls[operation] * minuteMs) / pollIntervalMs;
    }
  }
  return sum;
}

export function totalCalls(calls: CallsByOperation): number {
  return operationNames.reduce((sum, operation) => sum + calls[operation], 0);
}

/** The demand of everything that is polled as often as configured. */
export function demandOf(polled: PlanInput, others: Discoveries): Demand {
  const calls = callsPerMinute(polled, others);
  return {
    polls: totalCalls({ ...calls, list_applications: 0 }),
    discovery: calls.list_applications,
  };
}

/** The calls a minute of a budget that may be planned. */
export function plannableOf(budgetPerMinute: number): number {
  return budgetPerMinute * plannedShare;
}

/** Whether everything can be polled as often as configured. */
export function isCovered(demand: Demand, budgetPerMinute: number): boolean {
  return demand.polls <= leftForPolls(demand, budgetPerMinute);
}

/** What a budget leaves for polls after the lists, which are not stretched. Look-ups of names are kept back for. */
export function leftForPolls({ discovery }: Demand, perMinute: number): number {
  return plannableOf(perMinute) - discovery;
}

/**
 * The share of what polls can have that they need: the factor by which every interval grows, if it is more
 * than 1. They are given a tenth of the capacity in any case.
 */
export function loadOf(demand: Demand, capacityPerMinute: number): number {
  return demand.polls / Math.max(capacityPerMinute / 10, leftForPolls(demand, capacityPerMinute));
}

/** What an account may send. */
interface Capacity {
  /** Calls a minute that the key may send. */
  readonly budgetPerMinute: number;
  /** Calls a minute that the plan counts on: the budget, or less if the vendor is slow. */
  readonly capacityPerMinute: number;
}

/** How the demand of one account fits its capacity. */
export interface AccountPlan extends Capacity {
  /** Calls a minute needed to poll everything as often as configured. */
  readonly demandPerMinute: number;
  /** Hosts to poll, of all applications together. */
  readonly hosts: number;
  /** The factor by which the intervals are stretched; at least 1. */
  readonly stretch: number;
  /** The share of the capacity that is free for polling a little early, at most a half. */
  readonly headroom: number;
  /** Calls a minute for what has failed: what the demand leaves, or what is kept back for them. */
  readonly freePerMinute: number;
}

/**
 * The share of what the connections can carry that is planned with: if they were never idle, calls
 * would have to wait.
 */
export const busyShare = 0.9;

/** @param carriedPerMinute calls that the connections can carry while the vendor answers as fast as it does now */
export function capacityOf(budgetPerMinute: number, carriedPerMinute: number): number {
  return Math.min(budgetPerMinute, busyShare * carriedPerMinute);
}

export function accountPlanOf(
  polled: PlanInput,
  others: Discoveries,
  { budgetPerMinute, capacityPerMinute }: Capacity,
): AccountPlan {
  const demand = demandOf(polled, others);
  const demandPerMinute = demand.polls + demand.discovery;
  const load = loadOf(demand, capacityPerMinute);
  return {
    demandPerMinute,
    budgetPerMinute,
    capacityPerMinute,
    hosts: polled.subjects.reduce((sum, one) => sum + hostsOf(one), 0),
    stretch: Math.max(1, load),
    headroom: Math.min(0.5, Math.max(0, 1 - load)),
    freePerMinute: Math.max(
      capacityPerMinute - plannableOf(capacityPerMinute),
      capacityPerMinute - demandPerMinute,
    ),
  };
}

function hostsOf(subject: Question): number {
  return subject.kind === 'application' ? expectedHosts(subject.selected) : 0;
}

/** How far the measured speed of the vendor may change before a plan follows: intervals must not flutter. */
const tolerance = 0.1;
/** A plan looks at every application: one for each host that comes or goes would cost too much. */
const longestPlanMs = 10_000;

/** Keeps the plan of one account in step with what it has to send and what it can send. */
export class AccountPlanner {
  readonly #context: Context;
  #discovery: Discoveries;
  #plan: AccountPlan;
  /** Before the time that calls count after their ends. */
  #capacityPerMinute: number;
  #plannedMs = 0;
  #plannedCosts = 0;

  constructor(discoveryIntervalMs: number, context: Context) {
    const { calls } = context;
    this.#context = context;
    this.#discovery = { calls: 0, intervalMs: discoveryIntervalMs };
    const budgetPerMinute = calls.limitPerMinute();
    this.#capacityPerMinute = capacityOf(budgetPerMinute, calls.carriedPerMinute());
    this.#plan = this.#planOf([], { budgetPerMinute, capacityPerMinute: this.#capacityPerMinute });
  }

  get plan(): AccountPlan {
    return this.#plan;
  }

  /** Makes a new plan. */
  replan(subjects: readonly Question[]): void {
    const { clock, source, calls } = this.#context;
    this.#plannedMs = clock.monotonicMs();
    this.#plannedCosts = source.costChanges();
    const budgetPerMinute = calls.limitPerMinute();
    this.#capacityPerMinute = this.#nextCapacityPerMinute();
    const capacityPerMinute = this.#capacityPerMinute * calls.shareInTime();
    this.#plan = this.#planOf(subjects, { budgetPerMinute, capacityPerMinute });
  }

  /** Notes how many calls a discovery took. */
  discovered(
    { calls, lookUpCalls = 0, complete }: DiscoveryCalls & Pick<Discovery, 'complete'>,
    intervalMs: number,
  ): void {
    // A discovery that failed at once says nothing about the cost of the next one.
    const next = calls === 0 && !complete ? this.#discovery.calls : calls - lookUpCalls;
    this.#discovery = { calls: next, intervalMs };
  }

  /** Whether another number of calls may be sent, polls cost something else, or the plan is old. */
  isOutdated(): boolean {
    const { clock, calls, source } = this.#context;
    return (
      calls.limitPerMinute() !== this.#plan.budgetPerMinute ||
      source.costChanges() !== this.#plannedCosts ||
      clock.monotonicMs() - this.#plannedMs >= longestPlanMs
    );
  }

  #planOf(subjects: readonly Question[], capacity: Capacity): AccountPlan {
    const { source } = this.#context;
    const polled = { subjects, cost: (some: readonly Question[]) => source.cost(some) };
    return accountPlanOf(polled, this.#discovery, capacity);
  }

  /** It follows the measured speed in steps. */
  #nextCapacityPerMinute(): number {
    const { calls } = this.#context;
    const { budgetPerMinute } = this.#plan;
    const capacityPerMinute = this.#capacityPerMinute;
    const limitPerMinute = calls.limitPerMinute();
    const next = capacityOf(limitPerMinute, calls.carriedPerMinute());
    // Once the vendor is fast enough, it must not limit the plan any longer, however small the change.
    const isAlike = Math.abs(next / capacityPerMinute - 1) <= tolerance && next < limitPerMinute;
    return isAlike && limitPerMinute === budgetPerMinute ? capacityPerMinute : next;
  }
}
