import type { Clock } from '../model/clock.ts';
import { expectedHosts, type SelectedApplication } from '../model/selected-application.ts';
import type { CallCosts, DiscoveryCalls } from '../model/source.ts';
import { demandOf, headroomOf, type OtherCalls, type Polled, stretchOf } from './demand.ts';

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
}

/**
 * The share of what the connections can carry that is planned with: if they were never idle, calls
 * would have to wait.
 */
export const busyShare = 0.9;

export function accountPlanOf(polled: Polled, others: OtherCalls, capacity: Capacity): AccountPlan {
  const demand = demandOf(polled, others);
  const capacityPerMinute = plannedCapacityOf(capacity);
  return {
    demandPerMinute: demand.polls + demand.discovery + demand.other,
    budgetPerMinute: capacity.limitPerMinute,
    capacityPerMinute,
    hosts: polled.applications.reduce((sum, one) => sum + expectedHosts(one), 0),
    stretch: stretchOf(demand, capacityPerMinute),
    headroom: headroomOf(demand, capacityPerMinute),
  };
}

/** The capacity to plan with. */
export function plannedCapacityOf({ limitPerMinute, carriedPerMinute }: Capacity): number {
  return Math.min(limitPerMinute, busyShare * carriedPerMinute);
}

export interface AccountPlannerDependencies {
  readonly clock: Clock;
  readonly costs: Pick<CallCosts, 'polls'>;
  /** What the account can do in a minute at present. */
  readonly capacity: () => Capacity;
  /** Retries since the start. */
  readonly retries: () => number;
}

/** Keeps the plan of one account in step with what it has to send and what it can send. */
export interface AccountPlanner {
  readonly plan: AccountPlan;
  /** Makes a new plan. */
  replan(applications: Iterable<{ readonly selected: SelectedApplication }>): void;
  /** Notes how many calls a discovery took. */
  discovered(calls: DiscoveryCalls, intervalMs: number): void;
  /** Notes how many calls a look-up of host names took. */
  asked(extraCalls: number): void;
  /**
   * Whether the capacity is no longer the planned one, or far more or fewer hosts are polled.
   *
   * @param newHosts how many hosts were added since the last call
   */
  isOutdated(newHosts?: number): boolean;
}

/**
 * How far the measured speed of the vendor, or the number of hosts, may change before a new plan is
 * made.
 */
const tolerance = 0.1;
/** The vendor is fast enough by far when the connections can carry this many times the limit. */
const fastEnough = 1.5;

export function createAccountPlanner(
  { discoveryIntervalMs }: { readonly discoveryIntervalMs: number },
  { clock, costs, capacity, retries }: AccountPlannerDependencies,
): AccountPlanner {
  const others = createCallRate();
  let discovery = { calls: 0, intervalMs: discoveryIntervalMs };
  let countedRetries = retries();
  /**
   * The capacity of the plan. It follows the measured speed in steps, so that intervals do not
   * flutter.
   */
  let held = capacity();
  let plan = accountPlanOf({ applications: [], costs }, discovery, held);

  let unplannedHosts = 0;

  const isOutdated = (newHosts = 0): boolean => {
    unplannedHosts += newHosts;
    // A plan looks at every application. When many hosts are added one by one, a plan for each of
    // them would cost too much.
    if (Math.abs(unplannedHosts) > tolerance * plan.hosts) return true;
    const now = capacity();
    if (now.limitPerMinute !== held.limitPerMinute) return true;
    const [planned, before] = [plannedCapacityOf(now), plannedCapacityOf(held)];
    // Once the vendor is fast enough, it must not limit the plan any longer, however small the
    // change.
    const isFastEnough = now.carriedPerMinute >= fastEnough * now.limitPerMinute;
    if (isFastEnough && before < planned) return true;
    const change = planned / before;
    return change < 1 - tolerance || change > 1 + tolerance;
  };

  return {
    get plan() {
      return plan;
    },
    replan: (applications) => {
      const nowMs = clock.monotonicMs();
      const retriesNow = retries();
      others.add(retriesNow - countedRetries, nowMs);
      countedRetries = retriesNow;
      unplannedHosts = 0;
      const polled = { applications: Array.from(applications, (one) => one.selected), costs };
      const other = { ...discovery, otherPerMinute: others.perMinute(nowMs) };
      if (isOutdated()) held = capacity();
      plan = accountPlanOf(polled, other, held);
    },
    discovered: ({ calls, lookUpCalls = 0 }, intervalMs) => {
      others.add(lookUpCalls, clock.monotonicMs());
      // A discovery that failed at once says nothing about the cost of the next one.
      discovery = { calls: calls === 0 ? discovery.calls : calls - lookUpCalls, intervalMs };
    },
    asked: (extraCalls) => {
      if (extraCalls > 0) others.add(extraCalls, clock.monotonicMs());
    },
    isOutdated,
  };
}

/** How many calls a minute were sent recently. */
export interface CallRate {
  add(calls: number, nowMs: number): void;
  perMinute(nowMs: number): number;
}

const minuteMs = 60_000;
const minutes = 10;

/** The mean over the last nine whole minutes and the part of the present one that has passed. */
export function createCallRate(): CallRate {
  const counts: number[] = Array.from({ length: minutes }, () => 0);
  let current = 0;
  let total = 0;

  const moveTo = (nowMs: number): void => {
    const minute = Math.floor(nowMs / minuteMs);
    const passed = Math.min(minutes, minute - current);
    for (let step = 1; step <= passed; step += 1) {
      const index = (current + step) % minutes;
      total -= counts[index] ?? 0;
      counts[index] = 0;
    }
    current = Math.max(current, minute);
  };

  return {
    add: (calls, nowMs) => {
      moveTo(nowMs);
      const index = current % minutes;
      counts[index] = (counts[index] ?? 0) + calls;
      total += calls;
    },
    perMinute: (nowMs) => {
      moveTo(nowMs);
      const passed = (nowMs % minuteMs) / minuteMs;
      return total / (minutes - 1 + passed);
    },
  };
}
