import type { PollConfig } from '../model/config.ts';
import type { SelectedApplication } from '../model/selector.ts';
import { createOwnerOf, type Shard, type ShardDemands } from '../model/shard.ts';
import type { Discovery } from '../model/source.ts';
import type { Operation } from '../model/telemetry.ts';

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

/** The hosts to ask for. */
export function hostsToPoll({
  application,
  entry,
  namedHostIds,
}: SelectedApplication): readonly string[] {
  if (typeof entry.hosts === 'object') return namedHostIds ?? [];
  return entry.hosts ? (application.hostIds ?? []) : [];
}

/** How many hosts there will be to ask for: the host of this process is taken to be there at first. */
export function expectedHosts(selected: SelectedApplication): number {
  const { hosts } = selected.entry;
  const isUnknown = selected.namedHostIds === undefined;
  if (isUnknown && typeof hosts === 'object' && hosts.kind === 'self') return 1;
  return hostsToPoll(selected).length;
}

/** Calls by what they are for. */
export type CallsByOperation = Readonly<Record<Operation, number>>;

/** The calls that one poll takes, host names not counted. */
export function callsPerPoll(selected: SelectedApplication): CallsByOperation {
  const isPolled = isWorthPolling(selected);
  return {
    list_applications: 0,
    list_hosts: 0,
    application_throughput: isPolled && selected.entry.application ? 1 : 0,
    host_throughput: isPolled ? expectedHosts(selected) : 0,
  };
}

/**
 * The calls a minute that the polls of an application take, as every shard sees it alike: by the list of
 * the applications alone. Of hosts that are chosen by their names it is the most that there may be.
 */
function sharedDemandOf(selected: SelectedApplication): number {
  const { application, entry } = selected;
  const hostIds = application.hostIds ?? [];
  const isSelf = typeof entry.hosts === 'object' && entry.hosts.kind === 'self';
  const namedHostIds = isSelf ? hostIds.slice(0, 1) : hostIds;
  const calls = callsPerPoll({ application, entry, namedHostIds });
  const perPoll = calls.application_throughput + calls.host_throughput;
  return (perPoll * minuteMs) / entry.poll.intervalMs;
}

/** What an account needs to be up to date, in calls a minute. */
export interface Demand {
  readonly polls: number;
  readonly discovery: number;
  /** What no interval decides: host names and retries, as many as there were lately. */
  readonly other: number;
}

/**
 * The calls a minute that it takes to poll everything as often as configured, once every host has
 * been asked for its name.
 */
export function callsPerMinute(
  applications: readonly SelectedApplication[],
  discoveryCalls: number,
  discoveryIntervalMs: number,
): CallsByOperation {
  let ofApplications = 0;
  let ofHosts = 0;
  for (const selected of applications) {
    const pollsPerMinute = minuteMs / selected.entry.poll.intervalMs;
    const calls = callsPerPoll(selected);
    ofApplications += calls.application_throughput * pollsPerMinute;
    ofHosts += calls.host_throughput * pollsPerMinute;
  }
  return {
    list_applications: (discoveryCalls * minuteMs) / discoveryIntervalMs,
    list_hosts: 0,
    application_throughput: ofApplications,
    host_throughput: ofHosts,
  };
}

/** The calls that it takes to poll everything as often as configured. */
export function demandOf(
  applications: readonly SelectedApplication[],
  discoveryCalls: number,
  discoveryIntervalMs: number,
  otherPerMinute: number = 0,
): Demand {
  const calls = callsPerMinute(applications, discoveryCalls, discoveryIntervalMs);
  return {
    polls: calls.application_throughput + calls.host_throughput,
    discovery: calls.list_applications,
    other: otherPerMinute,
  };
}

/** What a capacity has to cover; what is kept back for retries and latency covers a part of the rest. */
function fixedOf({ discovery, other }: Demand, perMinute: number): number {
  return discovery + Math.max(0, other - (1 - plannedShare) * perMinute);
}

