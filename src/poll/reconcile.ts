import type { Application } from '../model/application.ts';
import type { AppEntry } from '../model/config.ts';
import {
  type ApplicationSelector,
  createApplicationSelector,
  selectorText,
} from '../model/selector.ts';
import type { Owns } from '../model/shard.ts';
import type { Discovery } from '../model/source.ts';
import { afterDiscovery, newAppState, refreshed, withSelection } from './app-state.ts';
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
  chosen: Chosen,
  { applications, complete, unreadableIds, pendingIds }: Discovery,
  nowMs: number,
  letOthersRun: LetOthersRun,
): Promise<DiscoveryChange> {
  const seen = new Set<string>();
  let excluded = 0;
  const after = complete ? afterDiscovery : refreshed;
  const selector = await eachChosen(
    applications,
    chosen,
    { letOthersRun },
    (application, entry) => {
      if (entry?.exclude === true) excluded += 1;
      if (!isOwn(application, entry, chosen)) return;
      seen.add(application.id);
      const known = states.applications.get(application.id);
      const found = { application, entry };
      states.set(
        known ? after(known, found, nowMs) : newAppState(found, states.takePhase(), nowMs),
      );
    },
  );
  if (!complete) return { removed: [], missing: undefined, excluded };
  const unknown = new Set([...unreadableIds, ...pendingIds]);
  const removed = [...states.applications.keys()].filter((id) => !seen.has(id) && !unknown.has(id));
  for (const id of unknown) {
    const known = states.applications.get(id);
    if (known !== undefined) selector.entryOf(known.selected.application);
  }
  const missing = selector.missing().filter(({ selector: wanted }) => {
    const isUnknown = wanted.kind === 'id' && unknown.has(wanted.id);
    return chosen.owns(selectorText(wanted)) && !isUnknown;
  });
  return { removed, missing, excluded };
}

/**
 * Gives the applications that new entries still want the settings of those entries, in several turns of the
 * event loop. Resolves to the ids of the others, which are forgotten.
 */
export async function reconfigure(
  states: States,
  chosen: Chosen,
  letOthersRun: LetOthersRun,
): Promise<readonly string[]> {
  const released: string[] = [];
  const known = Array.from(states.applications.values(), ({ selected }) => selected.application);
  const mostSeries = chosen.entries.reduce((most, { series }) => Math.max(most, series.length), 0);
  // Each series of an entry may be compared with all of another one.
  const comparing = Math.floor(mostSeries ** 2 / 100);
  const eachTurn = { letOthersRun, comparing };
  await eachChosen(known, chosen, eachTurn, ({ id }, entry) => {
    const state = states.applications.get(id);
    if (state === undefined) return;
    const { application } = state.selected;
    if (isOwn(application, entry, chosen)) {
      states.set(withSelection(state, { application, entry }));
    } else {
      released.push(id);
      states.delete(id);
    }
  });
  return released;
}

function isOwn(
  { id }: Application,
  entry: AppEntry | undefined,
  { owns }: Chosen,
): entry is AppEntry {
  return entry !== undefined && !entry.exclude && owns(id);
}

/** Finds the entry that chooses each of the applications. */
async function eachChosen(
  applications: readonly Application[],
  { entries }: Chosen,
  { letOthersRun, comparing = 0 }: { letOthersRun: LetOthersRun; comparing?: number },
  change: (application: Application, entry: AppEntry | undefined) => void,
): Promise<ApplicationSelector> {
  const selector = createApplicationSelector(entries);
  const perTurn = Math.max(1, Math.floor(workPerTurn / (1 + selector.patterns + comparing)));
  for (const [index, application] of applications.entries()) {
    if (index > 0 && index % perTurn === 0) await letOthersRun();
    change(application, selector.entryOf(application));
  }
  return selector;
}
