import type { PollConfig } from '../model/config.ts';
import type { CallsByOperation, DiscoveryCalls, Source, Subject } from '../model/source.ts';
import { type DaemonOperation, operations } from '../model/telemetry.ts';
import { minuteMs } from '../model/time.ts';

/** The share of the budget that planned calls may take; the rest is for retries and latency. */
export const plannedShare = 0.985;

/** What an account needs to stay up to date, in calls a minute. */
export interface Demand {
  readonly polls: number;
  readonly discovery: number;
  /** Calls that no interval decides: host names, at their recent rate. */
  readonly other: number;
}

/** What to poll, and how many calls that takes the source. */
export interface Polled extends Pick<Source, 'cost'> {
  readonly subjects: readonly Subject[];
}

/** How many calls a discovery takes, how often there is one, and what else is sent in a minute. */
export interface OtherCalls extends DiscoveryCalls {
  readonly intervalMs: number;
  /** Host names, at their recent rate. */
  readonly otherPerMinute?: number | undefined;
}

/**
 * The calls a minute needed to poll everything as often as configured, when every host name is
 * known. Subjects with the same interval are polled together.
 */
export function callsPerMinute(
  { subjects, cost }: Polled,
  { calls, intervalMs }: Omit<OtherCalls, 'otherPerMinute'>,
): CallsByOperation {
  const byInterval = new Map<number, Subject[]>();
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
    for (const operation of operations) {
      sum[operation] += (ofPolls[operation] * minuteMs) / pollIntervalMs;
    }
  }
  return sum;
}

export function totalOf(calls: CallsByOperation): number {
  return operations.reduce((sum, operation) => sum + calls[operation], 0);
}

/** The demand of everything that is polled as often as configured. */
export function demandOf(polled: Polled, discovery: OtherCalls): Demand {
  const discoveryPerMinute = (discovery.calls * minuteMs) / discovery.intervalMs;
  return {
    polls: totalOf(callsPerMinute(polled, { calls: 0, intervalMs: discovery.intervalMs })),
    discovery: discoveryPerMinute,
    other: discovery.otherPerMinute ?? 0,
  };
}

/**
 * The calls a minute that are not stretched. The share of the capacity that is kept back for
 * retries and latency covers a part of them.
 */
function fixedOf({ discovery, other }: Demand, perMinute: number): number {
  return discovery + Math.max(0, other - (1 - plannedShare) * perMinute);
}

/** The calls a minute of a budget that may be planned. */
export function plannableOf(budgetPerMinute: number): number {
  return budgetPerMinute * plannedShare;
}

/** Whether everything can be polled as often as configured. */
export function isCovered(demand: Demand, budgetPerMinute: number): boolean {
  return demand.polls <= leftForPolls(demand, budgetPerMinute);
}

/** What a budget leaves for polls after the calls that are not stretched. */
export function leftForPolls(demand: Demand, perMinute: number): number {
  return plannableOf(perMinute) - fixedOf(demand, perMinute);
}

/** Polls are given a tenth in any case. */
function forPolls(demand: Demand, perMinute: number): number {
  return Math.max(perMinute / 10, leftForPolls(demand, perMinute));
}

/** The factor by which every interval grows when the capacity does not cover the demand; at least 1. */
export function stretchOf(demand: Demand, capacityPerMinute: number): number {
  return Math.max(1, demand.polls / forPolls(demand, capacityPerMinute));
}

/** The share of the capacity that is free for polling a little earlier than needed, at most a half. */
export function headroomOf(demand: Demand, capacityPerMinute: number): number {
  return Math.min(0.5, Math.max(0, 1 - demand.polls / forPolls(demand, capacityPerMinute)));
}

/** The discovery interval of an account: the shortest that any of its entries wants. */
export function discoveryIntervalOf(polls: readonly PollConfig[]): number {
  return polls.reduce(
    (least, { discoveryIntervalMs }) => Math.min(least, discoveryIntervalMs),
    Number.POSITIVE_INFINITY,
  );
}
