/** How old published values were, over all values and all of the time that is measured. */
export interface Ages {
  /** From `nowMs` on the value of `key` is the one that was asked for at `askedMs`. */
  published(key: string, askedMs: number, nowMs: number): void;
  result(): AgeResult;
}

export interface AgeResult {
  readonly p50Seconds: number;
  readonly p99Seconds: number;
}

interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

const binMs = 10;

/**
 * A value grows older evenly until the next one is published, so each one that was published adds an
 * even distribution between two ages: exact to a hundredth of a second, without sampling.
 */
export function createAges({ fromMs, toMs }: Period): Ages {
  const current = new Map<string, { readonly askedMs: number; readonly sinceMs: number }>();
  /** How many values more are so old than in the bin before. */
  const steps: number[] = [];

  const end = (key: string, nowMs: number): void => {
    const one = current.get(key);
    if (one === undefined) return;
    const startMs = Math.max(fromMs, one.sinceMs);
    const endMs = Math.min(toMs, nowMs);
    if (startMs >= endMs) return;
    const first = Math.floor((startMs - one.askedMs) / binMs);
    const last = Math.floor((endMs - one.askedMs) / binMs);
    steps[first] = (steps[first] ?? 0) + 1;
    steps[last] = (steps[last] ?? 0) - 1;
  };

  const quantile = (share: number): number => {
    const counts: number[] = [];
    let level = 0;
    for (let bin = 0; bin < steps.length; bin += 1) {
      level += steps[bin] ?? 0;
      counts.push(level);
    }
    let left = share * counts.reduce((sum, count) => sum + count, 0);
    const index = counts.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    return ((index + 1) * binMs) / 1000;
  };

  return {
    published: (key, askedMs, nowMs) => {
      end(key, nowMs);
      current.set(key, { askedMs, sinceMs: nowMs });
    },
    result: () => {
      for (const key of current.keys()) end(key, toMs);
      return {
        p50Seconds: quantile(0.5),
        p99Seconds: quantile(0.99),
      };
    },
  };
}
