import type { AppEntry, Selector } from '../model/config.ts';
import {
  type SelectedApplication,
  selectApplications,
  selectorText,
  selects,
} from '../model/selector.ts';
import type { Discovery } from '../model/source.ts';
import { type AppState, afterDiscovery, newAppState, refreshed } from './app-state.ts';

/** What one discovery changes. */
export interface TableChange {
  readonly states: ReadonlyMap<string, AppState>;
  /** The number that the next new application gets. */
  readonly nextOrder: number;
  readonly removed: readonly string[];
  /** The entries that choose nothing; only a complete discovery can tell. */
  readonly missing: readonly AppEntry[] | undefined;
}

/** Whether this process is the one that polls an application, or reports on an entry. */
export type Owns = (key: string) => boolean;

const everything: Owns = () => true;

/**
 * Brings the applications of an account in line with a discovery. Only a complete one may remove an
 * application or a host; an incomplete one adds and refreshes what it found.
 *
 * What could not be read, or was not asked for yet, stays as it is known, and its entry is not
 * missing: that of an id as such, that of a name or a pattern if it chooses the last known name.
 */
export function applyDiscovery(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  discovery: Discovery,
  now: { readonly monotonicMs: number; readonly nextOrder: number },
  owns: Owns = everything,
): TableChange {
  const all = selectApplications(entries, discovery.applications);
  const selected = all.selected.filter(({ application }) => owns(application.id));
  let { nextOrder } = now;
  const added = (one: SelectedApplication): [string, AppState] => {
    const state = newAppState(one, nextOrder, now.monotonicMs);
    nextOrder += 1;
    return [one.application.id, state];
  };
  if (!discovery.complete) {
    const seen = selected.map((one): [string, AppState] => {
      const known = states.get(one.application.id);
      return known === undefined
        ? added(one)
        : [one.application.id, refreshed(known, one, now.monotonicMs)];
    });
    return { states: new Map([...states, ...seen]), nextOrder, removed: [], missing: undefined };
  }
  const next = new Map(
    selected.map((one): [string, AppState] => {
      const known = states.get(one.application.id);
      return known === undefined
        ? added(one)
        : [one.application.id, afterDiscovery(known, one, now.monotonicMs)];
    }),
  );
  const unclear = new Set([...discovery.unreadableIds, ...discovery.pendingIds]);
  for (const id of unclear) {
    const known = states.get(id);
    if (known !== undefined && !next.has(id)) next.set(id, known);
  }
  const missing = all.missing.filter(
    ({ selector }) => owns(selectorText(selector)) && !mayChoose(selector, unclear, states),
  );
  const removed = [...states.keys()].filter((id) => !next.has(id));
  return { states: next, nextOrder, removed, missing };
}

/** Whether the selector chooses one of the applications of which nothing new is known. */
function mayChoose(
  selector: Selector,
  unclear: ReadonlySet<string>,
  states: ReadonlyMap<string, AppState>,
): boolean {
  if (selector.kind === 'id') return unclear.has(selector.id);
  return [...unclear].some((id) => {
    const known = states.get(id);
    return known !== undefined && selects(selector, known.selected.application);
  });
}

/**
 * The states that other entries still want, with the settings of those; a poll is due no later than
 * the new interval wants it.
 */
export function takeOverStates(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  nowMs: number,
  owns: Owns = everything,
): ReadonlyMap<string, AppState> {
  const applications = [...states.values()]
    .map(({ selected }) => selected.application)
    .filter(({ id }) => owns(id));
  const { selected } = selectApplications(entries, applications);
  return new Map(
    selected.flatMap((one): [string, AppState][] => {
      const known = states.get(one.application.id);
      if (known === undefined) return [];
      const latestMs = nowMs + one.entry.poll.intervalMs;
      const nextDueMs = Math.min(known.nextDueMs, latestMs);
      const state = { ...known, selected: one, nextDueMs };
      return [[one.application.id, { ...state, overdueMs: Math.max(nextDueMs, known.overdueMs) }]];
    }),
  );
}

/** Whether the two hold the same applications, with the same settings. */
export function haveSameSelection(
  left: ReadonlyMap<string, AppState>,
  right: ReadonlyMap<string, AppState>,
): boolean {
  return (
    left.size === right.size &&
    [...right].every(([id, { selected }]) => left.get(id)?.selected === selected)
  );
}
