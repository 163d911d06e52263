import type { AccountConfig } from '../model/config.ts';
import { selectorText } from '../model/selector.ts';
import type { AccountStatus } from '../model/telemetry.ts';
import type { AccountTable } from './account-table.ts';
import { hostsToPoll } from './demand.ts';

export interface Traffic {
  readonly requestsInFlight: () => number;
  /** Wall time until which the vendor asked us to stay away. */
  readonly backoffUntilMs: () => number | undefined;
}

/** The account's state for people, probes and self-metrics. */
export function accountStatusOf(
  account: AccountConfig,
  table: AccountTable,
  traffic: Traffic,
): AccountStatus {
  const states = [...table.states.values()];
  const polled = states.filter((state) => state.pollsEnded > 0).length;
  const intervals = states.map((state) => state.selected.entry.poll.intervalMs);
  return {
    name: account.name,
    up: table.discovery.up,
    error: table.discovery.error?.message,
    firstCycleEnded: table.discovery.answered && polled === states.length,
    applications: states.length,
    hosts: states.reduce((sum, state) => sum + hostsToPoll(state.selected).length, 0),
    polledApplications: polled,
    requestsInFlight: traffic.requestsInFlight(),
    budgetRequestsPerMinute: account.requestsPerMinute,
    demandRequestsPerMinute: table.demandPerMinute,
    pollIntervalSeconds: (Math.max(0, ...intervals) * table.stretch) / 1000,
    backoffUntilMs: traffic.backoffUntilMs(),
    missingSelectors: table.discovery.missing.map((entry) => selectorText(entry.selector)),
  };
}
