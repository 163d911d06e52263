import type { ApiError } from './api-error.ts';
import type { Application } from './application.ts';
import type { AppEntry, Query, Selector } from './config.ts';
import type { Turn } from './permit.ts';
import type { PollOutcome } from './poll-outcome.ts';
import type { SelectedApplication } from './selected-application.ts';
import type { QueryReading } from './snapshot.ts';
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

/** The names of an application's hosts, by host id. With an `error` some may be missing. */
export interface HostNames {
  readonly names: ReadonlyMap<string, string>;
  readonly error: ApiError | undefined;
  /** How many calls it took, not counting retries. */
  readonly calls: number;
}

/** What the poller passes to every call of a batch. */
export interface CallContext {
  /** Aborts the call. If its reason is an `ApiError`, a deadline has passed. */
  readonly signal: AbortSignal;
  /** The place of the call in the queue. Default: that of a list. */
  readonly turn?: Turn | undefined;
  /** Whether the last poll failed: then this one is its retry, and its failures are not retried. Default: no. */
  readonly isRepeated?: boolean | undefined;
  /** The vendor's wall time when the batch began: the same window is cut from it for all calls. */
  readonly wallMs: number;
}

/** What a request needs to know about the call that it belongs to. */
export type RequestContext = Pick<CallContext, 'signal' | 'turn' | 'isRepeated'>;

/** One call to New Relic, ready to be sent. It handles its own failure and never rejects. */
export type Call = (context: CallContext) => Promise<void>;

/** Calls that may be in flight together. */
export interface Stage {
  readonly size: number;
  /**
   * Taken one by one, and only when there is room: a stage of 10,000 calls is not a queue of
   * 10,000.
   */
  readonly calls: Iterator<Call, undefined>;
}

/** What to ask the source about one application that is due. */
export interface Question {
  readonly selected: SelectedApplication;
  /** Whether to ask for the names of its hosts as well, because some are not known. */
  readonly askHostNames: boolean;
  readonly hostNames: ReadonlyMap<string, string>;
  /** Whether the host is still listed now: a discovery may have ended since the poll began. */
  readonly isListed: (hostId: string) => boolean;
}

/** What is asked for together, and what has arrived for each of it. */
export interface Batch<Asked = Question, Outcome = PollOutcome> {
  readonly questions: readonly Asked[];
  /**
   * Identifies what is polled: if a batch has hung, one with the same key may hang again. Batches
   * with the same key follow each other.
   */
  readonly key: string;
  /**
   * The calls to make next; `undefined` when everything was asked for. There is at least one stage.
   * A stage begins when every call of the stage before has ended.
   */
  nextStage(): Stage | undefined;
  /**
   * To be called at the deadline, just before the calls in flight are aborted: what has not arrived
   * by then is not waited for.
   */
  giveUp(error: ApiError): void;
  /**
   * What has arrived for one of the questions. What was asked for and did not arrive has failed.
   */
  outcomeOf(question: Asked): Outcome;
}

export type CallsByOperation = Readonly<Record<DaemonOperation, number>>;

/** What polling costs with an API, in calls: the unit of the budget. */
export interface CallCosts {
  /** One poll of each of these applications, all due together; without host names. */
  polls(applications: readonly SelectedApplication[]): CallsByOperation;
  /** What happens once, with the first polls of these applications, and what it is for. */
  once(applications: readonly SelectedApplication[]): number;
  readonly firstPollOperation: DaemonOperation;
  discovery(applications: readonly SelectedApplication[]): DiscoveryCalls;
  /**
   * How many calls the metrics of these entries take, in words. Default: their number makes no
   * difference.
   */
  ofMetrics?(entries: readonly AppEntry[]): string | undefined;
  /** How long an answer usually takes, and how long a slow one takes. */
  readonly usualCallMs: { readonly mean: number; readonly most: number };
}

/**
 * The vendor as the poller sees it: one account behind one interface, so that another API of the
 * vendor can replace this one. Only the source knows for how many applications its API answers at
 * once, and in how many calls.
 */
export interface Source {
  readonly costs: CallCosts;
  /** Whether discoveries list the hosts of applications. If not, each poll asks which there are. */
  readonly listsHosts: boolean;
  /**
   * Calls the listener whenever polls have begun to cost something else. The returned function
   * unsubscribes it. Default: that becomes known with the next discovery.
   */
  onCostsChange?(listener: () => void): () => void;
  /** Whether one call may answer for many applications: then those that are asked for together cost less. */
  readonly sharesCalls: boolean;
  /**
   * Lists what the selectors may choose from, and perhaps more. An id that a selector names counts
   * as absent only if the vendor was asked for it alone. A known application that is chosen by its
   * name counts as absent only if the vendor was asked for it by its id, or if it is not in a list
   * of one page that has most of the known ones.
   *
   * Keeps what it has: if a call fails, or if the reason of an abort is an `ApiError` (a deadline),
   * it resolves with that error and what was read so far. With another reason of an
   * abort it rejects with that.
   *
   * @param tags which tags of the applications to read, where the API has tags
   */
  discover(
    selectors: readonly Selector[],
    knownIds: readonly string[],
    signal: AbortSignal,
    tags?: readonly string[],
  ): Promise<Discovery>;
  /**
   * Reads the names of the application's hosts. Like `discover` it keeps what it has.
   *
   * @param wanted names that one host may have: other hosts may be left out
   */
  hostNames(
    applicationId: string,
    signal: AbortSignal,
    wanted?: readonly string[],
  ): Promise<HostNames>;
  /**
   * Groups applications into batches, which together ask once for each application that is due.
   * Applications that are not due yet may fill up batches that are needed anyway; the rest of them
   * are left out.
   *
   * @param early in the order in which they are due
   */
  batches<Asked extends Question>(
    due: readonly Asked[],
    early: readonly Asked[],
  ): readonly Batch<Asked>[];
  /**
   * Asks a query, by one call. Rejects with an `ApiError`, or with the signal's reason. Left out if the
   * API has no queries.
   */
  query?(query: Query, context: CallContext): Promise<QueryReading>;
}
