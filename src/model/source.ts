import type { ApiError } from './api-error.ts';
import type { Application } from './application.ts';
import type { Selector } from './config.ts';
import type { PollOutcome } from './poll-outcome.ts';
import type { SelectedApplication } from './selected-application.ts';
import type { Operation } from './telemetry.ts';

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
   * Ids that an answer for several left out, and that have not been asked for alone yet. They do not
   * make the discovery incomplete; the next ones ask for them.
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

/** What the poller gives to every call of a batch. */
export interface CallContext {
  /** Breaks the call off. An `ApiError` as its reason is a deadline. */
  readonly signal: AbortSignal;
  readonly onWire: OnWire;
  /** Wall time at the vendor when the batch began: windows are cut by it, alike for all its calls. */
  readonly wallMs: number;
}

/**
 * One call to the vendor, ready to be sent. It deals with its own failure and never rejects: it
 * resolves with whether there was an answer, even a bad one.
 */
export type Call = (context: CallContext) => Promise<boolean>;

/** Calls that may be under way together. */
export interface Stage {
  /** How many calls there are at most. */
  readonly size: number;
  /** Taken one by one, and only when there is room: a stage of 10,000 calls is no queue of 10,000. */
  readonly calls: Iterator<Call, undefined>;
}

/** One application that is due, as its source is asked for it. */
export interface Question {
  readonly selected: SelectedApplication;
  /** Whether the names of its hosts are wanted as well, because some are not known. */
  readonly askHostNames: boolean;
  /** The host names that are known, by host id. */
  readonly hostNames: ReadonlyMap<string, string>;
  /** Whether the host is still listed: a discovery may have ended since the poll began. */
  readonly isListed: (hostId: string) => boolean;
}

/** Applications that are asked for together, and what has come for each of them. */
export interface Batch<Asked extends Question = Question> {
  readonly questions: readonly Asked[];
  /** What hangs again if it has hung before. Batches with the same key follow each other. */
  readonly key: string;
  /**
   * The calls to make next; `undefined` when all is asked for. The first stage exists; each other one
   * begins when every call of the one before has ended.
   */
  nextStage(): Stage | undefined;
  /** What has not come by now will not be waited for: the calls under way are broken off next. */
  giveUp(error: ApiError): void;
  /** What has come for an application of the batch. What was asked for and did not come has failed. */
  outcomeOf(question: Asked): PollOutcome;
}

/** How many calls an account may send, in the unit of its source. */
export interface CallLimit {
  /** Calls a minute that the account may plan with, as of now. */
  limitPerMinute(): number;
  /** Calls the listener whenever `limitPerMinute` has changed; the returned function ends that. */
  onLimitChange(listener: () => void): () => void;
  /** Says how many calls a minute the account needs; others that share the limit may have the rest. */
  demand(callsPerMinute: number): void;
}

/** Calls by what they are for. */
export type CallsByOperation = Readonly<Record<Operation, number>>;

/** What it takes an API to answer, in calls: the unit of the budget. */
export interface CallCosts {
  /** A poll of each of these, when all of them are due together; host names not counted. */
  polls(applications: readonly SelectedApplication[]): CallsByOperation;
  /** Asking for the host names of these, which is done once, with the first polls. */
  hostNames(applications: readonly SelectedApplication[]): number;
  /** A discovery in an account that has so many applications. */
  discovery(applications: number): number;
  /** How long an answer usually takes, and how long a slow one. */
  readonly usualCallMs: { readonly mean: number; readonly most: number };
}

/**
 * The vendor, as the poller sees it: one account behind one interface, so that another API of the
 * vendor can take its place. How many applications an API answers for at once, and in how many calls,
 * only its source knows.
 */
export interface Source {
  readonly costs: CallCosts;
  /**
   * How much earlier than it is due an application may be polled to fill up a batch that is made for
   * others. 0 where sharing a batch saves nothing.
   */
  readonly gatherMs: number;
  /**
   * Lists what the selectors may choose from (and perhaps more). An id that a selector names is not
   * absent before the vendor was asked for it alone. An application that is known and chosen by its
   * name is not absent before the vendor was asked for it by its id, unless a list of one page, with
   * most of the known ones in it, leaves it out.
   *
   * Keeps what it has: when a call fails, or when the reason of an abort is an `ApiError` (a
   * deadline), it resolves with that error and what was read so far. With any other reason of an
   * abort it rejects.
   */
  discover(
    selectors: readonly Selector[],
    knownIds: readonly string[],
    signal: AbortSignal,
  ): Promise<Discovery>;
  /**
   * The names of the application's hosts; like `discover` it keeps what it has.
   *
   * @param wanted names of one host: the others may be left out
   */
  hostNames(
    applicationId: string,
    signal: AbortSignal,
    wanted?: readonly string[],
  ): Promise<HostNames>;
  /**
   * Groups applications, so that the batches together ask once for each one that is due. Those that
   * are not due yet may fill up batches that are needed anyway; the others of them are left out.
   *
   * @param early applications that are due within `gatherMs`, the first one first
   */
  batches<Asked extends Question>(
    due: readonly Asked[],
    early: readonly Asked[],
  ): readonly Batch<Asked>[];
}
