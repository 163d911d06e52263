import { ApiError } from './api-error.ts';
import type { AppReading, QueryReading } from './snapshot.ts';

/** The result of one poll of one application. */
export interface PollOutcome {
  /** Everything that arrived, for one window; `undefined` if nothing did. */
  readonly reading: AppReading | undefined;
  /** Why something that was asked for did not arrive; the first of the failures. */
  readonly error: ApiError | undefined;
  /**
   * What did not arrive: `applicationScope`, the ids of hosts, or `hostsScope` if it is not known which hosts
   * did not.
   */
  readonly failed: ReadonlySet<string>;
  /** How many parts the poll was to ask for: the application and its hosts. */
  readonly partCount: number;
  /** The vendor answered that it has no such application. */
  readonly gone: boolean;
  /** The vendor answered 401, so the rest of the poll was given up. */
  readonly unauthorized: boolean;
  /**
   * The hosts that the application has, if the poll has shown that; the same list as before if nothing
   * has changed. `undefined` or left out if only discoveries list them.
   */
  readonly hostIds?: readonly string[] | undefined;
  /** The names of the hosts by their ids, as far as they are known; left out if nothing was asked. */
  readonly hosts?: ReadonlyMap<string, string> | undefined;
}

/** The result of one poll of one query: what arrived, or why nothing did. */
export interface QueryOutcome extends Pick<PollOutcome, 'error' | 'partCount' | 'unauthorized'> {
  readonly reading: QueryReading | undefined;
}

export function queryOutcomeOf(result: QueryReading | ApiError): QueryOutcome {
  const isError = result instanceof ApiError;
  return {
    reading: isError ? undefined : result,
    error: isError ? result : undefined,
    partCount: 1,
    unauthorized: isError && result.status === 401,
  };
}

/** Stands for hosts of the application in `PollOutcome.failed` that cannot be named. */
export const hostsScope = 'hosts';
/** Stands for the application itself in `PollOutcome.failed`. */
export const applicationScope = 'application';

/** The outcome of a poll that had nothing to ask for. */
export const nothingToAskOutcome: PollOutcome = {
  reading: { windowEndMs: undefined, series: [], application: [], hosts: new Map() },
  error: undefined,
  failed: new Set(),
  partCount: 1,
  gone: false,
  unauthorized: false,
};
