/** Far longer than any deadline of the loops themselves. */
const stalledAfterMs = 5 * 60_000;

/** What should happen, and the monotonic time since when it has been late. */
type Late = readonly [what: string, sinceMs: number | undefined];

/** The first of those that have been late for so long that the program must be at fault. */
export function stalledText(nowMs: number, all: readonly Late[]): string | undefined {
  for (const [what, sinceMs] of all) {
    if (sinceMs === undefined || nowMs - sinceMs < stalledAfterMs) continue;
    return `${what} for ${Math.round((nowMs - sinceMs) / 1000)} s`;
  }
  return undefined;
}
