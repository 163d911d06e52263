import type { ApiError } from './api-error.ts';
import type { Application } from './application.ts';
import type { AppEntry, Query, Selector } from './config.ts';
import type { Job, Permit } from './permit.ts';
import type { PollOutcome, QueryOutcome } from './poll-outcome.ts';
import type { SelectedApplication } from './selected-application.ts';
import type { DaemonOperation } from './telemetry.ts';

/** How many calls a discovery takes, not counting retries. The next one will probably take as many. */
export interface DiscoveryCalls {
  readonly calls: number;
  /** How many of these the next one will probably not make: look-ups of single ids. Default: none. */
  readonly lookUpCalls?: number;
}

/**
 * What one discovery found. `complete` is false if any of its calls failed: such a discovery may
 * add and refresh applications, but must never remove one.
 *
 * An id that is wanted or known is in one of four states. Found: in `applications`. Unreadable or
 * pending: in one of the lists below; then it is neither missing nor to be removed. Absent: in none
 * of them, if the discovery is complete.
 */
export interface Discovery extends DiscoveryCalls {
  readonly applications: readonly Application[];
  readonly complete: boolean;
  /** Applications that are in the list but could not be read. What is known about them stays. */
  readonly unreadableIds: readonly string[];
  /**
   * Ids that an answer for several ids left out, and that have not been asked for alone yet. They
   * do not make the discovery incomplete. The next discoveries ask for them.
   */
  readonly pendingIds: readonly string[];
  /** Why it is not complete; an `ApiError`. */
  readonly error: Error | undefined;
}

/** What discoveries look for. */
export interface Wanted {
  readonly selectors: readonly Selector[];
  /** Which tags of the applications to read, where the API has tags. Default: none. */
  readonly tags?: readonly string[] | undefined;
}

/** The names of an application's hosts, by host id. With an `error` some may be missing. */
export interface HostNames {
  readonly names: ReadonlyMap<string, string>;
  readonly error: ApiError | undefined;
  /** How many calls it took, not counting retries. */
  readonly calls: number;
}

/** An application that is due. */
export interface ApplicationQuestion {
  readonly kind: 'application';
  /** Whether its last poll failed: then this one is its retry. Default: no. */
  readonly hasFailed?: boolean;
  readonly selected: SelectedApplication;
}

export interface QueryQuestion {
  readonly kind: 'query';
  readonly hasFailed?: boolean;
  readonly query: Query;
}

/** What is polled. Applications are discovered, queries are configured. */
export type Question = ApplicationQuestion | QueryQuestion;

/** What a poll has shown about one of its questions. */
export type Polled =
  | {
      readonly kind: 'application';
      readonly question: ApplicationQuestion;
      readonly outcome: PollOutcome;
    }
  | { readonly kind: 'query'; readonly question: QueryQuestion; readonly outcome: QueryOutcome };

/** What a request needs to know about the call that it belongs to. */
export interface RequestContext {
  /** Aborts the call. */
  readonly signal: AbortSignal;
  /** What it is a call of. Default: a list. */
  readonly job?: Job | undefined;
  /** For its first request, if it is not used yet. Default: it waits for one. */
  readonly permit?: Permit | undefined;
  /** Whether it is worth a second try: not if nobody waits for it, or if it is a retry itself. Default: yes. */
  readonly mayRetry?: boolean | undefined;
}

/** What is told to one poll. */
export interface PollOptions {
  readonly job: Job;
  readonly signal: AbortSignal;
  /** The wall time that all windows are cut from. Default: the vendor's when the first call may leave. */
  readonly windowsAtMs?: number | undefined;
}

export type CallsByOperation = Readonly<Record<DaemonOperation, number>>;

/**
 * The vendor as the poller sees it: one account behind one interface, so that another API of the
 * vendor can replace this one. Only the source knows for how many subjects its API answers at
 * once, and in how many calls.
 */
export interface Source {
  /** Whether discoveries list the hosts of applications. If not, each poll asks which there are. */
  readonly listsHosts: boolean;
  /** Whether one call may answer for many applications: then those that are asked for together cost less. */
  readonly sharesCalls: boolean;
  /**
   * Lists what the selectors may choose from, and perhaps more. With NerdGraph, what a whole search leaves
   * out is absent. With REST, an id that a selector names counts as absent only if the vendor was asked for
   * it alone, and a known application that is chosen by its name only if the vendor was asked for it by its
   * id, or if it is not in a list of one page that has most of the known ones.
   *
   * Keeps what it has: if a call fails, it resolves with that error and what was read so far. After an abort it
   * rejects with the reason.
   */
  discover(wanted: Wanted, knownIds: readonly string[], signal: AbortSignal): Promise<Discovery>;
  /**
   * Divides what is due into groups that are polled together. What is not due yet may fill up groups that
   * are needed anyway; the rest of it is left out.
   *
   * @param early in the order in which they are due
   */
  groups<Asked extends Question>(
    due: readonly Asked[],
    early: readonly Asked[],
  ): readonly (readonly Asked[])[];
  /**
   * Asks about one group, and yields what was found about each question, once. What did not arrive has
   * failed. After an abort it rejects with the reason, or yields nothing more.
   *
   * @param asked the group as it is; when the first call may leave, others join it
   */
  poll(asked: () => readonly Question[], options: PollOptions): AsyncIterable<Polled>;
  /** The calls of one poll of all of these together, without host names and what can be spared for failures. */
  cost(subjects: readonly Question[]): CallsByOperation;
  /** How often polls have begun to cost something else, as answers have shown. */
  costChanges(): number;
  /** How many calls the metrics of these entries take, in words. Default: their number makes no difference. */
  metricCalls?(entries: readonly AppEntry[]): string | undefined;
}
