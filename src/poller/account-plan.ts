import type { SelectedApplication } from '../model/selector.ts';
import { demandOf, expectedHosts, slackOf, stretchOf } from './demand.ts';

/** How much an account can do in a minute. */
export interface Capacity {
  /** Calls that its key may send. */
  readonly limitPerMinute: number;
  /** Calls that its connections carry as long as the vendor answers as it does now. */
  readonly carriedPerMinute: number;
}

/** How the demand of one account fits its capacity. */
export interface AccountPlan {
  /** Calls a minute that it takes to poll everything as often as configured. */
  readonly demandPerMinute: number;
  /** Calls a minute that the key may send. */
  readonly budgetPerMinute: number;
  /** Calls a minute that the plan was made for: the budget, or less if the vendor is slow. */
  readonly capacityPerMinute: number;
  /** Hosts to ask for, of all applications together. */
  readonly hosts: number;
  /** The factor by which the intervals are stretched; at least 1. */
  readonly stretch: number;
  /** The share of the capacity that is free for polling a little early. */
  readonly slack: number;
}

/** What one discovery takes, how often there is one, and what else is sent in a minute. */
export interface OtherCalls {
  readonly calls: number;
  readonly intervalMs: number;
  /** Host names and retries, as many as there were lately. */
  readonly otherPerMinute?: number | undefined;
}

/** Connections that are never idle make calls wait: that much of what they carry is planned with. */
const busyShare = 0.9;

export function accountPlanOf(
  selected: readonly SelectedApplication[],
  { calls, intervalMs, otherPerMinute }: OtherCalls,
  capacity: Capacity,
): AccountPlan {
  const demand = demandOf(selected, calls, intervalMs, otherPerMinute);
  const capacityPerMinute = plannedCapacityOf(capacity);
  return {
    demandPerMinute: demand.polls + demand.discovery + demand.other,
    budgetPerMinute: capacity.limitPerMinute,
    capacityPerMinute,
    hosts: selected.reduce((sum, one) => sum + expectedHosts(one), 0),
    stretch: stretchOf(demand, capacityPerMinute),
    slack: slackOf(demand, capacityPerMinute),
  };
}

/** The capacity to plan with. */
export function plannedCapacityOf({ limitPerMinute, carriedPerMinute }: Capacity): number {
  return Math.min(limitPerMinute, busyShare * carriedPerMinute);
}

/** How many calls at a time carry so many a minute, if one takes so long. */
export function concurrencyFor(perMinute: number, callMs: number): number {
  return Math.ceil((perMinute * callMs) / (busyShare * 60_000));
}
