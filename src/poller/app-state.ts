import type { FailureReason } from '../model/api-error.ts';
import { type Application, mergedApplication } from '../model/application.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import {
  type SelectedApplication,
  withNamedHosts,
  withNewHosts,
} from '../model/selected-application.ts';
import type { AppReading, AppSnapshot } from '../model/snapshot.ts';
import { type HostNameState, hostNamesAfter, noHostNames } from './host-names.ts';

/** All that the poller remembers about one application: replaced, never changed. */
export interface AppState {
  readonly selected: SelectedApplication;
  readonly hostNames: HostNameState;
  readonly reading: AppReading | undefined;
  readonly pollSucceeded: boolean | undefined;
  /** Wall time of the last poll that got everything. */
  readonly lastSuccessMs: number | undefined;
  /** What did not arrive in the last poll, and since when it has not, on the monotonic clock. */
  readonly failedSinceMs: ReadonlyMap<string, number>;
  /** Why it did not arrive: a refused key before other reasons; `undefined` when all arrived. */
  readonly failedFor: FailureReason | undefined;
  /**
   * Monotonic time at which the first failed poll since values were last published began; or should
   * have ended, if that is earlier.
   */
  readonly failingSinceMs: number | undefined;
  /** The vendor answered 404 although its list has the application. */
  readonly gone: boolean;
  /** Its number in the order of discovery, from 0. Decides its phase. */
  readonly phaseIndex: number;
  /** Monotonic time of the last discovery that found it. */
  readonly discoveredMs: number;
  readonly nextDueMs: number;
  /** After this time a poll that is due is late. */
  readonly overdueMs: number;
  readonly pollsEnded: number;
}

