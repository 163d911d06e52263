import { isDeepStrictEqual } from 'node:util';
import { mergedApplication } from '../model/application.ts';
import type { Now } from '../model/clock.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../model/poll-outcome.ts';
import type { PolledSeries, Values } from '../model/polled-series.ts';
import {
  hostChoiceOf,
  hostChoiceText,
  hostsToPoll,
  type SelectedApplication,
  wantsHostNames,
  withNamedHosts,
} from '../model/selected-application.ts';
import type { AppReading } from '../model/snapshot.ts';
import { growsWithWindow } from '../model/vendor-value.ts';
import { readOf } from './question.ts';
import {
  afterPollOf,
  failingFrom,
  type SubjectState,
  unpolled,
  type Why,
  whyOfError,
} from './subject-state.ts';

/** All that the poller remembers about one application: replaced, never changed. */
export interface AppState extends SubjectState, StateParts {
  readonly kind: 'application';
  readonly reading: StateParts['reading'];
  readonly selected: SelectedApplication;
  /** By their ids, as far as they are known and wanted. */
  readonly hostNames: ReadonlyMap<string, string>;
  /** Monotonic time of the last discovery that found it. */
  readonly discoveredMs: number;
}

const noHostNames: ReadonlyMap<string, string> = new Map();

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
 * longer wanted goes at once, and of another window what grows with it.
 */
