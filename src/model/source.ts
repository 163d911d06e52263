import type { Application } from './application.ts';
import type { Selector } from './config.ts';
import type { ThroughputAnswer, ThroughputQuery } from './reading.ts';

/**
 * What one discovery found. `complete` is false when any call of it failed: such an answer may add
 * and refresh applications, but must never remove one.
 */
export interface Discovery {
  readonly applications: readonly Application[];
  readonly complete: boolean;
  /** Applications that the list has but that could not be read: what is known of them stays. */
  readonly unreadableIds: readonly string[];
  /** Wanted or known applications that were not found, but not asked for by their id yet either. */
  readonly pendingIds: readonly string[];
  /** How many calls it took, retries not counted: what the next one will probably take. */
  readonly calls: number;
  /** Why it is not complete; an `ApiError`. */
  readonly error: Error | undefined;
}

/** What a look-up of host names brought. */
export interface HostNames {
  /** Host id to host name; with an `error` it is not all. */
  readonly names: ReadonlyMap<string, string>;
  /** Why it is not all; an `ApiError`. */
  readonly error: Error | undefined;
  /** How many calls it took, retries not counted. */
  readonly calls: number;
}

/** Told `true` when a request of a call leaves, and `false` when it has come back or failed. */
export type OnWire = (isOnWire: boolean) => void;

/**
 * The vendor, as the poller sees it: one account behind one interface, so that another API of the
 * vendor can take its place. Every call rejects with an `ApiError`, or with the signal's reason.
 */
export interface Source {
  /**
   * Lists what the selectors may choose from (and perhaps more). An application that is already
   * known is not left out of a complete answer before the vendor was asked for it by its id. Never
   * rejects with an `ApiError`; a signal that is aborted with one makes it end with what it has.
   */
  discover(
    selectors: readonly Selector[],
    knownIds: readonly string[],
    signal: AbortSignal,
  ): Promise<Discovery>;
  /** Maps host ids to host names. */
  hostNames(applicationId: string, signal: AbortSignal, onWire?: OnWire): Promise<HostNames>;
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