export interface Now {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** A poll with failures may be published if at most this share, or one part, of it failed. */
const recentShare = 0.1;
/** Parts that have failed for `stale_after` are not counted, up to this share in all. */
const totalShare = 0.5;

export function newAppState(
  selected: SelectedApplication,
  phaseIndex: number,
  nowMs: number,
): AppState {
  return {
    selected,
    hostNames: noHostNames,
    reading: undefined,
    pollSucceeded: undefined,
    lastSuccessMs: undefined,
    failedSinceMs: new Map(),
    failedFor: undefined,
    failingSinceMs: undefined,
    gone: false,
    phaseIndex,
    discoveredMs: nowMs,
    nextDueMs: nowMs,
    overdueMs: nowMs,
    pollsEnded: 0,
  };
}

/** The state after a complete discovery: hosts that it no longer lists are gone at once. */
export function afterDiscovery(
  known: AppState,
  found: SelectedApplication,
  nowMs: number,
): AppState {
  const selected = mergedSelection(known, found);
  const { hostIds } = known.selected.application;
  const reading =
    hostIds === selected.application.hostIds
      ? known.reading
      : withHostsOf(known.reading, selected.application.hostIds);
  return { ...known, selected, reading, discoveredMs: nowMs };
}

/** The state after an incomplete discovery: it may add hosts and refresh the rest. */
export function refreshed(known: AppState, found: SelectedApplication, nowMs: number): AppState {
  const hostIds = union(known.selected.application.hostIds, found.application.hostIds);
  const application = { ...found.application, hostIds };
  const selected = mergedSelection(known, { ...found, application });
  return { ...known, selected, discoveredMs: nowMs };
}

function mergedSelection(
  { selected: known, hostNames }: AppState,
  found: SelectedApplication,
): SelectedApplication {
  const application = mergedApplication(known.application, found.application);
  const isSame = application === known.application && found.entry === known.entry;
  return isSame ? known : withNamedHosts({ ...found, application }, hostNames.names);
}

function union(
  known: readonly string[] | undefined,
  found: readonly string[] | undefined,
): readonly string[] | undefined {
  if (known === undefined || found === undefined) return found ?? known;
  return [...new Set([...known, ...found])];
}

/**
 * The state after a poll. A complete poll is published. A poll with failures is held back the first
 * time, so that a short disturbance leaves no gap; unless there are no earlier values to hold. If
 * the next one has failures too, it is published without what failed, so that a broken host cannot
 * hold back the others. But a large part of an application is never left out, however long an
 * outage takes: a part must not pass for the whole.
 */
export function afterPoll(
  state: AppState,
  outcome: PollOutcome,
  asked: { readonly hostNames: boolean; readonly startMs: number; readonly deadlineMs: number },
  now: Now,
): AppState {
  const failedSinceMs = new Map(
    [...outcome.failed].map((scope): [string, number] => [
      scope,
      state.failedSinceMs.get(scope) ?? asked.startMs,
    ]),
  );
  const next: AppState = {
    ...state,
    // They may come without being asked for, with the values.
    ...(asked.hostNames || outcome.hostNames ? namesAfter(state, outcome, now) : undefined),
    failedSinceMs,
    failedFor: reasonOf(outcome),
    pollsEnded: state.pollsEnded + 1,
  };
  if (outcome.gone) return { ...next, gone: true, reading: undefined, pollSucceeded: true };
  const reading = withHostsOf(outcome.reading, next.selected.application.hostIds);
  if (outcome.failed.size === 0) {
    return {
      ...next,
      gone: false,
      reading,
      pollSucceeded: true,
      lastSuccessMs: now.wallMs,
      failingSinceMs: undefined,
    };
  }
  if (isPublishable(state, outcome, failedSinceMs, now)) {
    return { ...next, gone: false, reading, pollSucceeded: false, failingSinceMs: undefined };
  }
  // Earlier polls may have been aborted: then this one began late.
  const sinceMs = Math.min(asked.startMs, state.nextDueMs + asked.deadlineMs);
  return { ...next, pollSucceeded: false, failingSinceMs: state.failingSinceMs ?? sinceMs };
}

function namesAfter(
  state: AppState,
  outcome: PollOutcome,
  now: Now,
): Pick<AppState, 'selected' | 'hostNames'> {
  const selected = withNewHosts(state.selected, outcome.hostNames);
  const hostNames = hostNamesAfter(state.hostNames, selected, outcome, now);
  return { hostNames, selected: withNamedHosts(selected, hostNames.names) };
}

function reasonOf({ failed, unauthorized, error }: PollOutcome): FailureReason | undefined {
  if (failed.size === 0) return undefined;
  return unauthorized ? 'auth' : error?.reason;
}

/** What to publish. Of a stale discovery only the identity of the application remains. */
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
    hostsOnly: !entry.application,
    hostNames: state.hostNames.names,
    reading: state.reading,
    pollSucceeded: state.pollSucceeded,
    lastSuccessMs: state.lastSuccessMs,
  };
}

function isPublishable(
  state: AppState,
  { reading, unauthorized, askedParts }: PollOutcome,
  failedSinceMs: ReadonlyMap<string, number>,
  { monotonicMs }: Now,
): boolean {
  if (reading === undefined || unauthorized) return false;
  if (state.reading !== undefined && state.failedSinceMs.size === 0) return false;
  const { staleAfterMs } = state.selected.entry.poll;
  const lately = [...failedSinceMs.values()].filter((atMs) => monotonicMs - atMs < staleAfterMs);
  return (
    lately.length <= Math.max(1, recentShare * askedParts) &&
    failedSinceMs.size <= Math.max(1, totalShare * askedParts)
  );
}

/** The reading without hosts that are not in `hostIds`; the same object if none has to go. */
export function withHostsOf(
  reading: AppReading | undefined,
  hostIds: readonly string[] | undefined,
): AppReading | undefined {
  if (hostIds === undefined || reading === undefined || reading.hosts.size === 0) return reading;
  const wanted = new Set(hostIds);
  const hosts = [...reading.hosts].filter(([id]) => wanted.has(id));
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
    instances: undefined,
  };
}
