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
  /** New host names, if they were asked for or came with the values, and at least some arrived. */
  readonly hostNames: ReadonlyMap<string, string> | undefined;
  /** Why the host names did not arrive, or not all of them. */
  readonly hostNamesError: ApiError | undefined;
  /** How many calls it took beyond those that polls cost: for host names. */
  readonly extraCalls: number;
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

const nothingAsked = {
  reading: undefined,
  error: undefined,
  partCount: 1,
  gone: false,
  unauthorized: false,
  hostNames: undefined,
  hostNamesError: undefined,
  extraCalls: 0,
} as const;

/** The outcome of a poll that was not even tried, because the vendor refuses the key. */
export function skippedOutcome(error: ApiError): PollOutcome {
  return {
    ...nothingAsked,
    error,
    failed: new Set([applicationScope]),
    unauthorized: true,
  };
}

export const nothingToAskOutcome: PollOutcome = {
  ...nothingAsked,
  reading: { windowEndMs: undefined, series: [], application: [], hosts: new Map() },
  failed: new Set(),
};

/** Why the hosts of an application are missing if the list of applications does not name them. */
const unlistedError: ApiError = new ApiError(
  'server',
  'it is not known which hosts the application has: the list of applications does not name them.',
);

/** The outcome of a poll for nothing but hosts, while it is not known which there are. */
export const hostsUnknownOutcome: PollOutcome = {
  ...nothingAsked,
  error: unlistedError,
  failed: new Set([hostsScope]),
};
