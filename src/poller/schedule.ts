/** When a poll is due next, and how many polls were left out because this one took too long. */
export interface NextDue {
  readonly nextDueMs: number;
  readonly skipped: number;
}

/** Consecutive multiples of it fall evenly into an interval, however many there are. */
const goldenRatio = 0.618_033_988_749_895;

/**
 * The first polls of all applications go out together, so that values are there soon; the second
 * ones are spread over the interval, and from then on each keeps its place.
 *
 * @param dueMs when the poll that has now ended was due
 * @param order a number of its own for each application, counted from 0
 */
export function nextDue(
  dueMs: number,
  intervalMs: number,
  nowMs: number,
  first: { readonly order: number } | undefined,
): NextDue {
  if (first !== undefined) {
    const phase = ((first.order + 1) * goldenRatio) % 1;
    return { nextDueMs: Math.max(nowMs, dueMs + phase * intervalMs), skipped: 0 };
  }
  const missed = Math.floor((nowMs - dueMs) / intervalMs);
  if (missed < 1) return { nextDueMs: dueMs + intervalMs, skipped: 0 };
  return { nextDueMs: nowMs, skipped: missed - 1 };
}
