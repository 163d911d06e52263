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
 * Whether a query is so small that it fails for another reason than its size, such as a database that is
 * overloaded. To ask for the same in ever smaller parts would only make that worse.
 */
export function isSmall({ applications = 0, rows = 0 }: Partial<QuerySize>): boolean {
  return applications <= 25 && rows <= 500;
}

/** After this long without a query that was too large, the size doubles again. */
const recoveryMs = 3_600_000;

/** Remembers how large a query may be, as New Relic's answers show. */
export interface QuerySizes {
  current(): QuerySize;
  /**
   * A query took too long, or its answer would have been too large.
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

  return {
    current: () => {
      const isFull = size.rows >= fullSize.rows && size.applications >= fullSize.applications;
      if (!isFull && clock.monotonicMs() - changedMs >= recoveryMs) change(scaled(size, 2));
      return size;
    },
    tooLarge: (failed) => {
      const half = scaled({ ...fullSize, ...failed }, 0.5);
      change({
        applications:
          failed.applications === undefined
            ? size.applications
            : Math.min(size.applications, half.applications),
        rows: failed.rows === undefined ? size.rows : Math.min(size.rows, half.rows),
      });
    },
  };
}

function scaled({ applications, rows }: QuerySize, factor: number): QuerySize {
  return {
    applications: within('applications', applications * factor),
    rows: within('rows', rows * factor),
  };
}

function within(what: keyof QuerySize, value: number): number {
  return Math.max(leastSize[what], Math.min(fullSize[what], Math.floor(value)));
}