/** The calls a minute that may be planned with a budget. */
export function plannableOf(budgetPerMinute: number): number {
  return budgetPerMinute * plannedShare;
}

/** Whether everything can be polled as often as configured. */
export function isCovered(demand: Demand, budgetPerMinute: number): boolean {
  return demand.polls + fixedOf(demand, budgetPerMinute) <= plannableOf(budgetPerMinute);
}

/** The least budget, in whole calls a minute, that covers the demand. */
export function budgetFor(demand: Demand): number {
  const about = Math.floor((demand.polls + demand.discovery) / plannedShare);
  return Math.max(1, isCovered(demand, about) ? about : about + 1);
}

/**
 * The factor by which every interval would have to be longer for the budget to cover the demand;
 * `undefined` when discovery alone takes all of it.
 */
export function intervalFactorFor(demand: Demand, budgetPerMinute: number): number | undefined {
  const left = plannableOf(budgetPerMinute) - fixedOf(demand, budgetPerMinute);
  return left > 0 ? Math.max(1, demand.polls / left) : undefined;
}

/** What a capacity leaves for polls, since the rest is not stretched; never less than a tenth. */
function forPolls(demand: Demand, perMinute: number): number {
  return Math.max(perMinute / 10, plannableOf(perMinute) - fixedOf(demand, perMinute));
}

/** The factor by which every interval grows when the capacity does not cover the demand; at least 1. */
export function stretchOf(demand: Demand, capacityPerMinute: number): number {
  return Math.max(1, demand.polls / forPolls(demand, capacityPerMinute));
}

/** The share of the capacity that is free for polling a little earlier than needed, at most a half. */
export function slackOf(demand: Demand, capacityPerMinute: number): number {
  return Math.min(0.5, Math.max(0, 1 - demand.polls / forPolls(demand, capacityPerMinute)));
}

/** How often one account is discovered: as often as its most demanding entry wants. */
export function discoveryIntervalOf(polls: readonly PollConfig[]): number {
  return polls.reduce(
    (least, { discoveryIntervalMs }) => Math.min(least, discoveryIntervalMs),
    Number.POSITIVE_INFINITY,
  );
}

/** The part of an account that this process polls, beside those of other shards. */
export interface Partition {
  /** How many parts there are: each of them is looked at to find out whose an application is. */
  readonly shards: number;
  /** Whether this process is the one that polls an application, or reports on an entry. */
  readonly owns: (key: string) => boolean;
  /** Counts an application that an entry chooses, whoever polls it. */
  readonly chosen: (selected: SelectedApplication) => void;
  /**
   * What the shards need, by all that was chosen in a discovery; `undefined` if this process is the only
   * one, or if the discovery did not see all.
   */
  demands(
    discovery: Pick<Discovery, 'calls' | 'complete'>,
    intervalMs: number,
  ): ShardDemands | undefined;
}

export function createPartition(shard: Shard | undefined): Partition {
  if (shard === undefined) {
    return { shards: 1, owns: () => true, chosen: () => undefined, demands: () => undefined };
  }
  const { ordinal, total } = shard;
  const ownerOf = remembering(createOwnerOf(total));
  const polls = Array.from({ length: total }, () => 0);
  return {
    shards: total,
    owns: (key) => ownerOf(key) === ordinal,
    chosen: (selected) => {
      const owner = ownerOf(selected.application.id);
      polls[owner] = (polls[owner] ?? 0) + sharedDemandOf(selected);
    },
    demands: ({ calls, complete }, intervalMs) =>
      complete ? { polls, discovery: (calls * 60_000) / intervalMs } : undefined,
  };
}

/** Who is asked for twice is looked for once. */
function remembering(ownerOf: (key: string) => number): (key: string) => number {
  let lastKey: string | undefined;
  let lastOwner = 0;
  return (key) => {
    if (key !== lastKey) lastOwner = ownerOf(key);
    lastKey = key;
    return lastOwner;
  };
}
