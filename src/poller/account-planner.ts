import type { Clock } from '../model/clock.ts';
import type { SelectedApplication } from '../model/selector.ts';
import {
  type AccountPlan,
  accountPlanOf,
  type Capacity,
  plannedCapacityOf,
} from './account-plan.ts';
import { createCallRate } from './call-rate.ts';

export interface AccountPlannerDependencies {
  readonly clock: Clock;
  /** What the account can do in a minute, as of now. */
  readonly capacity: () => Capacity;
  /** Requests that were sent again because the first one failed, since the start. */
  readonly retries: () => number;
}

/** Keeps the plan of one account in step with what it has to send and what it can send. */
export interface AccountPlanner {
  readonly plan: AccountPlan;
  /** Plans anew; gives the factor by which the intervals have changed, 1 if they have not. */
  replan(applications: Iterable<{ readonly selected: SelectedApplication }>): number;
  /** A discovery took so many calls. */
  discovered(calls: number, intervalMs: number): void;
  /** A look-up of host names took so many calls. */
  asked(hostNameCalls: number): void;
  /**
   * Whether the capacity is another one than the plan was made for, or far more or fewer hosts are
   * polled.
   *
   * @param newHosts how many have come since it was last asked
   */
  isOutdated(newHosts?: number): boolean;
}

/** How far the measured speed of the vendor, or the number of hosts, may move before there is a new plan. */
const tolerance = 0.1;
/** How many times the limit the connections carry when the vendor is fast enough by far. */
const atEase = 1.5;
/** A smaller change of the intervals is not worth moving polls that wait. */
const leastChange = 0.005;

export function createAccountPlanner(
  { discoveryIntervalMs }: { readonly discoveryIntervalMs: number },
  { clock, capacity, retries }: AccountPlannerDependencies,
): AccountPlanner {
  const others = createCallRate();
  let discovery = { calls: 0, intervalMs: discoveryIntervalMs };
  let countedRetries = retries();
  /** That of the plan: it follows the measured speed in steps, so that intervals do not flutter. */
  let held = capacity();
  let plan = accountPlanOf([], discovery, held);

  let unplannedHosts = 0;

  const isOutdated = (newHosts = 0): boolean => {
    unplannedHosts += newHosts;
    // Each plan looks at every application: when many come one by one, not each is worth a plan.
    if (Math.abs(unplannedHosts) > tolerance * plan.hosts) return true;
    const now = capacity();
    if (now.limitPerMinute !== held.limitPerMinute) return true;
    const [planned, before] = [plannedCapacityOf(now), plannedCapacityOf(held)];
    // However small the change: at ease, the vendor must not hold the calls up for good.
    const isAtEase = now.carriedPerMinute >= atEase * now.limitPerMinute;
    if (isAtEase && before < planned) return true;
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
      const selected = Array.from(applications, (one) => one.selected);
      const other = { ...discovery, otherPerMinute: others.perMinute(nowMs) };
      if (isOutdated()) held = capacity();
      const next = accountPlanOf(selected, other, held);
      const factor = next.stretch / plan.stretch;
      const isMoved =
        Math.abs(factor - 1) >= leastChange || (next.stretch === 1) !== (plan.stretch === 1);
      plan = isMoved ? next : { ...next, stretch: plan.stretch };
      return isMoved ? factor : 1;
    },
    discovered: (calls, intervalMs) => {
      // A discovery that failed at once tells nothing about the next one.
      discovery = { calls: calls === 0 ? discovery.calls : calls, intervalMs };
    },
    asked: (hostNameCalls) => {
      if (hostNameCalls > 0) others.add(hostNameCalls, clock.monotonicMs());
    },
    isOutdated,
  };
}
