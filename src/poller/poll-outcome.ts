import type { ApiError } from '../model/api-error.ts';
import type { AppReading } from '../model/reading.ts';

/** What one poll of one application brought. */
export interface PollOutcome {
  /** All that arrived, for one window; `undefined` when nothing did. */
  readonly reading: AppReading | undefined;
  /** Why something that was asked for did not arrive; the first of the failures. */
  readonly error: ApiError | undefined;
  /** What did not arrive: host ids, or `applicationScope` for the application itself. */
  readonly failed: ReadonlySet<string>;
  /** The calls that the poll set out to make, host names not counted. */
  readonly plannedCalls: number;
  /** The vendor answered that it has no such application. */
  readonly gone: boolean;
  /** The vendor refused the key: the rest of the poll was given up. */
  readonly refused: boolean;
  /** The host names that came, when they were asked for; with a `hostNamesError` not all. */
  readonly hostNames: ReadonlyMap<string, string> | undefined;
  /** Why not all of them came. */
  readonly hostNamesError: ApiError | undefined;
}

/** Stands for the application itself among the host ids of `PollOutcome.failed`. */
export const applicationScope = 'application';

/** The outcome of a poll that was not even tried, because of this error. */
export function untriedOutcome(error: ApiError): PollOutcome {
  return {
    reading: undefined,
    error,
    failed: new Set([applicationScope]),
    plannedCalls: 1,
    gone: false,
    refused: true,
    hostNames: undefined,
    hostNamesError: undefined,
  };
}
