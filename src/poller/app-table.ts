import type { AppEntry } from '../model/config.ts';
import { type SelectedApplication, selectApplications } from '../model/selector.ts';
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

/**
 * Brings the applications of an account in line with a discovery. Only a complete one may remove an
 * application or a host; an incomplete one adds and refreshes what it found.
 */
export function applyDiscovery(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  discovery: Discovery,
  now: { readonly monotonicMs: number; readonly nextOrder: number },
): TableChange {
  const { selected, missing } = selectApplications(entries, discovery.applications);
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
  for (const id of discovery.unreadableIds) {
    const known = states.get(id);
    if (known !== undefined && !next.has(id)) next.set(id, known);
  }
  const removed = [...states.keys()].filter((id) => !next.has(id));
  return { states: next, nextOrder, removed, missing };
}

/**
 * The states that other entries still want, with the settings of those; a poll is due no later than
 * the new interval wants it.
 */
export function takeOverStates(
  states: ReadonlyMap<string, AppState>,
  entries: readonly AppEntry[],
  nowMs: number,
): ReadonlyMap<string, AppState> {
  const applications = [...states.values()].map(({ selected }) => selected.application);
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
