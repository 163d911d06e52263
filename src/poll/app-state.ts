import { mergedApplication } from '../model/application.ts';
import type { Now } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import {
  hostChoiceOf,
  hostsToPoll,
  isSameHostChoice,
  type SelectedApplication,
  withNamedHosts,
  withNewHosts,
} from '../model/selected-application.ts';
import { type HostNameState, hostNamesAfter, noHostNames } from './host-names.ts';
import { noParts, type Parts, partsOf, withArrived, withHosts, withSeries } from './parts.ts';
import {
  afterPollOf,
  failingFrom,
  type SubjectState,
  unpolled,
  type Why,
  whyOfError,
} from './subject-state.ts';

/** All that the poller remembers about one application: replaced, never changed. */
export interface AppState extends SubjectState, Parts {
  readonly kind: 'application';
  readonly reading: Parts['reading'];
  readonly selected: SelectedApplication;
  readonly hostNames: HostNameState;
  /** Monotonic time of the last discovery that found it. */
  readonly discoveredMs: number;
}

/** The state of an application that was found just now. */
export function newAppState(selected: SelectedApplication, phase: number, nowMs: number): AppState {
  return {
    kind: 'application',
    ...unpolled(phase, nowMs),
    ...noParts,
    selected,
    hostNames: noHostNames,
    discoveredMs: nowMs,
  };
}

/** The state after a complete discovery: hosts that it no longer lists are gone at once. */
export function afterDiscovery(
  known: AppState,
  { application, entry }: SelectedApplication,
  nowMs: number,
): AppState {
  const merged = mergedApplication(known.selected.application, application);
  return { ...withSelection(known, { application: merged, entry }), discoveredMs: nowMs };
}

/** The state after an incomplete discovery: it may add hosts and refresh the rest. */
export function refreshed(known: AppState, found: SelectedApplication, nowMs: number): AppState {
  const hostIds = union(known.selected.application.hostIds, found.application.hostIds);
  const application = { ...found.application, hostIds };
  return afterDiscovery(known, { ...found, application }, nowMs);
}

/**
 * The state when the application is another one, as it was found, or is chosen by another entry. What is no
 * longer wanted goes at once.
 */
export function withSelection(
  known: AppState,
  { application, entry }: SelectedApplication,
): AppState {
  const before = known.selected;
  if (application === before.application && entry === before.entry) return known;
  const isSameChoice =
    entry === before.entry || isSameHostChoice(hostChoiceOf(before.entry), hostChoiceOf(entry));
  // Another choice of hosts may need names that were not asked for.
  const { names } = known.hostNames;
  const hostNames = isSameChoice ? known.hostNames : { ...noHostNames, names };
  const selected = withNamedHosts({ application, entry }, names);
  const ofSeries = withSeries(known, entry.series);
  const hostIds = isSameChoice ? application.hostIds : hostsToPoll(selected);
  const isSame = hostIds === before.application.hostIds;
  const parts = isSame ? ofSeries : withHosts(ofSeries, hostIds);
  return { ...known, ...parts, selected, hostNames };
}

function union(
  known: readonly string[] | undefined,
  found: readonly string[] | undefined,
): readonly string[] | undefined {
  if (known === undefined || found === undefined) return found ?? known;
  return [...new Set([...known, ...found])];
}

/**
 * The state after a poll. What arrived is published at once. What failed is held, part by part: the
 * application's own values are one part, and each host is one. `States` finds what is stale.
 */
export function afterPoll(
  state: AppState,
  outcome: PollOutcome,
  asked: { readonly hostNames: boolean; readonly startMs: number },
  now: Now,
): AppState {
  const listed = { ...state, selected: withHostList(state.selected, outcome.hostIds) };
  // They may come without being asked for, with the values.
  const areNamesKnown = asked.hostNames || outcome.hostNames !== undefined;
  const known = areNamesKnown ? { ...listed, ...namesAfter(listed, outcome, now) } : listed;
  const why = whyOf(outcome);
  if (outcome.gone) {
    const ended = afterPollOf(known, why, asked.startMs, now);
    return {
      ...known,
      ...noParts,
      ...ended,
      gone: true,
      droppedMs: undefined,
      pollSucceeded: true,
    };
  }
  const { application, entry } = known.selected;
  // It may have begun for another entry.
  const asWanted = withSeries(partsOf(outcome.reading), entry.series);
  const arrived = withHosts(asWanted, application.hostIds);
  const parts = withArrived(state, arrived, outcome.failed, failingFrom(state, asked.startMs));
  const next = { ...known, ...parts, gone: arrived.reading === undefined && state.gone };
  return { ...next, ...afterPollOf(next, why, asked.startMs, now) };
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
