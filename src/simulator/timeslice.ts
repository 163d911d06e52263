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

export const emptyTimeslice: Timeslice = {
  count: 0,
  total: 0,
  totalExclusive: 0,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  sumOfSquares: 0,
};

/** So many calls, all with this value. */
export function evenTimeslice(count: number, value: number): Timeslice {
  if (count === 0) return emptyTimeslice;
  const total = count * value;
  const sumOfSquares = total * value;
  return { count, total, totalExclusive: total, min: value, max: value, sumOfSquares };
}

export function hasData({ count, total, totalExclusive }: Timeslice): boolean {
  return count > 0 || total > 0 || totalExclusive > 0;
}

export function averageOf({ count, total }: Timeslice): number {
  return count === 0 ? 0 : total / count;
}

export function deviationOf(slice: Timeslice): number {
  const { count, sumOfSquares } = slice;
  if (count === 0) return 0;
  return Math.sqrt(Math.max(0, sumOfSquares / count - averageOf(slice) ** 2));
}

export function merged(left: Timeslice, right: Timeslice): Timeslice {
  return {
    count: left.count + right.count,
    total: left.total + right.total,
    totalExclusive: left.totalExclusive + right.totalExclusive,
    min: Math.min(left.min, right.min),
    max: Math.max(left.max, right.max),
    sumOfSquares: left.sumOfSquares + right.sumOfSquares,
  };
}
