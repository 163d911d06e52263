import { expectedHosts } from '../model/selected-application.ts';
import type { Discovery, DiscoveryCalls, Subject } from '../model/source.ts';
import { minuteMs } from '../model/time.ts';
import type { Context } from './context.ts';
import {
  demandOf,
  headroomOf,
  type OtherCalls,
  type Polled,
  plannableOf,
  stretchOf,
} from './demand.ts';

/** How much an account can do in a minute. */
export interface Capacity {
  /** Calls that its key may send. */
  readonly limitPerMinute: number;
  /** Calls that its connections can carry while the vendor answers as fast as it does now. */
  readonly carriedPerMinute: number;
}

/** How the demand of one account fits its capacity. */
export interface AccountPlan {
  /** Calls a minute needed to poll everything as often as configured. */
  readonly demandPerMinute: number;
  /** Calls a minute that the key may send. */
  readonly budgetPerMinute: number;
  /** Calls a minute that the plan counts on: the budget, or less if the vendor is slow. */
  readonly capacityPerMinute: number;
  /** Hosts to poll, of all applications together. */
  readonly hosts: number;
  /** The factor by which the intervals are stretched; at least 1. */
  readonly stretch: number;
  /** The share of the capacity that is free for polling a little early. */
  readonly headroom: number;
  /** Calls a minute for what has failed: what the demand leaves, or what is kept back for them. */
  readonly freePerMinute: number;
}

/**
 * The share of what the connections can carry that is planned with: if they were never idle, calls
 * would have to wait.
 */
export const busyShare = 0.9;

export function accountPlanOf(polled: Polled, others: OtherCalls, capacity: Capacity): AccountPlan {
  const demand = demandOf(polled, others);
  const capacityPerMinute = plannedCapacityOf(capacity);
  const demandPerMinute = demand.polls + demand.discovery + demand.other;
  return {
    demandPerMinute,
    budgetPerMinute: capacity.limitPerMinute,
    capacityPerMinute,
    hosts: polled.subjects.reduce((sum, one) => sum + hostsOf(one), 0),
    stretch: stretchOf(demand, capacityPerMinute),
    headroom: headroomOf(demand, capacityPerMinute),
    freePerMinute: Math.max(
      capacityPerMinute - plannableOf(capacityPerMinute),
      capacityPerMinute - demandPerMinute,
    ),
  };
}

function hostsOf(subject: Subject): number {
  return subject.kind === 'application' ? expectedHosts(subject.selected) : 0;
}

/** The capacity to plan with. */
export function plannedCapacityOf({ limitPerMinute, carriedPerMinute }: Capacity): number {
  return Math.min(limitPerMinute, busyShare * carriedPerMinute);
}

/**
 * How far the measured speed of the vendor, or the number of hosts, may change before a new plan is
 * made.
 */
const tolerance = 0.1;
/** The vendor is fast enough by far when the connections can carry this many times the limit. */
const fastEnough = 1.5;

type PlannerContext = Pick<Context, 'clock' | 'calls' | 'source'>;

/** Keeps the plan of one account in step with what it has to send and what it can send. */
export class AccountPlanner {
  readonly #context: PlannerContext;
  readonly #others = new CallRate();
  #discovery: OtherCalls;
  /**
   * The capacity of the plan. It follows the measured speed in steps, so that intervals do not
   * flutter.
   */
  #held: Capacity;
  #plan: AccountPlan;
  #plannedCosts = 0;
  #unplannedHosts = 0;

  constructor(discoveryIntervalMs: number, context: PlannerContext) {
    this.#context = context;
    this.#discovery = { calls: 0, intervalMs: discoveryIntervalMs };
    this.#held = this.#capacity();
    this.#plan = this.#planOf([], this.#discovery);
  }

  get plan(): AccountPlan {
    return this.#plan;
  }

  /** Makes a new plan. */
  replan(subjects: readonly Subject[]): void {
    const { clock, source } = this.#context;
    this.#unplannedHosts = 0;
    if (this.isOutdated()) this.#held = this.#capacity();
    this.#plannedCosts = source.costChanges();
    const otherPerMinute = this.#others.perMinute(clock.monotonicMs());
    this.#plan = this.#planOf(subjects, { ...this.#discovery, otherPerMinute });
  }

  /** Notes how many calls a discovery took. */
  discovered(
    { calls, lookUpCalls = 0, complete }: DiscoveryCalls & Pick<Discovery, 'complete'>,
    intervalMs: number,
  ): void {
    this.asked(lookUpCalls);
    // A discovery that failed at once says nothing about the cost of the next one.
    const next = calls === 0 && !complete ? this.#discovery.calls : calls - lookUpCalls;
    this.#discovery = { calls: next, intervalMs };
  }

  /** Notes calls that no plan can foresee, such as for host names. */
  asked(calls: number): void {
    this.#others.add(calls, this.#context.clock.monotonicMs());
  }

  /**
   * Whether the capacity is no longer the planned one, polls cost something else, or far more or fewer hosts
   * are polled.
   *
   * @param newHosts how many hosts were added since the last call
   */
  isOutdated(newHosts = 0): boolean {
    this.#unplannedHosts += newHosts;
    // A plan looks at every application. When many hosts are added one by one, a plan for each of
    // them would cost too much.
    if (Math.abs(this.#unplannedHosts) > tolerance * this.#plan.hosts) return true;
    const held = this.#held;
    const now = this.#capacity();
    const isOtherCost = this.#context.source.costChanges() !== this.#plannedCosts;
    if (isOtherCost || now.limitPerMinute !== held.limitPerMinute) return true;
    const [planned, before] = [plannedCapacityOf(now), plannedCapacityOf(held)];
    // Once the vendor is fast enough, it must not limit the plan any longer, however small the
    // change.
    const isFastEnough = now.carriedPerMinute >= fastEnough * now.limitPerMinute;
    if (isFastEnough && before < planned) return true;
    const change = planned / before;
    return change < 1 - tolerance || change > 1 + tolerance;
  }

  #planOf(subjects: readonly Subject[], others: OtherCalls): AccountPlan {
    const { source } = this.#context;
    const polled = { subjects, cost: (some: readonly Subject[]) => source.cost(some) };
    return accountPlanOf(polled, others, this.#held);
  }

  #capacity(): Capacity {
    const { calls } = this.#context;
    return {
      limitPerMinute: calls.limitPerMinute(),
      carriedPerMinute: calls.carriedPerMinute(),
    };
  }
}

/** The present minute is one of them. */
const minutes = 10;

/** How many calls a minute were sent over the last nine whole minutes and what has passed of this one. */
export class CallRate {
  readonly #counts = new Map<number, number>();

  add(calls: number, nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    this.#counts.set(minute, (this.#counts.get(minute) ?? 0) + calls);
  }

  perMinute(nowMs: number): number {
    const first = Math.floor(nowMs / minuteMs) - minutes + 1;
    let total = 0;
    for (const [minute, calls] of this.#counts) {
      if (minute < first) this.#counts.delete(minute);
      else total += calls;
    }
    return total / (nowMs / minuteMs - first);
  }
}
