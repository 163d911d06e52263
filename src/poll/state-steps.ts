import { isDeepStrictEqual } from 'node:util';
import type { AppEntry } from '../model/config.ts';
import {
  hostChoiceOf,
  hostsToPoll,
  isSameHostChoice,
  type SelectedApplication,
  withNamedHosts,
} from '../model/selected-application.ts';
import { createApplicationSelector, selectorText } from '../model/selector.ts';
import type { Owns } from '../model/shard.ts';
import type { Discovery } from '../model/source.ts';
import { type AppState, afterDiscovery, newAppState, refreshed } from './app-state.ts';
import type { DueQueue } from './due-queue.ts';
import { noHostNames } from './host-names.ts';
import { withHostsOf, withSeriesOf } from './part-reading.ts';
import { spreadTurn } from './schedule.ts';

/** A change of the states. Where it yields, other work should run before it goes on. */
export type StateSteps<Result> = Generator<undefined, Result>;

type ChangedStates = Pick<DueQueue<AppState>, 'all' | 'set' | 'delete'>;

/** What only a discovery as a whole can tell. */
export interface DiscoveryChange {
  /** Applications that are gone; no step has removed them yet. */
  readonly removed: readonly string[];
  /**
   * The entries that choose nothing; `undefined` if the discovery is incomplete and cannot tell.
   */
  readonly missing: readonly AppEntry[] | undefined;
  /** How many applications entries exclude. */
  readonly excluded: number;
}

/** Applications and tests of patterns in one turn of the event loop: some milliseconds. */
const workPerTurn = 4000;

/**
 * Brings the applications of an account in line with a discovery, step by step. Only a complete discovery may remove an application or a
 * host; an incomplete one adds and refreshes what it found.
 *
 * An application that could not be read, or was not asked for yet, stays as it is known. Its entry
 * is not missing: neither one with its id nor one that chooses its last known name.
 */
export function* discoverySteps(
  states: ChangedStates,
  entries: readonly AppEntry[],
  { applications, complete, unreadableIds, pendingIds }: Discovery,
  now: {
    readonly monotonicMs: number;
    readonly virtualMs: number;
    /** Returns a number for a new application. */
    readonly takePhaseIndex: () => number;
  },
  owns: Owns,
): StateSteps<DiscoveryChange> {
  const selector = createApplicationSelector(entries);
  const seen = new Set<string>();
  let excluded = 0;
  yield* inTurns(applications, selector.patterns, (application) => {
    const { id } = application;
    const entry = selector.entryOf(application);
    if (entry?.exclude === true) excluded += 1;
    if (entry === undefined || entry.exclude || !owns(id)) return;
    seen.add(id);
    const { monotonicMs, virtualMs } = now;
    const known = states.all.get(id);
    const found = { application, entry };
    const after = complete ? afterDiscovery : refreshed;
    const state =
      known === undefined
        ? newAppState(found, now.takePhaseIndex(), monotonicMs, virtualMs)
        : after(known, found, monotonicMs);
    states.set(id, state);
  });
  if (!complete) return { removed: [], missing: undefined, excluded };
  const unknown = new Set([...unreadableIds, ...pendingIds]);
  const removed = [...states.all.keys()].filter((id) => !seen.has(id) && !unknown.has(id));
  for (const id of unknown) {
    const known = states.all.get(id);
    if (known !== undefined) selector.entryOf(known.selected.application);
  }
  const missing = selector
    .missing()
    .filter((entry) => owns(selectorText(entry.selector)) && !isAmong(unknown, entry));
  return { removed, missing, excluded };
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
  states: ChangedStates,
  entries: readonly AppEntry[],
  owns: Owns,
): StateSteps<Reconfiguration> {
  const selector = createApplicationSelector(entries);
  const applications = Array.from(states.all.values(), ({ selected }) => selected.application);
  const unwanted: string[] = [];
  const released: string[] = [];
  yield* inTurns(applications, selector.patterns, ({ id }) => {
    const known = states.all.get(id);
    if (known === undefined) return;
    const { application } = known.selected;
    const chosenBy = owns(id) ? selector.entryOf(application) : undefined;
    const entry = chosenBy?.exclude === true ? undefined : chosenBy;
    if (entry === undefined || !haveSamePoll(known.selected.entry, entry)) unwanted.push(id);
    if (entry !== undefined) {
      states.set(id, withEntry(known, { application, entry }));
    } else {
      released.push(id);
      states.delete(id);
    }
  });
  return { unwanted, released };
}

/**
 * Spreads the first polls over their intervals, step by step. The very first poll is due at once.
 */
export function* spreadSteps(states: ChangedStates, virtualMs: number): StateSteps<undefined> {
  yield* inTurns([...states.all], 0, ([id, state]) => {
    const { intervalMs } = state.selected.entry.poll;
    states.set(id, { ...state, turn: spreadTurn(state.phaseIndex, intervalMs, virtualMs) });
  });
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

/** @param tests of patterns, for each item */
function* inTurns<Item>(
  items: readonly Item[],
  tests: number,
  change: (item: Item) => void,
): StateSteps<undefined> {
  const size = Math.max(1, Math.floor(workPerTurn / (1 + tests)));
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % size === 0) yield;
    change(item);
  }
  return undefined;
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
