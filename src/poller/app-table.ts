import { isDeepStrictEqual } from 'node:util';
import type { Application } from '../model/application.ts';
import { type Clock, sleep } from '../model/clock.ts';
import type { AppEntry } from '../model/config.ts';
import {
  hostsToPoll,
  isSameHostChoice,
  type SelectedApplication,
  withNamedHosts,
} from '../model/selected-application.ts';
import {
  type ApplicationSelector,
  createApplicationSelector,
  selectorText,
} from '../model/selector.ts';
import type { Discovery } from '../model/source.ts';
import { type AppState, afterDiscovery, newAppState, refreshed, withHostsOf } from './app-state.ts';
import { type Partition } from './demand.ts';
import { noHostNames } from './host-names.ts';
import { type AppStates, phaseMs } from './schedule.ts';

/** A part of a change of the states. */
export interface StateChanges {
  /** The states to put in the place of those that are there; `undefined` for one that goes. */
  readonly states: readonly (readonly [string, AppState | undefined])[];
  /** Whether it took so long to find out, or takes so long to put in force, that others come next. */
  readonly isLong: boolean;
}

/** What a discovery says as a whole. */
export interface DiscoveryChange {
  /** Applications that are gone; no step has removed them yet. */
  readonly removed: readonly string[];
  /** The entries that choose nothing; only a complete discovery can tell. */
  readonly missing: readonly AppEntry[] | undefined;
}

/** Applications that are worked through without a break: a few milliseconds. */
const atATime = 1000;
/** So many tests of a pattern take as long as all the rest of an application. */
const testsPerApplication = 4;
/** And so many shards that an application may belong to. */
const shardsPerApplication = 50;
/** So many applications are a long part, even if more could have followed without a break. */
const manyApplications = 100;

/**
 * Brings the applications of an account in line with a discovery, part by part: the caller puts each
 * part in force before it asks for the next one. Only a complete discovery may remove an application
 * or a host; an incomplete one adds and refreshes what it found.
 *
 * What could not be read, or was not asked for yet, stays as it is known, and its entry is not
 * missing: that of an id as such, that of a name or a pattern if it chooses the last known name.
 */
export function* discoverySteps(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  { applications, complete, unreadableIds, pendingIds }: Discovery,
  now: {
    readonly monotonicMs: number;
    /** Gives each new application a number of its own. */
    readonly takePhaseIndex: () => number;
  },
  { owns, chosen, shards }: Partition,
): Generator<StateChanges, DiscoveryChange> {
  const selector = createApplicationSelector(entries);
  const seen = new Set<string>();
  for (const { part, isLong } of partsOf(applications, selector, shards)) {
    const changes: [string, AppState][] = [];
    for (const application of part) {
      const entry = selector.entryOf(application);
      if (entry === undefined) continue;
      chosen({ application, entry });
      if (!owns(application.id)) continue;
      seen.add(application.id);
      const known = states.get(application.id);
      const found = { application, entry };
      if (known === undefined) {
        changes.push([application.id, newAppState(found, now.takePhaseIndex(), now.monotonicMs)]);
      } else {
        const after = complete ? afterDiscovery : refreshed;
        changes.push([application.id, after(known, found, now.monotonicMs)]);
      }
    }
    yield { states: changes, isLong };
  }
  if (!complete) return { removed: [], missing: undefined };
  const unknown = new Set([...unreadableIds, ...pendingIds]);
  const removed = [...states.keys()].filter((id) => !seen.has(id) && !unknown.has(id));
  for (const id of unknown) {
    const known = states.get(id);
    if (known !== undefined) selector.entryOf(known.selected.application);
  }
  const missing = selector
    .missing()
    .filter((entry) => owns(selectorText(entry.selector)) && !isAmong(unknown, entry));
  return { removed, missing };
}

/** What other entries leave behind. */
export interface Reconfiguration {
  /** Applications that are not wanted any more, or whose polls under way ask for something else. */
  readonly unwanted: readonly string[];
  /** Those that are not wanted any more. */
  readonly released: readonly string[];
}

/**
 * The states that other entries still want, with the settings of those, part by part; a poll is due
 * no later than the new interval wants it.
 */
