import type { LimitFunction } from 'p-limit';
import type { Clock } from '../model/clock.ts';
import type { Permit, Refusals, Throttled } from '../model/permit.ts';
import { AdaptiveLimit } from './adaptive-limit.ts';
import { SlidingWindowLog } from './sliding-window-log.ts';
import { TokenBucket } from './token-bucket.ts';

/** An account that wants to send with a key. */
export interface Claimant {
  /** Called when it may take a permit, if it could not before. */
  readonly wake: () => void;
}

export interface RateLimiterOptions {
  readonly apiKey: string;
  /** Calls in any 60 seconds, at least 1. */
  readonly requestsPerMinute: number;
  /** Holds the calls in flight of the key, and bounds them together with those for its other quotas. */
  readonly inFlight: LimitFunction;
}

export interface RateLimiterDependencies {
  readonly clock: Clock;
  /** Called when a call has ended and there was no room for another one in flight. */
  readonly roomAgain: () => void;
}

const nothing = (): void => undefined;
/** How long all calls go evenly after a pause, not in a burst: the vendor has just said "enough". */
const evenlyMs = 60_000;
/** Refusals are one trouble until so long after the last one: then the full limit is back, too. */
export const refusalMemoryMs = 300_000;
/** The values of a poll are published together, so a small poll should go out in one batch. */
const batchMs = 3000;

