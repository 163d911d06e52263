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

/** What an account needs to be up to date, in calls a minute. */
export interface Demand {
  readonly polls: number;
  readonly discovery: number;
}

/** The calls that it takes to poll everything as often as configured. */
export function demandOf(
  applications: readonly SelectedApplication[],
  discoveryCalls: number,
  discoveryIntervalMs: number,
): Demand {
  const polls = applications.reduce(
    (sum, selected) => sum + (callsPerPoll(selected) * minuteMs) / selected.entry.poll.intervalMs,
    0,
  );
  return { polls, discovery: (discoveryCalls * minuteMs) / discoveryIntervalMs };
}

/** What the budget leaves for polls, since discovery is not stretched; never less than a tenth. */
function forPolls({ discovery }: Demand, budgetPerMinute: number): number {
  return Math.max(budgetPerMinute / 10, budgetPerMinute * plannedShare - discovery);
}

/** The factor by which every interval grows when the budget does not cover the demand; at least 1. */
export function stretchOf(demand: Demand, budgetPerMinute: number): number {
  return Math.max(1, demand.polls / forPolls(demand, budgetPerMinute));
}

/** The share of the budget that is free for polling a little earlier than needed, at most a half. */
export function slackOf(demand: Demand, budgetPerMinute: number): number {
  return Math.min(0.5, Math.max(0, 1 - demand.polls / forPolls(demand, budgetPerMinute)));
}

/** How often one account is discovered: as often as its most demanding entry wants. */
export function discoveryIntervalOf(polls: readonly PollConfig[]): number {
  return Math.min(...polls.map((poll) => poll.discoveryIntervalMs));
}
