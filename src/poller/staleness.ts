import type { AppState } from './app-state.ts';

/**
 * When the values become too old to be held any longer, on the monotonic clock: when polls have
 * failed for `stale_after`, or when the poll that is due has not ended for so long after its deadline.
 */
export function staleAtMs(
  { failingSinceMs, reading, selected, nextDueMs }: AppState,
  deadlineMs: number,
): number | undefined {
  if (reading === undefined) return undefined;
  const notRenewedSinceMs = Math.min(failingSinceMs ?? Infinity, nextDueMs + deadlineMs);
  return notRenewedSinceMs + selected.entry.poll.staleAfterMs;
}

/** Drops values that were not renewed in time. */
export function whenStale(state: AppState, deadlineMs: number, nowMs: number): AppState {
  const atMs = staleAtMs(state, deadlineMs);
  if (atMs === undefined || nowMs < atMs) return state;
  return { ...state, reading: undefined, pollSucceeded: false };
}