/**
 * Says when the next call of one key may go: as its limit, the vendor's pauses and the calls in flight
 * allow. Accounts that wait for permits get them in turn, one each.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #apiKey: string;
  readonly #window = new SlidingWindowLog();
  readonly #inFlight: LimitFunction;
  readonly #roomAgain: () => void;
  readonly #limit: AdaptiveLimit;
  readonly #tokenBucket: TokenBucket;
  /** Who waits, and whether for an even share of the minute; the first one has waited for longest. */
  readonly #waiting = new Map<Claimant, boolean>();
  readonly #listeners = new Set<() => void>();
  /** Whose turn it is while it is being woken. */
  #woken: Claimant | undefined;
  #knownLimit: number;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #refusals: Refusals | undefined;
  #timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;

  constructor(
    { apiKey, requestsPerMinute, inFlight }: RateLimiterOptions,
    { clock, roomAgain }: RateLimiterDependencies,
  ) {
    this.#clock = clock;
    this.#apiKey = apiKey;
    this.#inFlight = inFlight;
    this.#roomAgain = roomAgain;
    this.#limit = new AdaptiveLimit(requestsPerMinute);
    this.#tokenBucket = new TokenBucket(requestsPerMinute, clock.monotonicMs(), batchMs);
    this.#knownLimit = requestsPerMinute;
  }

  /**
   * Whether the account may take a permit now. If not, it is woken once when it may.
   *
   * @param isSpaced whether the call is one of those that are spread evenly over the minute
   */
  mayTake(claimant: Claimant, isSpaced: boolean): boolean {
    const nowMs = this.#clock.monotonicMs();
    const isItsTurn = this.#woken === claimant || (this.#firstAble(nowMs) ?? claimant) === claimant;
    if (isItsTurn && this.#waitMs(nowMs, isSpaced) === 0) {
      this.#waiting.delete(claimant);
      return true;
    }
    this.#waiting.set(claimant, isSpaced);
    this.#schedule(nowMs);
    return false;
  }

  /** Takes a permit. To be called only when `mayTake` has just said so. */
  take(): Permit {
    this.#woken = undefined;
    this.#window.acquire();
    this.#tokenBucket.take();
    let end: () => void = nothing;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    void this.#hold(ended);
    return {
      apiKey: this.#apiKey,
      throttled: (answer) => {
        this.#throttled(answer);
      },
      release: end,
    };
  }

  /** The account waits no longer. */
  forget(claimant: Claimant): void {
    this.#waiting.delete(claimant);
    this.#schedule(this.#clock.monotonicMs());
  }

  /** Sets another full limit. What was sent in the last 60 seconds still counts. */
  resize(requestsPerMinute: number): void {
    this.#limit.resize(requestsPerMinute);
    this.pump();
  }

  /** Calls that may be sent in any 60 seconds, as of now: the full limit, or less after a 429. */
  limitPerMinute(): number {
    return this.#limit.perMinute(this.#clock.monotonicMs());
  }

  /** Whether less than the full limit is in force. */
  isReduced(): boolean {
    return Number.isFinite(this.#limit.nextStepMs(this.#clock.monotonicMs()));
  }

  /** The 429s of the present trouble; `undefined` five minutes after the last one. */
  refusals(): Refusals | undefined {
    const isRecent = this.#clock.monotonicMs() - (this.#refusals?.lastMs ?? 0) < refusalMemoryMs;
    return isRecent ? this.#refusals : undefined;
  }

  /** When the pause ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined {
    return this.#pausedUntilMs > this.#clock.monotonicMs() ? this.#pausedUntilMs : undefined;
  }

  /** Calls the listener whenever the limit has changed; the returned function ends that. */
  onLimitChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.pump();
    return () => {
      this.#listeners.delete(listener);
      this.#schedule(this.#clock.monotonicMs());
    };
  }

  /** Whether nothing distinguishes it from a new one. */
  isPristine(): boolean {
    const nowMs = this.#clock.monotonicMs();
    return (
      this.#window.used(nowMs) === 0 &&
      this.#waiting.size === 0 &&
      nowMs >= this.#pausedUntilMs + evenlyMs &&
      !this.isReduced()
    );
  }

  /** Monotonic time since when somebody should have been woken; `undefined` if nobody should. */
  dueSinceMs(): number | undefined {
    const dueMs = this.#timer?.dueMs ?? Number.POSITIVE_INFINITY;
    return dueMs <= this.#clock.monotonicMs() ? dueMs : undefined;
  }

  /** Holds a place among the calls in flight until the call has ended. */
  async #hold(ended: Promise<void>): Promise<void> {
    await this.#inFlight(async () => ended);
    this.#window.release(this.#clock.monotonicMs());
    const { activeCount, pendingCount, concurrency } = this.#inFlight;
    if (activeCount + pendingCount + 1 >= concurrency) this.#roomAgain();
    this.pump();
  }

  #throttled({ sentMs, untilMs, cause }: Throttled): void {
    const nowMs = this.#clock.monotonicMs();
    const { calls, sinceMs } = this.refusals() ?? { calls: 0, sinceMs: nowMs };
    this.#refusals = { calls: calls + 1, sinceMs, lastMs: nowMs };
    if (cause === 'key_limit') this.#limit.exceeded({ sentMs, nowMs, untilMs });
    if (untilMs > this.#pausedUntilMs) {
      this.#pausedUntilMs = untilMs;
      this.#tokenBucket.restart(untilMs);
    }
    this.pump();
  }

  /** 0 when a call may go now, else how long to wait; `Infinity` if that takes the end of a call. */
  #waitMs(nowMs: number, isSpaced: boolean): number {
    if (nowMs < this.#pausedUntilMs) return this.#pausedUntilMs - nowMs;
    const { activeCount, pendingCount, concurrency } = this.#inFlight;
    if (activeCount + pendingCount >= concurrency) return Number.POSITIVE_INFINITY;
    const limit = this.#limit.perMinute(nowMs);
    const windowMs = this.#window.waitMs(nowMs, limit);
    if (windowMs > 0) return Math.min(windowMs, this.#limit.nextStepMs(nowMs) - nowMs);
    const evenlyLeftMs = this.#pausedUntilMs + evenlyMs - nowMs;
    if (!isSpaced && evenlyLeftMs <= 0) return 0;
    this.#tokenBucket.resize(limit, nowMs);
    const tokenMs = this.#tokenBucket.waitMs(nowMs);
    return isSpaced ? tokenMs : Math.min(evenlyLeftMs, tokenMs);
  }

  #firstAble(nowMs: number): Claimant | undefined {
    for (const [claimant, isSpaced] of this.#waiting) {
      if (this.#waitMs(nowMs, isSpaced) === 0) return claimant;
    }
    return undefined;
  }

  /** Wakes those that may take a permit now, tells of another limit, and sets the next timer. */
  pump(): void {
    const nowMs = this.#clock.monotonicMs();
    let next = this.#firstAble(nowMs);
    for (; next !== undefined; next = this.#firstAble(nowMs)) {
      this.#waiting.delete(next);
      this.#woken = next;
      next.wake();
      this.#woken = undefined;
    }
    this.#schedule(nowMs);
    const limit = this.#limit.perMinute(nowMs);
    if (limit === this.#knownLimit) return;
    this.#knownLimit = limit;
    for (const listener of this.#listeners) listener();
  }

  #schedule(nowMs: number): void {
    let dueMs = this.#listeners.size === 0 ? Infinity : this.#limit.nextStepMs(nowMs);
    for (const isSpaced of this.#waiting.values()) {
      dueMs = Math.min(dueMs, nowMs + this.#waitMs(nowMs, isSpaced));
    }
    // A timer that fires too early only looks again.
    if (this.#timer !== undefined && this.#timer.dueMs <= dueMs && Number.isFinite(dueMs)) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!Number.isFinite(dueMs)) return;
    // Timers count whole milliseconds, rounded down: without this they would fire too early.
    const cancel = this.#clock.after(Math.max(1, Math.ceil(dueMs - nowMs)), () => {
      this.#timer = undefined;
      this.pump();
    });
    this.#timer = { dueMs, cancel };
  }
}
