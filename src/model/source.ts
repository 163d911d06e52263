import type { ApiError } from './api-error.ts';
import type { Application } from './application.ts';
import type { AppEntry, Query, Selector } from './config.ts';
import type { Turn } from './permit.ts';
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
  readonly selected: SelectedApplication;
}

export interface QueryQuestion {
  readonly kind: 'query';
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

/** What every call of a poll is given. */
export interface CallContext {
  /** Aborts the call. If its reason is an `ApiError`, a deadline has passed. */
  readonly signal: AbortSignal;
  /** The place of the call in the queue. Default: that of a list. */
  readonly turn?: Turn | undefined;
  /** Whether the last poll failed: then this one is its retry, and its failures are not retried. Default: no. */
  readonly isRepeated?: boolean | undefined;
  /** The vendor's wall time when the poll began: the same window is cut from it for all calls. */
  readonly wallMs: number;
}

/** What a request needs to know about the call that it belongs to. */
export type RequestContext = Pick<CallContext, 'signal' | 'turn' | 'isRepeated'>;

/** One call to New Relic, ready to be sent. It handles its own failure and never rejects. */
export type Call = (context: CallContext) => Promise<void>;

/** Where the calls of one poll wait for their turn. */
export interface PollCalls {
  /**
   * Makes these calls, several at a time. Resolves when all have ended; after an abort, when those that
   * had begun have. The first call of a poll begins it: its deadline counts from there.
   *
   * @param size how many there are, as far as is known; exactly, once the first of them was taken
   * @param calls taken one by one, and only when there is room: 10,000 calls are not a queue of 10,000
   */
  run(size: () => number, calls: Iterator<Call, undefined>): Promise<void>;
  /**
   * How many calls all polls of one interval may make together for what is asked in smaller parts because it
   * has failed. Default: there is no limit.
   */
  spare?(): number;
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
   * Keeps what it has: if a call fails, or if the reason of an abort is an `ApiError` (a deadline),
   * it resolves with that error and what was read so far. With another reason of an
   * abort it rejects with that.
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
   * failed. When a deadline aborts the poll (the reason is an `ApiError`), what has not arrived by then has
   * failed for that reason; after another abort nothing more is yielded.
   *
   * @param asked the group as it is; when the first call is made, others join it
   */
  poll(
    asked: () => readonly Question[],
    calls: PollCalls,
    signal: AbortSignal,
  ): AsyncIterable<Polled>;
  /** The calls of one poll of all of these together, without host names and what can be spared for failures. */
  cost(subjects: readonly Question[]): CallsByOperation;
  /** How often polls have begun to cost something else, as answers have shown. */
  costChanges(): number;
  /** How many calls the metrics of these entries take, in words. Default: their number makes no difference. */
  metricCalls?(entries: readonly AppEntry[]): string | undefined;
}
