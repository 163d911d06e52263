import { averageOf, type Timeslice } from './timeslice.ts';

/** How many calls have such a mean duration, in seconds. */
interface Calls {
  readonly count: number;
  readonly mean: number;
}

function callsOf(slices: readonly Timeslice[]): readonly Calls[] {
  return slices
    .map((slice) => ({ count: slice.count, mean: averageOf(slice) }))
    .filter(({ count, mean }) => count > 0 && mean > 0);
}

/** The calls that take longer than that: durations are spread exponentially around each mean. */
function longerThan(calls: readonly Calls[], seconds: number): number {
  return calls.reduce((sum, { count, mean }) => sum + count * Math.exp(-seconds / mean), 0);
}

/** The duration that this share of all calls does not exceed; `null` without calls. */
export function percentileOf(slices: readonly Timeslice[], percentage: number): number | null {
  const calls = callsOf(slices);
  const all = calls.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return null;
  const wanted = Math.max(all * (1 - percentage / 100), all * 1e-6);
  let [low, high] = [0, 20 * Math.max(...calls.map(({ mean }) => mean))];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (longerThan(calls, middle) > wanted) low = middle;
    else high = middle;
  }
  return high;
}

/** The Apdex of these calls: `t` is its threshold in seconds. `null` without calls. */
export function apdexOfRows(
  slices: readonly Timeslice[],
  t: number,
): Readonly<Record<'count' | 's' | 't' | 'f' | 'score', number>> | null {
  const calls = callsOf(slices);
  const count = calls.reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return null;
  const frustrated = longerThan(calls, 4 * t);
  const tolerating = longerThan(calls, t) - frustrated;
  const satisfied = count - tolerating - frustrated;
  return {
    count,
    s: satisfied,
    t: tolerating,
    f: frustrated,
    score: (satisfied + tolerating / 2) / count,
  };
}
