import type { ApiError } from './api-error.ts';
import type { Application } from './application.ts';
import type { Selector } from './config.ts';
import type { ThroughputAnswer, ThroughputQuery } from './snapshot.ts';

/**
 * What one discovery found. `complete` is false when any call of it failed: such an answer may add
 * and refresh applications, but must never remove one.
 *
 * An id that is wanted or known is one of four. Found: in `applications`. Unreadable or not known
 * yet: in one of the lists below; then it is neither missing nor to be removed. Absent: in none of
 * them, if the discovery is complete.
 */
export interface Discovery {
  readonly applications: readonly Application[];
  readonly complete: boolean;
  /** Applications that the list has but that could not be read: what is known of them stays. */
  readonly unreadableIds: readonly string[];
  /**
   * Ids that an answer for several left out, and whose turn to be asked for alone has not come yet.
   * They do not make the discovery incomplete; the next ones ask for them.
   */
  readonly pendingIds: readonly string[];
  /** How many calls it took, retries not counted: what the next one will probably take. */
  readonly calls: number;
  /** Why it is not complete; an `ApiError`. */
  readonly error: Error | undefined;
}

/** The names of an application's hosts, by host id. With an `error` they may not be all. */
export interface HostNames {
  readonly names: ReadonlyMap<string, string>;
  readonly error: ApiError | undefined;
  /** How many calls it took, retries not counted. */
  readonly calls: number;
}

/** Told `true` when a request of a call leaves, and `false` when it has come back or failed. */
export type OnWire = (isOnWire: boolean) => void;

/**
 * The vendor, as the poller sees it: one account behind one interface, so that another API of the
 * vendor can take its place. The throughput calls reject with an `ApiError`, or with the signal's
 * reason. The lists keep what they have: when a call fails, or when the reason of an abort is an
 * `ApiError` (a deadline), they resolve with that error and what was read so far; with any other
 * reason of an abort they reject.
 */
export interface Source {
  /**
   * Lists what the selectors may choose from (and perhaps more). An id that a selector names is not
   * absent before the vendor was asked for it alone. An application that is known and chosen by its
   * name is not absent before the vendor was asked for it by its id, unless a list of one page, with
   * most of the known ones in it, leaves it out.
   */
  discover(
    selectors: readonly Selector[],
    knownIds: readonly string[],
    signal: AbortSignal,
  ): Promise<Discovery>;
  /**
   * The names of the application's hosts.
   *
   * @param wanted names of one host: the others may be left out
   */
  hostNames(
    applicationId: string,
    signal: AbortSignal,
    onWire?: OnWire,
    wanted?: readonly string[],
  ): Promise<HostNames>;
  applicationThroughput(
    applicationId: string,
    query: ThroughputQuery,
    signal: AbortSignal,
    onWire?: OnWire,
  ): Promise<ThroughputAnswer>;
  hostThroughput(
    applicationId: string,
    hostId: string,
    query: ThroughputQuery,
    signal: AbortSignal,
    onWire?: OnWire,
  ): Promise<ThroughputAnswer>;
}
