/**
 * Why the vendor answered 429: the limit of the key is used up, it has too much to do for everybody,
 * or it does not say.
 */
export type ThrottleCause = 'key_limit' | 'overload' | 'unknown';

/** A 429; times are on the monotonic clock. */
export interface Throttled {
  /** When the throttled call was sent. */
  readonly sentMs: number;
  /** When the pause ends that the answer asks for. */
  readonly untilMs: number;
  readonly cause: ThrottleCause;
}

/** Calls of a key that New Relic refused with 429, none of them long after the one before. */
export interface Refusals {
  readonly calls: number;
  /** When the first one came. */
  readonly sinceMs: number;
  /** When the last one came. */
  readonly lastMs: number;
}

/** The right to send one request with one key, at once. */
export interface Permit {
  /** The key to send; it goes nowhere else. */
  readonly apiKey: string;
  /** The request was answered with 429. */
  readonly throttled: (answer: Throttled) => void;
  /**
   * The request has ended: to be called exactly once.
   *
   * @param isAnswered whether there was an answer, even a bad one; `undefined` if its caller gave it up
   */
  readonly release: (isAnswered: boolean | undefined) => void;
}

/** The place of a call among all that an account wants to send. */
export interface Turn {
  /**
   * Waits until the next request of the call may leave: its first one, a further page, a retry.
   * Rejects with the signal's reason.
   *
   * @param delayMs how long the request waits in any case
   */
  next(delayMs: number, signal: AbortSignal): Promise<Permit>;
}
