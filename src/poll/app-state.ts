import { mergedApplication } from '../model/application.ts';
import type { Now } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import {
  type SelectedApplication,
  withNamedHosts,
  withNewHosts,
} from '../model/selected-application.ts';
import { hasValues } from '../model/snapshot.ts';
import { type HostNameState, hostNamesAfter, noHostNames } from './host-names.ts';
import {
  heldSinceMs,
  noParts,
  type PartReading,
  partsOf,
  withArrived,
  withHosts,
  withoutStale,
  withSeries,
} from './parts.ts';
import {
  afterPollOf,
  failingFrom,
  type SubjectState,
  unpolled,
  type Why,
  whyOfError,
} from './subject-state.ts';

/** All that the poller remembers about one application: replaced, never changed. */
export interface AppState extends SubjectState, PartReading {
  readonly kind: 'application';
  readonly reading: PartReading['reading'];
  readonly selected: SelectedApplication;
  readonly hostNames: HostNameState;
  /** Monotonic time of the last discovery that found it. */
  readonly discoveredMs: number;
}

/** Monotonic time at which values that are held become too old for that; `undefined` if none are. */
export function appStaleAtMs(state: AppState): number | undefined {
  const { late, pollSucceeded, reading, selected } = state;
  if (reading === undefined || (pollSucceeded !== false && late === undefined)) return undefined;
  const sinceMs = failingFrom({ late }, heldSinceMs(state) ?? Infinity);
  return Number.isFinite(sinceMs) ? sinceMs + selected.entry.poll.staleAfterMs : undefined;
}

/** Drops values that were not renewed for `stale_after`: those of single parts, or all if a poll is late. */
export function appWhenStale(state: AppState, nowMs: number): AppState {
  const { staleAfterMs } = state.selected.entry.poll;
  const isAllStale = nowMs - (state.late?.sinceMs ?? Infinity) >= staleAfterMs;
  const left = withoutStale(state, { nowMs, staleAfterMs });
  const parts = isAllStale ? noParts : left;
  const isDropped = parts.reading === undefined && hasValues(state.reading);
  const droppedMs = isDropped ? nowMs : undefined;
  return { ...state, ...parts, pollSucceeded: false, droppedMs };
}

/** The state of an application that was found just now. */
export function newAppState(
  selected: SelectedApplication,
  phaseIndex: number,
  nowMs: number,
): AppState {
  return {
    kind: 'application',
    ...unpolled(phaseIndex, nowMs),
    ...noParts,
    selected,
    hostNames: noHostNames,
    discoveredMs: nowMs,
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
  const kept = keptParts(known, selected);
  const isSame = hostIds === selected.application.hostIds;
  const parts = isSame ? kept : withHosts(kept, selected.application.hostIds);
  return { ...known, ...parts, selected, discoveredMs: nowMs };
}

/** The state after an incomplete discovery: it may add hosts and refresh the rest. */
export function refreshed(known: AppState, found: SelectedApplication, nowMs: number): AppState {
  const hostIds = union(known.selected.application.hostIds, found.application.hostIds);
  const application = { ...found.application, hostIds };
  const selected = mergedSelection(known, { ...found, application });
  return { ...known, ...keptParts(known, selected), selected, discoveredMs: nowMs };
}

/** An application that has another name may be chosen by another entry. */
function keptParts(known: AppState, found: SelectedApplication): PartReading {
  const { parts, reading, selected } = known;
  const kept = { parts, reading };
  return selected.entry === found.entry ? kept : withSeries(kept, found.entry.series);
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
 * The state after a poll. What arrived is published at once. What failed is held, part by part, until it
 * has failed for `stale_after`: the application's own values are one part, and each host is one.
 */
export function afterPoll(
  state: AppState,
  outcome: PollOutcome,
  asked: { readonly hostNames: boolean; readonly startMs: number },
  now: Now,
): AppState {
  const { wallMs, monotonicMs: nowMs } = now;
  const listed = withHostList(state.selected, outcome.hostIds);
  const next: AppState = {
    ...state,
    ...afterPollOf(state, whyOf(outcome), asked.startMs, now),
    selected: listed,
    // They may come without being asked for, with the values.
    ...(asked.hostNames || outcome.hostNames
      ? namesAfter({ ...state, selected: listed }, outcome, now)
      : undefined),
  };
  if (outcome.gone) {
    return { ...next, ...noParts, gone: true, droppedMs: undefined, pollSucceeded: true };
  }
  const { application, entry } = next.selected;
  // It may have begun for another entry.
  const asWanted = withSeries(partsOf(outcome.reading), entry.series);
  const arrived = withHosts(asWanted, application.hostIds);
  const startMs = failingFrom(state, asked.startMs);
  const { staleAfterMs } = entry.poll;
  const parts = withArrived(state, outcome, arrived, { startMs, nowMs, staleAfterMs });
  const isWhole = outcome.failed.size === 0;
  const isEmpty = !isWhole && parts.reading === undefined;
  const droppedMs = hasValues(state.reading) ? nowMs : state.droppedMs;
  return {
    ...next,
    ...parts,
    gone: arrived.reading === undefined && state.gone,
    pollSucceeded: isWhole,
    lastSuccessMs: isWhole ? wallMs : state.lastSuccessMs,
    droppedMs: isEmpty ? droppedMs : undefined,
  };
}

/** Where no discovery lists the hosts, polls do. */
function withHostList(
  selected: SelectedApplication,
  hostIds: readonly string[] | undefined,
): SelectedApplication {
  const { application } = selected;
  if (hostIds === undefined || hostIds === application.hostIds) return selected;
  return { ...selected, application: { ...application, hostIds } };
}

function namesAfter(
  state: Pick<AppState, 'selected' | 'hostNames'>,
  outcome: PollOutcome,
  now: Now,
): Pick<AppState, 'selected' | 'hostNames'> {
  const selected = withNewHosts(state.selected, outcome.hostNames);
  const hostNames = hostNamesAfter(state.hostNames, selected, outcome, now);
  return { hostNames, selected: withNamedHosts(selected, hostNames.names) };
}

const gone: Why = {
  reason: 'not_found',
  message:
    'New Relic lists the application, but answers 404 when asked for it. Nothing is published until it answers again.',
};

const unexplained: Why = {
  reason: 'client',
  message: 'Something that the poll asked for did not arrive, and no call says why.',
};

/** Why a poll did not get everything: a refused key before other reasons; `undefined` if it did. */
function whyOf({ gone: isGone, failed, error, unauthorized }: PollOutcome): Why | undefined {
  if (isGone) return gone;
  if (failed.size === 0) return undefined;
  if (error === undefined) return unexplained;
  return whyOfError(error, unauthorized);
}
