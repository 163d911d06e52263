import type { Clock } from '../model/clock.ts';

/** How much one query asks for. */
export interface QuerySize {
  readonly applications: number;
  /** Rows that the answer is expected to have. */
  readonly rows: number;
}

/**
 * The ids keep the text of a query short; the rows leave room under New Relic's maximum of 5000 for
 * hosts that are not known yet.
 */
export const fullSize: QuerySize = { applications: 200, rows: 4000 };

const leastSize: QuerySize = { applications: 1, rows: 50 };

/**
 * After this long without a query that was too large, the size doubles again: New Relic may have been
 * slow for some minutes only, and small queries cost many times the calls.
 */
const firstRecoveryMs = 5 * 60_000;
/** If the doubled size is too large again, the next attempt waits twice as long, up to this. */
const longestRecoveryMs = 3_600_000;

/** Remembers how large a query may be, as New Relic's answers show. */
export interface QuerySizes {
  current(): QuerySize;
  /**
   * A query took too long, or its answer would have been too large. However small it was, the sizes
   * fall to the half at most: a small query that fails says little about large ones.
   *
   * @param size what makes queries of its kind large
   */
  tooLarge(size: Partial<QuerySize>): void;
}

export function createQuerySizes({ clock }: { readonly clock: Clock }): QuerySizes {
  let size = fullSize;
  let changedMs = clock.monotonicMs();
  let recoveryMs = firstRecoveryMs;
  let hasGrown = false;

  const change = (next: QuerySize): void => {
    size = next;
    changedMs = clock.monotonicMs();
  };
  const lowered = (what: keyof QuerySize, failed: number | undefined): number => {
    if (failed === undefined) return size[what];
    const half = Math.max(failed, size[what]) / 2;
    return Math.min(size[what], within(what, half));
  };

  return {
    current: () => {
      const isFull = size.rows >= fullSize.rows && size.applications >= fullSize.applications;
      if (!isFull && clock.monotonicMs() - changedMs >= recoveryMs) {
        change({
          applications: within('applications', 2 * size.applications),
          rows: within('rows', 2 * size.rows),
        });
        hasGrown = true;
      }
      return size;
    },
    tooLarge: (failed) => {
      if (hasGrown) recoveryMs = Math.min(longestRecoveryMs, 2 * recoveryMs);
      hasGrown = false;
      change({
        applications: lowered('applications', failed.applications),
        rows: lowered('rows', failed.rows),
      });
    },
  };
}

function within(what: keyof QuerySize, value: number): number {
  return Math.max(leastSize[what], Math.min(fullSize[what], Math.floor(value)));
}
