import type { Clock } from '../model/clock.ts';
import { createTokenBucket, type TokenBucket } from '../model/token-bucket.ts';
import { type AdaptiveLimit, createAdaptiveLimit } from './adaptive-limit.ts';
import { createSlidingWindowLog } from './sliding-window-log.ts';
import { createWaitQueue, type WaitOptions } from './wait-queue.ts';

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

/** The right to send one request with one key. */
export interface Permit {
  /** The key to send; it goes nowhere else. */
  readonly apiKey: string;
  /** When the pause of this key ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined;
  /** The request was answered with 429. */
  readonly throttled: (answer: Throttled) => void;
  /** The request has ended: to be called exactly once. */
  readonly release: () => void;
}

/** Says when the next call of one key may go: as its limit and the vendor's pauses allow. */
export interface RateLimiter {
  /**
   * Waits for a permit; urgent calls go before the others that wait. Resolves with `undefined` if
   * the owner was evicted meanwhile, and rejects with the signal's reason.
   */
  acquire(options: WaitOptions, signal: AbortSignal): Promise<Permit | undefined>;
  /** Ends the wait of all calls of an owner, without a permit. */
  evict(owner: object): void;
  /** Sets another full limit. What was sent in the last 60 seconds still counts. */
  resize(requestsPerMinute: number): void;
  /** Calls that may be sent in any 60 seconds, as of now: the full limit, or less after a 429. */
  limitPerMinute(): number;
  /** Whether less than the full limit is in force. */
  isReduced(): boolean;
  /** When the pause ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined;
  /** Calls the listener whenever the limit has changed; the returned function ends that. */
  onLimitChange(listener: () => void): () => void;
  /** Whether nothing distinguishes it from a new one. */
  isPristine(): boolean;
}

export interface RateLimiterOptions {
  readonly apiKey: string;
  /** Calls in any 60 seconds, at least 1. */
  readonly requestsPerMinute: number;
}

export function createRateLimiter(
  options: RateLimiterOptions,
  { clock }: { readonly clock: Clock },
): RateLimiter {
  return new KeyRateLimiter(options, clock);
}

/** How long calls go evenly after a pause, not in a burst: the vendor has just said "enough". */
const evenlyMs = 60_000;

class KeyRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  readonly #apiKey: string;
  readonly #window = createSlidingWindowLog();
  readonly #queue = createWaitQueue<Permit>();
  readonly #limit: AdaptiveLimit;
  readonly #tokenBucket: TokenBucket;
  readonly #listeners = new Set<() => void>();
  #knownLimit: number;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;

  constructor({ apiKey, requestsPerMinute }: RateLimiterOptions, clock: Clock) {
    this.#clock = clock;
    this.#apiKey = apiKey;
    this.#limit = createAdaptiveLimit(requestsPerMinute);
    this.#tokenBucket = createTokenBucket(requestsPerMinute, clock.monotonicMs());
    this.#knownLimit = requestsPerMinute;
  }

  async acquire(options: WaitOptions, signal: AbortSignal): Promise<Permit | undefined> {
    signal.throwIfAborted();
    if (this.#queue.size() === 0 && this.#waitMs(this.#clock.monotonicMs()) === 0) {
      return this.#permit();
    }
    const turn = this.#queue.wait(options, signal);
    this.#pump();
    try {
      return await turn;
    } catch (error) {
      this.#schedule(this.#clock.monotonicMs());
      throw error;
    }
  }

  evict(owner: object): void {
    this.#queue.evict(owner);
    this.#pump();
  }

  resize(requestsPerMinute: number): void {
    this.#limit.resize(requestsPerMinute);
    this.#pump();
  }

  limitPerMinute(): number {
    return this.#limit.perMinute(this.#clock.monotonicMs());
  }

  isReduced(): boolean {
    return Number.isFinite(this.#limit.nextStepMs(this.#clock.monotonicMs()));
  }

  pausedUntilMs(): number | undefined {
    return this.#pausedUntilMs > this.#clock.monotonicMs() ? this.#pausedUntilMs : undefined;
  }

  onLimitChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#pump();
    return () => {
      this.#listeners.delete(listener);
      this.#schedule(this.#clock.monotonicMs());
    };
  }

  isPristine(): boolean {
    const nowMs = this.#clock.monotonicMs();
    return (
      this.#window.used(nowMs) === 0 &&
      this.#queue.size() === 0 &&
      nowMs >= this.#pausedUntilMs + evenlyMs &&
      !this.isReduced()
    );
  }

  #permit(): Permit {
    this.#window.acquire();
    this.#tokenBucket.take();
    return {
      apiKey: this.#apiKey,
      pausedUntilMs: () => this.pausedUntilMs(),
      throttled: (answer) => {
        this.#throttled(answer);
      },
      release: () => {
        this.#window.release(this.#clock.monotonicMs());
        this.#pump();
      },
    };
  }

  #throttled({ sentMs, untilMs, cause }: Throttled): void {
    const nowMs = this.#clock.monotonicMs();
    if (cause === 'key_limit') this.#limit.exceeded({ sentMs, nowMs, untilMs });
    if (untilMs > this.#pausedUntilMs) {
      this.#pausedUntilMs = untilMs;
      this.#tokenBucket.restart(untilMs);
    }
    this.#pump();
  }

  /** 0 when a call may go now, else how long to wait; `Infinity` if that takes the end of a call. */
  #waitMs(nowMs: number): number {
    if (nowMs < this.#pausedUntilMs) return this.#pausedUntilMs - nowMs;
    const limit = this.#limit.perMinute(nowMs);
    const windowMs = this.#window.waitMs(nowMs, limit);
    if (windowMs > 0) return Math.min(windowMs, this.#limit.nextStepMs(nowMs) - nowMs);
    const evenlyLeftMs = this.#pausedUntilMs + evenlyMs - nowMs;
    if (evenlyLeftMs <= 0) return 0;
    this.#tokenBucket.resize(limit, nowMs);
    return Math.min(evenlyLeftMs, this.#tokenBucket.waitMs(nowMs));
  }

  /** Gives permits to all calls that may go, tells of another limit, and sets the next timer. */
  #pump(): void {
    const nowMs = this.#clock.monotonicMs();
    while (this.#queue.size() > 0 && this.#waitMs(nowMs) === 0) this.#queue.dequeue(this.#permit());
    this.#schedule(nowMs);
    const limit = this.#limit.perMinute(nowMs);
    if (limit === this.#knownLimit) return;
    this.#knownLimit = limit;
    for (const listener of this.#listeners) listener();
  }

  #schedule(nowMs: number): void {
    const waitMs = this.#queue.size() === 0 ? Number.POSITIVE_INFINITY : this.#waitMs(nowMs);
    const stepMs =
      this.#listeners.size === 0 ? Number.POSITIVE_INFINITY : this.#limit.nextStepMs(nowMs);
    const dueMs = Math.min(nowMs + waitMs, stepMs);
    // A timer that fires too early only looks again.
    if (this.#timer !== undefined && this.#timer.dueMs <= dueMs && Number.isFinite(dueMs)) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!Number.isFinite(dueMs)) return;
    // Timers count whole milliseconds, rounded down: without this they would fire too early.
    const cancel = this.#clock.after(Math.max(1, Math.ceil(dueMs - nowMs)), () => {
      this.#timer = undefined;
      this.#pump();
    });
    this.#timer = { dueMs, cancel };
  }
}
