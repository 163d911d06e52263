import { isDeepStrictEqual } from 'node:util';
import type { Application } from '../model/application.ts';
import { type Clock, sleep } from '../model/clock.ts';
import type { AppEntry } from '../model/config.ts';
import {
  hostChoiceOf,
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
import type { Partition } from '../model/shard.ts';
import type { Discovery } from '../model/source.ts';
import { type AppState, afterDiscovery, newAppState, refreshed } from './app-state.ts';
import type { AppStates } from './app-states.ts';
import { noHostNames } from './host-names.ts';
import { withHostsOf, withSeriesOf } from './kept-reading.ts';
import { spreadTurn } from './schedule.ts';

/** One step of a change of the states. */
export interface StateChanges {
  /** The new states, by id; `undefined` for an application that goes. */
  readonly states: readonly (readonly [string, AppState | undefined])[];
  /** Whether the step takes long, so that other work should run after it. */
  readonly isLong: boolean;
}

/** What only a discovery as a whole can tell. */
export interface DiscoveryChange {
  /** Applications that are gone; no step has removed them yet. */
  readonly removed: readonly string[];
  /**
   * The entries that choose nothing; `undefined` if the discovery is incomplete and cannot tell.
   */
  readonly missing: readonly AppEntry[] | undefined;
}

/** Applications in one turn of the event loop: a few milliseconds. */
const applicationsPerTurn = 1000;
/** This many pattern tests cost as much as the rest of the work for one application. */
const testsPerApplication = 4;
/** So does the search for the owner of an application among this many shards. */
const shardsPerApplication = 50;
/** A step with this many applications is long, even if more would have fitted into the turn. */
const manyApplications = 100;

/**
 * Brings the applications of an account in line with a discovery, step by step. The caller applies
 * each step before it takes the next one. Only a complete discovery may remove an application or a
 * host; an incomplete one adds and refreshes what it found.
 *
 * An application that could not be read, or was not asked for yet, stays as it is known. Its entry
 * is not missing: neither one with its id nor one that chooses its last known name.
 */
export function* discoverySteps(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  { applications, complete, unreadableIds, pendingIds }: Discovery,
  now: {
    readonly monotonicMs: number;
    readonly virtualMs: number;
    /** Returns a number for a new application. */
    readonly takePhaseIndex: () => number;
  },
  { owns, shards }: Partition,
): Generator<StateChanges, DiscoveryChange> {
  const selector = createApplicationSelector(entries);
  const seen = new Set<string>();
  for (const { part, isLong } of partsOf(applications, selector, shards)) {
    const changes: [string, AppState][] = [];
    for (const application of part) {
      const entry = selector.entryOf(application);
      if (entry === undefined) continue;
      if (!owns(application.id)) continue;
      seen.add(application.id);
      const known = states.get(application.id);
      const found = { application, entry };
      if (known === undefined) {
        const phaseIndex = now.takePhaseIndex();
        changes.push([
          application.id,
          newAppState(found, phaseIndex, now.monotonicMs, now.virtualMs),
        ]);
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

/** What new entries no longer want. */
export interface Reconfiguration {
  /** Applications that are no longer wanted, or whose polls under way ask for something else. */
  readonly unwanted: readonly string[];
  /** Only those that are no longer wanted. */
  readonly released: readonly string[];
}

/**
 * Gives the applications that new entries still want the settings of those entries, step by step.
 */
export function* reconfigurationSteps(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  { owns, shards }: Partition,
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
      changes.push([id, entry && withEntry(known, { application, entry })]);
    }
    yield { states: changes, isLong };
  }
  return { unwanted, released };
}

/**
 * Spreads the first polls over their intervals, step by step. The very first poll is due at once.
 */
export function* spreadSteps(
  states: ReadonlyMap<string, AppState>,
  virtualMs: number,
): Generator<StateChanges, undefined> {
  const all = [...states];
  for (let from = 0; from < all.length; from += applicationsPerTurn) {
    const part = all.slice(from, from + applicationsPerTurn);
    const spread = part.map(([id, state]): [string, AppState] => [
      id,
      {
        ...state,
        turn: spreadTurn(state.phaseIndex, state.selected.entry.poll.intervalMs, virtualMs),
      },
    ]);
    yield { states: spread, isLong: part.length >= manyApplications };
  }
  return undefined;
}

function withEntry(known: AppState, found: SelectedApplication): AppState {
  const isSameChoice = isSameHostChoice(
    hostChoiceOf(known.selected.entry),
    hostChoiceOf(found.entry),
  );
  // Another choice of hosts may need names that were not asked for.
  const hostNames = isSameChoice
    ? known.hostNames
    : { ...noHostNames, names: known.hostNames.names };
  const selected = withNamedHosts(found, hostNames.names);
  const kept = withSeriesOf(known.reading, found.entry.series);
  const reading = isSameChoice ? kept : withHostsOf(kept, hostsToPoll(selected));
  return { ...known, selected, hostNames, reading };
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
  const size = Math.max(1, Math.floor(applicationsPerTurn / cost));
  const many = Math.min(size, manyApplications);
  for (let from = 0; from < applications.length; from += size) {
    const part = applications.slice(from, from + size);
    yield { part, isLong: part.length >= many };
  }
}

/** Whether a poll that was begun for one entry brings what the other one wants. */
export function haveSamePoll(left: AppEntry, right: AppEntry): boolean {
  const { window, delayMs, raw, hostNames } = left.poll;
  return (
    isSameHostChoice(left.hosts, right.hosts) &&
    left.application === right.application &&
    delayMs === right.poll.delayMs &&
    raw === right.poll.raw &&
    hostNames === right.poll.hostNames &&
    isDeepStrictEqual(window, right.poll.window) &&
    isDeepStrictEqual(left.series, right.series)
  );
}

/**
 * Applies a change step by step, and lets other work run after a long step. On an abort it rejects
 * with the signal's reason; the steps that were applied stay.
 */
export async function applySteps<Result>(
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