export function withSelection(
  known: AppState,
  { application, entry }: SelectedApplication,
): AppState {
  const before = known.selected;
  if (application === before.application && entry === before.entry) return known;
  const isSameChoice =
    hostChoiceText(hostChoiceOf(before.entry)) === hostChoiceText(hostChoiceOf(entry));
  const hostNames = wantsHostNames(entry) ? known.hostNames : noHostNames;
  const named = withNamedHosts({ application, entry }, hostNames);
  // None may be one that was not looked for yet, or that comes back with another id.
  const isFound = named.namedHostIds?.length !== 0;
  const isNone = isSameChoice && before.namedHostIds?.length === 0;
  const selected = isFound || isNone ? named : { application, entry };
  const isSameWindow = isDeepStrictEqual(before.entry.poll.window, entry.poll.window);
  const ofSeries = withSeries(known, entry.series, isSameWindow);
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
  startMs: number,
  now: Now,
): AppState {
  const known = { ...state, ...withHostsOf(state, outcome) };
  const why = whyOf(outcome);
  if (outcome.gone) {
    const ended = afterPollOf(known, why, startMs, now);
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
  const parts = withArrived(state, arrived, outcome.failed, failingFrom(state, startMs));
  const next = { ...known, ...parts, gone: arrived.reading === undefined && state.gone };
  return { ...next, ...afterPollOf(next, why, startMs, now) };
}

/** Polls may show which hosts there are, and how they are called. It may have begun for another entry. */
function withHostsOf(
  { selected: { entry, ...before }, hostNames: known }: AppState,
  { hostIds = before.application.hostIds, hosts: hostNames }: PollOutcome,
): Pick<AppState, 'selected' | 'hostNames'> {
  const isSame = hostIds === before.application.hostIds;
  const application = isSame ? before.application : { ...before.application, hostIds };
  if (hostNames === undefined || !wantsHostNames(entry)) {
    return { selected: { ...before, application, entry }, hostNames: known };
  }
  return { selected: withNamedHosts({ application, entry }, hostNames), hostNames };
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

/** A part that did not arrive with the last poll. */
interface FailingPart {
  /** Monotonic time since when. */
  readonly sinceMs: number;
  /** End of the window of its values, if any are held. */
  readonly windowEndMs: number | undefined;
}

/** What is shown of an application. Its own values are one part, and those of each host. */
interface StateParts {
  /** Its window ends where that of the oldest part does. */
  readonly reading: AppReading | undefined;
  /** By `applicationScope` or the id of a host; `hostsScope` stands for hosts that cannot be named. */
  readonly failing: ReadonlyMap<string, FailingPart>;
  /** End of the window of the parts that arrived with the last poll. */
  readonly arrivedEndMs: number | undefined;
  /** Monotonic time since when the part has failed whose values are held for longest. */
  readonly heldSinceMs: number | undefined;
}

export const noParts: StateParts = partsOf(undefined);

/** What a poll brought. */
function partsOf(reading: AppReading | undefined): StateParts {
  return madeOf(reading, new Map(), reading?.windowEndMs);
}

function madeOf(
  reading: AppReading | undefined,
  failing: ReadonlyMap<string, FailingPart>,
  arrivedEndMs: number | undefined,
): StateParts {
  const held = [...failing].filter(([scope]) => isShown(reading, scope)).map(([, part]) => part);
  const windowEndMs = earliest([arrivedEndMs, ...held.map((part) => part.windowEndMs)]);
  const heldSinceMs = earliest(held.map(({ sinceMs }) => sinceMs));
  const isSame = reading === undefined || reading.windowEndMs === windowEndMs;
  const made = isSame ? reading : { ...reading, windowEndMs };
  return { reading: made, failing, arrivedEndMs, heldSinceMs };
}

/** A reading of hosts alone has no values of the application; one of a silent application has nothing else. */
function isShown(reading: AppReading | undefined, scope: string): boolean {
  if (reading === undefined) return false;
  const { application, hosts } = reading;
  if (scope === applicationScope) return application.length > 0 || hosts.size === 0;
  return hosts.has(scope);
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  // Not by one call: an application may have more hosts than a call has arguments.
  const first = times.reduce<number>((least, time) => Math.min(least, time ?? least), Infinity);
  return Number.isFinite(first) ? first : undefined;
}

/**
 * What is shown after a poll: what arrived, and of each part that failed the values of before.
 *
 * @param arrived what the poll brought of the parts that are still wanted
 * @param failed the scopes of what it did not bring
 * @param startMs when the poll began, or should have ended, on the monotonic clock
 */
function withArrived(
  before: StateParts,
  arrived: StateParts,
  failed: ReadonlySet<string>,
  startMs: number,
): StateParts {
  if (failed.size === 0) return arrived;
  const failing = new Map<string, FailingPart>();
  for (const scope of failedScopesOf(failed, before.reading, arrived.reading)) {
    const since = { sinceMs: startMs, windowEndMs: before.arrivedEndMs };
    failing.set(scope, before.failing.get(scope) ?? since);
  }
  const reading = mergedOf(before.reading, arrived.reading, new Set(failing.keys()));
  return madeOf(reading, failing, arrived.arrivedEndMs);
}

function mergedOf(
  before: AppReading | undefined,
  arrived: AppReading | undefined,
  failing: ReadonlySet<string>,
): AppReading | undefined {
  if (before === undefined || arrived === undefined) return arrived ?? before;
  const { application } = failing.has(applicationScope) ? before : arrived;
  const held = [...before.hosts].filter(([id]) => failing.has(id));
  return { ...arrived, application, hosts: new Map([...arrived.hosts, ...held]) };
}

/** Known hosts are all named: of those that a failure names together, and all if nothing arrived. */
function failedScopesOf(
  failed: ReadonlySet<string>,
  before: AppReading | undefined,
  arrived: AppReading | undefined,
): ReadonlySet<string> {
  const areHostsLost = arrived === undefined || failed.has(hostsScope);
  const hostIds = areHostsLost ? [...(before?.hosts.keys() ?? [])] : [];
  const isOwnLost = arrived === undefined && isShown(before, applicationScope);
  const lost = hostIds.filter((id) => !isShown(arrived, id));
  return new Set([...failed, ...(isOwnLost ? [applicationScope] : []), ...lost]);
}

/** Without the values that have failed since `sinceMs`, or for longer. */
export function withoutFailingSince(before: StateParts, sinceMs: number): StateParts {
  const { reading, failing, arrivedEndMs } = before;
  if (reading === undefined) return before;
  const isOut = (scope: string): boolean => (failing.get(scope)?.sinceMs ?? Infinity) <= sinceMs;
  const application = isOut(applicationScope) ? [] : reading.application;
  const hosts = new Map([...reading.hosts].filter(([id]) => !isOut(id)));
  const isEmpty = application.length === 0 && hosts.size === 0;
  return madeOf(isEmpty ? undefined : { ...reading, application, hosts }, failing, arrivedEndMs);
}

/** Without hosts that are not in `hostIds`; the same object if none has to go. What was read is not lost. */
function withHosts(before: StateParts, hostIds: readonly string[] | undefined): StateParts {
  if (hostIds === undefined) return before;
  const wanted = new Set([applicationScope, hostsScope, ...hostIds]);
  const { reading, arrivedEndMs } = before;
  const known = [...(reading?.hosts.keys() ?? []), ...before.failing.keys()];
  if (known.every((scope) => wanted.has(scope))) return before;
  const failing = new Map([...before.failing].filter(([scope]) => wanted.has(scope)));
  const hosts = new Map([...(reading?.hosts ?? [])].filter(([id]) => wanted.has(id)));
  return madeOf(reading && { ...reading, hosts }, failing, arrivedEndMs);
}

/**
 * As if it had been read for these series; the same object if it was. What was read for one of them
 * under another name, or with other labels, stays; the rest goes, and what is new has no value.
 *
 * @param isSameWindow whether it was read for the window that is wanted: if not, what grows with it goes too
 */
function withSeries(
  before: StateParts,
  series: readonly PolledSeries[],
  isSameWindow = true,
): StateParts {
  const { reading } = before;
  // A silent application has neither series nor values.
  if (reading === undefined || reading.series.length === 0) return before;
  if (isSameWindow && isDeepStrictEqual(reading.series, series)) return before;
  const holds = ({ value }: PolledSeries): boolean => isSameWindow || !growsWithWindow(value);
  const placesOf = (scope: 'applications' | 'hosts'): readonly (number | undefined)[] => {
    const places = new Map<string | undefined, number>();
    for (const [place, one] of reading.series.entries()) {
      if (holds(one)) places.set(readOf(one, scope), place);
    }
    places.delete(undefined);
    return series.map((wanted) => places.get(readOf(wanted, scope)));
  };
  const [ofApplication, ofHost] = [placesOf('applications'), placesOf('hosts')];
  const hosts = [...reading.hosts].map(([id, values]) => [id, valuesAt(ofHost, values)] as const);
  const application = valuesAt(ofApplication, reading.application);
  return { ...before, reading: { ...reading, series, application, hosts: new Map(hosts) } };
}

/** Nothing stays nothing. */
function valuesAt(places: readonly (number | undefined)[], values: Values): Values {
  return values.length === 0 ? [] : places.map((place = -1) => values[place]);
}
