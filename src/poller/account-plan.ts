import type { SelectedApplication } from '../model/selector.ts';
import { demandOf, hostsToPoll, slackOf, stretchOf } from './demand.ts';

/** How the demand of one account fits its budget. */
export interface AccountPlan {
  /** Calls a minute that it takes to poll everything as often as configured. */
  readonly demandPerMinute: number;
  /** Calls a minute that the plan was made for. */
  readonly budgetPerMinute: number;
  /** Hosts to ask for, of all applications together. */
  readonly hosts: number;
  /** The factor by which the intervals are stretched; at least 1. */
  readonly stretch: number;
  /** The share of the budget that is free for polling a little early. */
  readonly slack: number;
}

export function accountPlanOf(
  selected: readonly SelectedApplication[],
  discovery: { readonly calls: number; readonly intervalMs: number },
  budgetPerMinute: number,
): AccountPlan {
  const demand = demandOf(selected, discovery.calls, discovery.intervalMs);
  return {
    demandPerMinute: demand.polls + demand.discovery,
    budgetPerMinute,
    hosts: selected.reduce((sum, one) => sum + hostsToPoll(one).length, 0),
    stretch: stretchOf(demand, budgetPerMinute),
    slack: slackOf(demand, budgetPerMinute),
  };
}
