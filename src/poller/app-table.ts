import type { AppEntry } from '../model/config.ts';
import { type SelectedApplication, selectApplications } from '../model/selector.ts';
import type { Discovery } from '../model/source.ts';
import { type AppState, afterDiscovery, newAppState } from './app-state.ts';

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
 * Brings the applications of an account in line with a discovery. Only a complete one may remove or
 * alter an application; an incomplete one adds what it found and leaves the rest as it was.
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
    const unknown = selected.filter(({ application }) => !states.has(application.id));
    const next = new Map([...states, ...unknown.map(added)]);
    return { states: next, nextOrder, removed: [], missing: undefined };
  }
  const next = new Map(
    selected.map((one): [string, AppState] => {
      const known = states.get(one.application.id);
      return known === undefined ? added(one) : [one.application.id, afterDiscovery(known, one)];
    }),
  );
  const removed = [...states.keys()].filter((id) => !next.has(id));
  return { states: next, nextOrder, removed, missing };
}
