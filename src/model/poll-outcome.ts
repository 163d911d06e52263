import type { ApiError } from './api-error.ts';
import type { AppReading } from './snapshot.ts';

/** What one poll of one application brought. */
export interface PollOutcome {
  /** All that arrived, for one window; `undefined` when nothing did. */
  readonly reading: AppReading | undefined;
  /** Why something that was asked for did not arrive; the first of the failures. */
  readonly error: ApiError | undefined;
  /** What did not arrive: host ids, `applicationScope` or `hostsScope`. */
  readonly failed: ReadonlySet<string>;
  /** How many parts were asked for: the application and its hosts. */
  readonly plannedCalls: number;
  /** The vendor answered that it has no such application. */
  readonly gone: boolean;
  /** The vendor answered 401: the rest of the poll was given up. */
  readonly unauthorized: boolean;
  /** New host names, when they were asked for or belong to the values, and came, or some of them did. */
  readonly hostNames: ReadonlyMap<string, string> | undefined;
  /** Why they did not come, or not all of them. */
  readonly hostNamesError: ApiError | undefined;
  /** How many calls they took; 0 where they came with the values. */
  readonly hostNameCalls: number;
}

/** Stands for the hosts of the application when their names did not come that tell which they are. */
export const hostsScope = 'hosts';
/** Stands for the application itself among the host ids of `PollOutcome.failed`. */
export const applicationScope = 'application';

const nothingAsked = {
  gone: false,
  hostNames: undefined,
  hostNamesError: undefined,
  hostNameCalls: 0,
} as const;

/** The outcome of a poll that was not even tried, because the vendor refuses the key. */
export function skippedOutcome(error: ApiError): PollOutcome {
  return {
    ...nothingAsked,
    reading: undefined,
    error,
    failed: new Set([applicationScope]),
    plannedCalls: 1,
    unauthorized: true,
  };
}

/** One for all: thousands of applications may be silent, each polled every minute. */
const silent: PollOutcome = {
  ...nothingAsked,
  reading: { windowEndMs: undefined, application: new Map(), hosts: new Map() },
  error: undefined,
  failed: new Set(),
  plannedCalls: 1,
  unauthorized: false,
};

/** The outcome of a poll of an application that has nothing to tell. */
export function silentOutcome(): PollOutcome {
  return silent;
}
