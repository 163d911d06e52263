/** Spreads events evenly in time, in batches. The caller says what time it is. */
export interface TokenBucket {
  /** 0 when there is a token, else how long to wait for the next batch. */
  waitMs(nowMs: number): number;
  /** Takes a token, whether there is one or not. */
  take(): void;
  /** Starts anew with a single token, and fills from then on. */
  restart(atMs: number): void;
  /** Fills at another rate from now on, and keeps what there is. */
  resize(perMinute: number, nowMs: number): void;
}

/** Waking up costs more than the calls themselves: one batch a second is fresh enough. */
const defaultBatchMs = 1000;
/** A late timer must not cost throughput: so many batches may be made up for. */
const catchUpBatches = 2;
/** Timers fire up to this much early, and sums are not exact: neither must cost a whole batch. */
const toleranceMs = 1;

/**
 * A bucket that fills evenly with `perMinute` tokens a minute, and is full at the start.
 *
 * @param batchMs how much time's worth of tokens is waited for when there is none
 */
export function createTokenBucket(
  perMinute: number,
  startMs: number,
  batchMs: number = defaultBatchMs,
): TokenBucket {
  let perMs = perMinute / 60_000;
  const capacityAt = (rate: number): number => Math.max(1, catchUpBatches * batchMs * rate);
  let capacity = capacityAt(perMs);
  let tokens = capacity;
  let refilledAtMs = startMs;

  const refill = (nowMs: number): void => {
    // A bucket that starts anew later is not emptied by a look at it before.
    if (nowMs <= refilledAtMs) return;
    tokens = Math.min(capacity, tokens + (nowMs - refilledAtMs) * perMs);
    refilledAtMs = nowMs;
  };

  return {
    waitMs: (nowMs) => {
      refill(nowMs);
      if (tokens >= 1 - toleranceMs * perMs) return 0;
      return Math.max(batchMs, Math.ceil((1 - tokens) / perMs));
    },
    take: () => {
      // Callers that cannot wait overdraw the bucket; the debt is capped.
      tokens = Math.max(-capacity, tokens - 1);
    },
    restart: (atMs) => {
      tokens = 1;
      refilledAtMs = atMs;
    },
    resize: (next, nowMs) => {
      refill(nowMs);
      perMs = next / 60_000;
      capacity = capacityAt(perMs);
      tokens = Math.min(capacity, tokens);
    },
  };
}
