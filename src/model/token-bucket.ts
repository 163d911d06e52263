/** Spreads events evenly in time, in batches. The caller says what time it is. */
export interface TokenBucket {
  /** 0 when there is a token, else how long to wait for the next batch. */
  waitMs(nowMs: number): number;
  /** Takes a token, whether there is one or not. */
  take(): void;
  /** Starts anew with a single token. */
  restart(nowMs: number): void;
}

/** Waking up costs more than the calls themselves: one batch a second is fresh enough. */
const defaultBatchMs = 1000;
/** A late timer must not cost throughput: so many batches may be made up for. */
const catchUpBatches = 2;

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
  const perMs = perMinute / 60_000;
  const capacity = Math.max(1, catchUpBatches * batchMs * perMs);
  let tokens = capacity;
  let refilledAtMs = startMs;

  const refill = (nowMs: number): void => {
    tokens = Math.min(capacity, tokens + (nowMs - refilledAtMs) * perMs);
    refilledAtMs = nowMs;
  };

  return {
    waitMs: (nowMs) => {
      refill(nowMs);
      return tokens >= 1 ? 0 : Math.max(batchMs, Math.ceil((1 - tokens) / perMs));
    },
    take: () => {
      // Who may not wait takes what is not there: the others pay it back, but not for ever.
      tokens = Math.max(-capacity, tokens - 1);
    },
    restart: (nowMs) => {
      tokens = 1;
      refilledAtMs = nowMs;
    },
  };
}