export function* reconfigurationSteps(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  nowMs: number,
  { owns, shards }: Pick<Partition, 'owns' | 'shards'>,
): Generator<StateChanges, Reconfiguration> {
  const selector = createApplicationSelector(entries);
  const applications = [...states.values()].map(({ selected }) => selected.application);
  const unwanted: string[] = [];
  const released: string[] = [];
  for (const { part, isLong } of partsOf(applications, selector, shards)) {
    const changes: [string, AppState | undefined][] = [];
    for (const { id } of part) {
      const known = states.get(id);
      if (known === undefined) continue;
      const { application } = known.selected;
      const entry = owns(id) ? selector.entryOf(application) : undefined;
      if (entry === undefined) released.push(id);
      if (entry === undefined || !haveSamePoll(known.selected.entry, entry)) unwanted.push(id);
      changes.push([id, entry && withEntry(known, { application, entry }, nowMs)]);
    }
    yield { states: changes, isLong };
  }
  return { unwanted, released };
}

/** First polls, spread over their intervals, part by part; the first of all is due at once. */
export function* spreadSteps(
  states: ReadonlyMap<string, AppState>,
  stretch: number,
  nowMs: number,
): Generator<StateChanges, undefined> {
  const all = [...states];
  for (let from = 0; from < all.length; from += atATime) {
    const part = all.slice(from, from + atATime);
    const moved = part.map(([id, state]): [string, AppState] => {
      const intervalMs = state.selected.entry.poll.intervalMs * stretch;
      const nextDueMs = nowMs + phaseMs(intervalMs, state.phaseIndex - 1);
      return [id, { ...state, nextDueMs }];
    });
    yield { states: moved, isLong: part.length >= manyApplications };
  }
  return undefined;
}

function withEntry(known: AppState, found: SelectedApplication, nowMs: number): AppState {
  const isSameChoice = isSameHostChoice(known.selected.entry.hosts, found.entry.hosts);
  // Whoever chose other hosts did not ask for the names of all.
  const hostNames = isSameChoice
    ? known.hostNames
    : { ...noHostNames, names: known.hostNames.names };
  const selected = withNamedHosts(found, hostNames.names);
  const reading = isSameChoice ? known.reading : withHostsOf(known.reading, hostsToPoll(selected));
  const nextDueMs = Math.min(known.nextDueMs, nowMs + selected.entry.poll.intervalMs);
  const overdueMs = Math.max(nextDueMs, known.overdueMs);
  return { ...known, selected, hostNames, reading, nextDueMs, overdueMs };
}

function isAmong(ids: ReadonlySet<string>, { selector }: AppEntry): boolean {
  return selector.kind === 'id' && ids.has(selector.id);
}

function* partsOf(
  applications: readonly Application[],
  { patterns }: ApplicationSelector,
  shards: number,
): Generator<{ readonly part: readonly Application[]; readonly isLong: boolean }> {
  const cost = 1 + patterns / testsPerApplication + (shards - 1) / shardsPerApplication;
  const size = Math.max(1, Math.floor(atATime / cost));
  const many = Math.min(size, manyApplications);
  for (let from = 0; from < applications.length; from += size) {
    const part = applications.slice(from, from + size);
    yield { part, isLong: part.length >= many };
  }
}

/** Whether a poll that one of the entries began brings what the other one wants. */
export function haveSamePoll(left: AppEntry, right: AppEntry): boolean {
  const { window, delayMs, raw, hostNames } = left.poll;
  return (
    isSameHostChoice(left.hosts, right.hosts) &&
    left.application === right.application &&
    delayMs === right.poll.delayMs &&
    raw === right.poll.raw &&
    hostNames === right.poll.hostNames &&
    left.transactions.join() === right.transactions.join() &&
    isDeepStrictEqual(window, right.poll.window)
  );
}

/**
 * Puts a change in force, part by part; after a long part others have their turn. Rejects with the
 * signal's reason, and leaves the parts that are in force.
 */
export async function putInForce<Result>(
  steps: Generator<StateChanges, Result>,
  states: Pick<AppStates, 'set' | 'delete'>,
  { clock }: { readonly clock: Clock },
  signal: AbortSignal,
): Promise<Result> {
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) {
    for (const [id, state] of step.value.states) {
      if (state === undefined) states.delete(id);
      else states.set(id, state);
    }
    if (step.value.isLong) await sleep(clock, 0, signal);
  }
  return step.value;
}
