import type { Clock } from '../model/clock.ts';

/** How much one query asks for. */
export interface QuerySize {
  readonly applications: number;
  /** Rows that the answer is expected to have. */
  readonly rows: number;
}

/**
 * The ids keep the text of a query short. The rows are half of New Relic's maximum of 5000: a rollout may
 * replace every host at once, and the event loop is busy with such an answer for a few milliseconds only.
 */
export const fullSize: QuerySize = { applications: 200, rows: 2500 };

/** If smaller queries than these take too long, New Relic is slow, and more queries would not help. */
const leastSize: QuerySize = { applications: 25, rows: 150 };

/**
 * Whether a query is so small that it fails for another reason than its size. To ask for the same in
 * smaller parts would be a storm when New Relic can bear it least.
 */
export function isSmall({ applications = 0, rows = 0 }: Partial<QuerySize>): boolean {
  return applications <= leastSize.applications && rows <= leastSize.rows;
}

/** After this long without a query that was too large, the size doubles again. */
const recoveryMs = 600_000;

/**
 * How often in a row a query is divided because it took too long. While New Relic is slow, every query
 * does: without a bound each would become hundreds. The next poll begins with the smaller size.
 */
export const mostDivisions = 2;

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

  const change = (next: QuerySize): void => {
    size = next;
    changedMs = clock.monotonicMs();
  };

  const lowered = (what: keyof QuerySize, failed: number | undefined): number => {
    if (failed === undefined) return size[what];
    return Math.min(size[what], within(what, Math.max(failed, size[what]) / 2));
  };

  return {
    current: () => {
      const isFull = size.rows >= fullSize.rows && size.applications >= fullSize.applications;
      if (!isFull && clock.monotonicMs() - changedMs >= recoveryMs) {
        change({
          applications: within('applications', 2 * size.applications),
          rows: within('rows', 2 * size.rows),
        });
      }
      return size;
    },
    tooLarge: (failed) => {
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
