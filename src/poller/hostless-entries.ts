import type { AppEntry } from '../model/config.ts';
import type { AppState } from './app-state.ts';
import { isWorthPolling } from './demand.ts';

/**
 * The entries that show nothing because the host of this process, which is all that they are to show,
 * is not known to the vendor. Those that were not looked for yet are not among them.
 */
export function hostlessEntries(states: Iterable<AppState>): readonly AppEntry[] {
  const hasHost = new Map<AppEntry, boolean>();
  for (const state of states) {
    const { entry } = state.selected;
    if (!entry.application && typeof entry.hosts === 'object' && entry.hosts.kind === 'self') {
      hasHost.set(entry, (hasHost.get(entry) ?? false) || mayHaveHost(state));
    }
  }
  return [...hasHost].flatMap(([entry, hasOne]) => (hasOne ? [] : entry));
}

function mayHaveHost({ pollsEnded, selected, failedSinceMs, hostNames }: AppState): boolean {
  // One of a silent application is not even asked for; one that has just gone may be back by another id.
  const isNotFound = hostNames.incompleteAnswers > 0 || !isWorthPolling(selected);
  const isLookedFor = pollsEnded > 0 && failedSinceMs.size === 0 && isNotFound;
  return !isLookedFor || (selected.namedHostIds ?? []).length > 0;
}
