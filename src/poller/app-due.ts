import { type AppState, staleAtMs } from './app-state.ts';

/** The applications whose polls are due. */
export function dueIdsOf(states: ReadonlyMap<string, AppState>, nowMs: number): readonly string[] {
  return [...states].filter(([, { nextDueMs }]) => nextDueMs <= nowMs).map(([id]) => id);
}

/** When a poll falls due or values become stale; of polls under way only the latter counts. */
export function nextEventOf(
  states: ReadonlyMap<string, AppState>,
  polling: ReadonlySet<string>,
): number | undefined {
  let nextMs = Number.POSITIVE_INFINITY;
  for (const [id, state] of states) {
    if (!polling.has(id)) nextMs = Math.min(nextMs, state.nextDueMs);
    nextMs = Math.min(nextMs, staleAtMs(state) ?? nextMs);
  }
  return Number.isFinite(nextMs) ? nextMs : undefined;
}

/** The same states with polls that are still to come moved so that they keep their order and distance. */
export function stretched(
  states: ReadonlyMap<string, AppState>,
  nowMs: number,
  factor: number,
): Map<string, AppState> {
  const moved = (dueMs: number): number =>
    dueMs > nowMs ? nowMs + (dueMs - nowMs) * factor : dueMs;
  return new Map(
    [...states].map(([id, state]) => [
      id,
      { ...state, nextDueMs: moved(state.nextDueMs), overdueMs: moved(state.overdueMs) },
    ]),
  );
}
