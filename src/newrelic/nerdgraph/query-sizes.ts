import type { ApiError, FailureReason } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import type { Subject } from './column-sets.ts';

/**
 * What one query asks for at most. The rows are half of New Relic's maximum of 5000: a rollout may replace
 * every host at once, and the event loop is busy with such an answer for a few milliseconds only.
 */
export const fullSize = { applications: 200, rows: 2500 };

/** How the queries about an application are divided, because one of them has failed. */
export interface Division {
  /** Applications in one query at most. */
  readonly together: number;
  /** Queries for the hosts of the application at least, if it is asked for alone. */
  readonly parts: number;
}

export const undivided: Division = { together: fullSize.applications, parts: 1 };

/** How a query of a batch has ended. */
export interface EndedQuery {
  readonly subject: Subject;
  readonly applicationIds: readonly string[];
  /** In how many queries the hosts of its only application were asked for. */
  readonly parts: number;
  /** `undefined` if it was answered. */
  readonly error: ApiError | undefined;
}

/** Into four: one bad application of 200 stands alone after four polls. */
const pieces = 4;
/** More than the most hosts that an application may have, in queries of full size. */
const mostParts = 64;
/** A division is taken back in steps, the first of them after this long without a failure. */
const recoveryMs = 600_000;

/** Failures that fewer applications or hosts in a query may avoid. */
const mayBeOfItsParts: ReadonlySet<FailureReason> = new Set([
  'too_large',
  'timeout',
  'server',
  'client',
  'schema',
  'not_json',
]);

/** Several queries of a poll may fail for the same application: the smallest of them counts. */
function dividedAfter(query: EndedQuery, before: Division): Division {
  const { subject, applicationIds, parts, error } = query;
  if (applicationIds.length > 1) {
    const together = Math.ceil(applicationIds.length / pieces);
    return { ...before, together: Math.min(before.together, together) };
  }
  // Fewer hosts help only against size.
  const isTooMuch = error?.reason === 'too_large' || error?.reason === 'timeout';
  if (subject === 'applications' || !isTooMuch) return before;
  return { ...before, parts: Math.max(before.parts, Math.min(mostParts, pieces * parts)) };
}

function isOfItsParts({ reason, status }: ApiError): boolean {
  return mayBeOfItsParts.has(reason) && (reason !== 'server' || status === undefined);
}

/** An answer that is not whole is one, too. */
function isAnswered({ error }: EndedQuery): boolean {
  if (error === undefined) return true;
  return error.status === undefined && ['too_large', 'schema'].includes(error.reason);
}

/** Remembers which applications fail together, so that the next polls find the one that spoils the others. */
export class QuerySizes {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #divisions = new Map<string, Division & { readonly sinceMs: number }>();
  readonly #listeners = new Set<() => void>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  divisionOf(applicationId: string): Division {
    return this.#divisions.get(applicationId) ?? undivided;
  }

  /** All queries of one batch have ended, in this order. */
  ended(queries: readonly EndedQuery[]): void {
    const nowMs = this.#clock.monotonicMs();
    const failed = queries.filter(({ error }) => error !== undefined && isOfItsParts(error));
    // While New Relic answers nothing, more and more queries would be a storm when it can bear it least.
    const silent = queries.slice(0, Math.max(0, queries.findIndex(isAnswered)));
    const tellsNothing = new Set(
      queries.some(isAnswered)
        ? silent.filter(({ error }) => error?.reason === 'timeout')
        : queries,
    );
    const divisible = failed.filter(
      (query) =>
        !tellsNothing.has(query) || query.applicationIds.every((id) => !this.#divisions.has(id)),
    );
    const unwell = new Set(failed.flatMap(({ applicationIds }) => applicationIds));
    const well = new Set(queries.flatMap(({ applicationIds }) => applicationIds));
    const changes = [
      ...divisible.map((query) => this.#divide(query, nowMs)),
      ...[...well].filter((id) => !unwell.has(id)).map((id) => this.#recover(id, nowMs)),
    ];
    if (changes.includes(true)) for (const listener of this.#listeners) listener();
  }

  /** Calls the listener when a division has changed. The returned function unsubscribes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void {
    for (const id of this.#divisions.keys()) {
      if (!applicationIds.has(id)) this.#divisions.delete(id);
    }
  }

  #divide(query: EndedQuery, sinceMs: number): boolean {
    const changes = query.applicationIds.map((id) => {
      const before = this.divisionOf(id);
      const { together, parts } = dividedAfter(query, before);
      const isSame = together === before.together && parts === before.parts;
      // A lone application has nothing to divide.
      if (!isSame || this.#divisions.has(id)) this.#divisions.set(id, { together, parts, sinceMs });
      return !isSame;
    });
    return changes.includes(true);
  }

  #recover(id: string, nowMs: number): boolean {
    const before = this.#divisions.get(id);
    if (before === undefined || nowMs - before.sinceMs < recoveryMs) return false;
    const together = Math.min(fullSize.applications, pieces * before.together);
    const parts = Math.max(1, Math.floor(before.parts / pieces));
    if (together === undivided.together && parts === 1) this.#divisions.delete(id);
    else this.#divisions.set(id, { together, parts, sinceMs: nowMs });
    return true;
  }
}
