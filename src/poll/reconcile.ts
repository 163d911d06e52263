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
import { noHostNames } from './host-names.ts';
import { withHosts, withSeries } from './parts.ts';
import type { States } from './states.ts';

/** Lets other work run. Rejects when the rest is no longer wanted. */
export type LetOthersRun = () => Promise<void>;

/** The entries of an account, and which ids are those of this shard. */
export interface Chosen {
  readonly entries: readonly AppEntry[];
  readonly owns: Owns;
}

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
 * Brings the applications of an account in line with a discovery, in several turns of the event loop. Only a
 * complete discovery may remove an application or a host; an incomplete one adds and refreshes what it found.
 *
 * An application that could not be read, or was not asked for yet, stays as it is known. Its entry
 * is not missing: neither one with its id nor one that chooses its last known name.
 */
export async function reconcile(
  states: States,
  { entries, owns }: Chosen,
  { applications, complete, unreadableIds, pendingIds }: Discovery,
  nowMs: number,
  letOthersRun: LetOthersRun,
): Promise<DiscoveryChange> {
  const selector = createApplicationSelector(entries);
  const seen = new Set<string>();
  let excluded = 0;
  await inTurns(applications, selector.patterns, letOthersRun, (application) => {
    const { id } = application;
    const entry = selector.entryOf(application);
    if (entry?.exclude === true) excluded += 1;
    if (entry === undefined || entry.exclude || !owns(id)) return;
    seen.add(id);
    const known = states.applications.get(id);
    const found = { application, entry };
    const after = complete ? afterDiscovery : refreshed;
    states.set(
      known === undefined
        ? newAppState(found, states.takePhaseIndex('application'), nowMs)
        : after(known, found, nowMs),
    );
  });
  if (!complete) return { removed: [], missing: undefined, excluded };
  const unknown = new Set([...unreadableIds, ...pendingIds]);
  const removed = [...states.applications.keys()].filter((id) => !seen.has(id) && !unknown.has(id));
  for (const id of unknown) {
    const known = states.applications.get(id);
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
 * Gives the applications that new entries still want the settings of those entries, in several turns of the
 * event loop.
 */
export async function reconfigure(
  states: States,
  { entries, owns }: Chosen,
  letOthersRun: LetOthersRun,
): Promise<Reconfiguration> {
  const selector = createApplicationSelector(entries);
  const applications = Array.from(
    states.applications.values(),
    ({ selected }) => selected.application,
  );
  const unwanted: string[] = [];
  const released: string[] = [];
  await inTurns(applications, selector.patterns, letOthersRun, ({ id }) => {
    const known = states.applications.get(id);
    if (known === undefined) return;
    const { application } = known.selected;
    const chosenBy = owns(id) ? selector.entryOf(application) : undefined;
    const entry = chosenBy?.exclude === true ? undefined : chosenBy;
    if (entry === undefined || !haveSamePoll(known.selected.entry, entry)) unwanted.push(id);
    if (entry !== undefined) {
      states.set(withEntry(known, { application, entry }));
    } else {
      released.push(id);
      states.delete(id);
    }
  });
  return { unwanted, released };
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
  const { parts, reading } = known;
  const kept = withSeries({ parts, reading }, found.entry.series);
  const wanted = isSameChoice ? kept : withHosts(kept, hostsToPoll(selected));
  return { ...known, ...wanted, selected, hostNames };
}

function isAmong(ids: ReadonlySet<string>, { selector }: AppEntry): boolean {
  return selector.kind === 'id' && ids.has(selector.id);
}

/** @param tests of patterns, for each item */
async function inTurns<Item>(
  items: readonly Item[],
  tests: number,
  letOthersRun: LetOthersRun,
  change: (item: Item) => void,
): Promise<void> {
  const size = Math.max(1, Math.floor(workPerTurn / (1 + tests)));
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % size === 0) await letOthersRun();
    change(item);
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
