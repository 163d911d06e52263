/**
 * What is known of a metric in a window. Times are in seconds; of other metrics it is their own unit. Of
 * Apdex the first three are the satisfied, tolerating and frustrated requests, and the bounds its
 * threshold.
 */
export interface Timeslice {
  readonly count: number;
  readonly total: number;
  readonly totalExclusive: number;
  /** Infinite while there is nothing. */
  readonly min: number;
  /** Infinite, too, below zero. */
  readonly max: number;
  readonly sumOfSquares: number;
}

export function averageOf({ count, total }: Timeslice): number {
  return count === 0 ? 0 : total / count;
}

export function deviationOf(slice: Timeslice): number {
  const { count, sumOfSquares } = slice;
  if (count === 0) return 0;
  return Math.sqrt(Math.max(0, sumOfSquares / count - averageOf(slice) ** 2));
}
