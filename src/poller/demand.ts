import type { PollConfig } from '../model/config.ts';
import type { SelectedApplication } from '../model/selector.ts';

const minuteMs = 60_000;
/** The share of the budget that planned calls may take; the rest is for retries and latency. */
const plannedShare = 0.985;
/** The vendor calls an application "reporting" that sent anything in the last ten minutes. */
const reportingMemoryMs = 10 * minuteMs;

/**
 * Whether asking for throughput can bring anything: not when the application has been silent for
 * all of the time that the window covers.
 */
export function isWorthPolling({ application, entry }: SelectedApplication): boolean {
  if (application.reporting !== false) return true;
  const { window, delayMs } = entry.poll;
  return window.kind === 'vendor_default' || window.lengthMs + delayMs > reportingMemoryMs;
}

/** The hosts to ask for, without duplicates. */
export function hostsToPoll({ application, entry }: SelectedApplication): readonly string[] {
  return entry.hosts ? [...new Set(application.hostIds)] : [];
}

/** The calls that one poll takes, host names not counted. */
export function callsPerPoll(selected: SelectedApplication): number {
  return isWorthPolling(selected) ? 1 + hostsToPoll(selected).length : 0;
}

/** The calls a minute that an account needs to poll everything as often as configured. */
export function demandPerMinute(
  applications: readonly SelectedApplication[],
  discoveryCalls: number,
  discoveryIntervalMs: number,
): number {
  const polls = applications.reduce(
    (sum, selected) => sum + (callsPerPoll(selected) * minuteMs) / selected.entry.poll.intervalMs,
    0,
  );
  return polls + (discoveryCalls * minuteMs) / discoveryIntervalMs;
}

/** The factor by which every interval grows when the budget does not cover the demand; at least 1. */
export function stretchOf(demand: number, budgetPerMinute: number): number {
  return Math.max(1, demand / (budgetPerMinute * plannedShare));
}

/** The share of the budget that is free for polling a little earlier than needed, at most a half. */
export function slackOf(demand: number, budgetPerMinute: number): number {
  return Math.min(0.5, Math.max(0, 1 - demand / (budgetPerMinute * plannedShare)));
}

/** How often one account is discovered: as often as its most demanding entry wants. */
export function discoveryIntervalOf(polls: readonly PollConfig[]): number {
  return Math.min(...polls.map((poll) => poll.discoveryIntervalMs));
}
