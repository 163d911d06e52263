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
  /** Why, by the last one. */
  readonly cause: ThrottleCause;
}

/** Calls for one purpose, such as a poll: what decides when they leave, among all that an account wants to send. */
export interface Job {
  /** What is polled: if its calls hang, those of the next job with the same key may hang again. */
  readonly key: string;
  /** About how many calls there are. */
  readonly size: number;
  /** When it fell due, on the monotonic clock. */
  readonly dueMs: number;
  /** The time that it may take. */
  readonly periodMs: number;
}

/** The right to send one request with one key, at once. */
export interface Permit {
  /** The key to send; it goes nowhere else. */
  readonly apiKey: string;
  /** Whether it was released. */
  readonly isOver: () => boolean;
  /** The request was answered with 429. */
  readonly throttled: (answer: Throttled) => void;
  /**
   * The request has ended: with an answer, even a bad one, without one, given up by its caller, or it never left.
   * Only the first time counts.
   */
  readonly release: (how: 'answered' | 'failed' | 'aborted' | 'unsent') => void;
}
