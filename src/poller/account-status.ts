import type { AccountConfig } from '../model/config.ts';
import type { PollerStatus } from '../model/telemetry.ts';
import type { AccountTable } from './account-table.ts';

/** After this long without any answer an account no longer holds back readiness: its failure must show. */
const readinessTimeoutMs = 5 * 60_000;

/** The account's state for people, probes and self-metrics. */
export function accountStatusOf(
  { name }: Pick<AccountConfig, 'name'>,
  table: AccountTable,
  runningMs: number,
): PollerStatus {
  let polled = 0;
  let longestIntervalMs = 0;
  for (const { pollsEnded, selected } of table.states.values()) {
    if (pollsEnded > 0) polled += 1;
    longestIntervalMs = Math.max(longestIntervalMs, selected.entry.poll.intervalMs);
  }
  const { plan } = table;
  const isAnswered = table.discovery.answered || runningMs >= readinessTimeoutMs;
  return {
    name,
    up: table.discovery.up,
    error: table.discovery.error?.message,
    firstCycleEnded: isAnswered && polled === table.states.size,
    applications: table.states.size,
    hosts: plan.hosts,
    polledApplications: polled,
    budgetRequestsPerMinute: plan.budgetPerMinute,
    demandRequestsPerMinute: plan.demandPerMinute,
    pollIntervalSeconds: (longestIntervalMs * plan.stretch) / 1000,
    missingSelectors: table.discovery.missingSelectors,
  };
}
