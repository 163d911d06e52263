import type { FailureReason } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { AppReading } from '../model/reading.ts';
import type { SelectedApplication } from '../model/selector.ts';
import type { AppSnapshot } from '../model/snapshot.ts';
import { hostsToPoll } from './demand.ts';
import { type HostNameState, hostNamesAfter, noHostNames } from './host-names.ts';
import { mergedApplication } from './merged-application.ts';
import type { PollOutcome } from './poll-outcome.ts';

/** All that the poller remembers of one application: a record that is replaced, never changed. */
export interface AppState {
  readonly selected: SelectedApplication;
  readonly hostNames: HostNameState;
  readonly reading: AppReading | undefined;
  readonly pollSucceeded: boolean | undefined;
  /** Wall time of the last poll that got everything. */
  readonly lastSuccessMs: number | undefined;
  /** What did not arrive in the last poll. */
  readonly failed: ReadonlySet<string>;
  /** Why it did not; `undefined` when all did. */
  readonly failedFor: FailureReason | undefined;
  /** Monotonic time at which the first poll began that failed since values were last published. */
  readonly failingSinceMs: number | undefined;
  /** The vendor answered 404 although its list has the application. */
  readonly gone: boolean;
  /** Its number in the order of discovery, from 0: decides its place in the interval. */
  readonly order: number;
  /** When a discovery last had it, on the monotonic clock. */
  readonly discoveredMs: number;
  readonly nextDueMs: number;
  /** From then on a poll that is due is late. */
  readonly overdueMs: number;
  readonly pollsEnded: number;
}

export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** A poll with failures is published all the same if at most this share of its calls, or one call, is newly failing. */
const tolerableShare = 0.1;

export function newAppState(selected: SelectedApplication, order: number, nowMs: number): AppState {
  return {
    selected,
    hostNames: noHostNames,
    reading: undefined,
    pollSucceeded: undefined,
    lastSuccessMs: undefined,
    failed: new Set(),
    failedFor: undefined,
    failingSinceMs: undefined,
    gone: false,
    order,
    discoveredMs: nowMs,
    nextDueMs: nowMs,
    overdueMs: nowMs,
    pollsEnded: 0,
  };
}

/** What a complete discovery says: hosts that it no longer lists are gone at once. */
export function afterDiscovery(
  known: AppState,
  found: SelectedApplication,
  nowMs: number,
): AppState {
  const selected = mergedSelection(known.selected, found);
  const { hostIds } = known.selected.application;
  const reading =
    hostIds === selected.application.hostIds
      ? known.reading
      : listedOnly(selected.application, known.reading);
  return { ...known, selected, reading, discoveredMs: nowMs };
}

/** What an incomplete discovery says: it may add hosts, and refresh the rest. */
export function refreshed(known: AppState, found: SelectedApplication, nowMs: number): AppState {
  const hostIds = union(known.selected.application.hostIds, found.application.hostIds);
  const application = { ...found.application, hostIds };
  const selected = mergedSelection(known.selected, { ...found, application });
  return { ...known, selected, discoveredMs: nowMs };
}

function mergedSelection(
  known: SelectedApplication,
  found: SelectedApplication,
): SelectedApplication {
  const application = mergedApplication(known.application, found.application);
  const isSame = application === known.application && found.entry === known.entry;
  return isSame ? known : { ...found, application };
}

function union(
  known: readonly string[] | undefined,
  found: readonly string[] | undefined,
): readonly string[] | undefined {
  if (known === undefined || found === undefined) return found ?? known;
  return [...new Set([...known, ...found])];
}

/**
 * A complete poll is published. One with failures is held back the first time, so that a short
 * disturbance makes no gap; if the next one has failures too it is published without what failed,
 * so that a broken host cannot hold back the others, unless much of it failed for the first time.
 */
export function afterPoll(
  state: AppState,
  outcome: PollOutcome,
  asked: { readonly hostNames: boolean; readonly startMs: number },
  now: Moment,
): AppState {
  const next: AppState = {
    ...state,
    hostNames: asked.hostNames
      ? hostNamesAfter(state.hostNames, hostsToPoll(state.selected), outcome, now)
      : state.hostNames,
    failed: outcome.failed,
    failedFor: outcome.failed.size === 0 ? undefined : outcome.error?.reason,
    pollsEnded: state.pollsEnded + 1,
  };
  if (outcome.gone) {
    return { ...next, gone: true, reading: undefined, pollSucceeded: true, failed: new Set() };
  }
  if (outcome.failed.size === 0) {
    return {
      ...next,
      gone: false,
      reading: listedOnly(state.selected.application, outcome.reading),
      pollSucceeded: true,
      lastSuccessMs: now.wallMs,
      failingSinceMs: undefined,
    };
  }
  if (isPublishable(state, outcome)) {
    return {
      ...next,
      gone: false,
      reading: listedOnly(state.selected.application, outcome.reading),
      pollSucceeded: false,
      failingSinceMs: undefined,
    };
  }
  return {
    ...next,
    pollSucceeded: false,
    failingSinceMs: state.failingSinceMs ?? asked.startMs,
  };
}

/** When the values become too old to be held any longer, on the monotonic clock. */
export function staleAtMs({ failingSinceMs, reading, selected }: AppState): number | undefined {
  if (reading === undefined || failingSinceMs === undefined) return undefined;
  return failingSinceMs + selected.entry.poll.staleAfterMs;
}

/** Drops values that could not be renewed for `stale_after`. */
export function whenStale(state: AppState, nowMs: number): AppState {
  const atMs = staleAtMs(state);
  return atMs !== undefined && nowMs >= atMs ? { ...state, reading: undefined } : state;
}

/** What is published; without what the discovery said when that is stale. */
export function snapshotOf(
  account: string,
  state: AppState,
  isDiscoveryStale: boolean,
): AppSnapshot {
  const { application, entry } = state.selected;
  return {
    account,
    application: isDiscoveryStale ? identityOf(application) : application,
    labels: entry.labels,
    hostNames: state.hostNames.names,
    reading: state.reading,
    pollSucceeded: state.pollSucceeded,
    lastSuccessMs: state.lastSuccessMs,
  };
}

function isPublishable(state: AppState, outcome: PollOutcome): boolean {
  if (outcome.reading === undefined || outcome.refused || state.failed.size === 0) return false;
  const newlyFailing = [...outcome.failed].filter((scope) => !state.failed.has(scope)).length;
  return newlyFailing <= Math.max(1, tolerableShare * outcome.plannedCalls);
}

/** Without the hosts that a discovery no longer lists; the same reading if there are none. */
function listedOnly(
  { hostIds }: Application,
  reading: AppReading | undefined,
): AppReading | undefined {
  if (reading === undefined || hostIds === undefined) return reading;
  const listed = new Set(hostIds);
  const hosts = [...reading.hosts].filter(([id]) => listed.has(id));
  return hosts.length === reading.hosts.size ? reading : { ...reading, hosts: new Map(hosts) };
}

function identityOf({ id, name, language }: Application): Application {
  return {
    id,
    name,
    language,
    healthStatus: undefined,
    reporting: undefined,
    lastReportedAtMs: undefined,
    summary: undefined,
    hostIds: undefined,
    instanceIds: undefined,
  };
}

/** Two minutes in which another process is admitted, and some time to notice that it should be. */
const admissionMs = 135_000;

/** How long values may be shown that another process polls from now on. */
export function handOverWithinMs({ selected }: AppState, intervalMs: number): number {
  return Math.min(intervalMs + admissionMs, selected.entry.poll.staleAfterMs);
}
