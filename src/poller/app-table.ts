import type { AppEntry } from '../model/config.ts';
import { type SelectedApplication, selectApplications } from '../model/selector.ts';
import type { Discovery } from '../model/source.ts';
import { type AppState, afterDiscovery, newAppState } from './app-state.ts';

/** What one discovery changes. */
export interface TableChange {
  readonly states: ReadonlyMap<string, AppState>;
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
  nowMs: number,
): TableChange {
  const { selected, missing } = selectApplications(entries, discovery.applications);
  if (!discovery.complete) {
    const added = selected.filter(({ application }) => !states.has(application.id));
    return {
      states: new Map([...states, ...fresh(added, nowMs)]),
      removed: [],
      missing: undefined,
    };
  }
  const next = selected.map((one): [string, AppState] => {
    const known = states.get(one.application.id);
    return [
      one.application.id,
      known === undefined ? newAppState(one, nowMs) : afterDiscovery(known, one),
    ];
  });
  const nextStates = new Map(next);
  const removed = [...states.keys()].filter((id) => !nextStates.has(id));
  return { states: nextStates, removed, missing };
}

function fresh(added: readonly SelectedApplication[], nowMs: number): [string, AppState][] {
  return added.map((one) => [one.application.id, newAppState(one, nowMs)]);
}
