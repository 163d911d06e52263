/** Of at least one token, as capacity: a late timer must not cost throughput. */
const capacityBatches = 2;
/** Timers fire up to this much early, and sums are not exact. Neither must cost a whole batch. */
const toleranceMs = 1;

/**
 * Spreads events evenly in time, in batches: fills evenly with `perMinute` tokens a minute, and is full at
 * the start. The caller gives the time.
 */
export class TokenBucket {
  readonly #batchMs: number;
  #perMs: number;
  #tokens: number;
  #refilledAtMs: number;

  /** @param batchMs when there is no token, the tokens of this period are waited for */
  constructor(perMinute: number, startMs: number, batchMs: number) {
    this.#batchMs = batchMs;
    this.#perMs = perMinute / 60_000;
    this.#tokens = this.#capacity();
    this.#refilledAtMs = startMs;
  }

  /** 0 when there is a token, else how long to wait for the next batch. */
  waitMs(nowMs: number): number {
    this.#refill(nowMs);
    if (this.#tokens >= 1 - toleranceMs * this.#perMs) return 0;
    return Math.max(this.#batchMs, Math.ceil((1 - this.#tokens) / this.#perMs));
  }

  /** Takes a token, whether there is one or not. Who cannot wait overdraws the bucket; the debt is capped. */
  take(): void {
    this.#tokens = Math.max(-this.#capacity(), this.#tokens - 1);
  }

  /** Starts again with a single token, and fills from that time on. */
  restart(atMs: number): void {
    this.#tokens = 1;
    this.#refilledAtMs = atMs;
  }

  /** Fills at another rate from now on, and keeps the tokens that it has. */
  resize(perMinute: number, nowMs: number): void {
    this.#refill(nowMs);
    this.#perMs = perMinute / 60_000;
    this.#tokens = Math.min(this.#capacity(), this.#tokens);
  }

  #capacity(): number {
    return capacityBatches * Math.max(1, this.#batchMs * this.#perMs);
  }

  #refill(nowMs: number): void {
    // Not yet, if it starts again later than now.
    if (nowMs <= this.#refilledAtMs) return;
    const added = (nowMs - this.#refilledAtMs) * this.#perMs;
    this.#tokens = Math.min(this.#capacity(), this.#tokens + added);
    this.#refilledAtMs = nowMs;
  }
}
