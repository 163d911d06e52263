/** Spreads events evenly in time, in batches of about a second. The caller says what time it is. */
export interface TokenBucket {
  /** 0 when there is a token, else how long to wait for the next batch. */
  waitMs(nowMs: number): number;
  /** Takes a token, whether there is one or not. */
  take(): void;
  /** Starts anew with a single token. */
  restart(nowMs: number): void;
}

/** Waking up costs more than the calls themselves: one batch a second is fresh enough. */
const batchMs = 1000;
/** A late timer must not cost throughput: so much time's worth may be made up for. */
const catchUpMs = 2000;

/** A bucket that fills evenly with `perMinute` tokens a minute, and is full at the start. */
export function createTokenBucket(perMinute: number, startMs: number): TokenBucket {
  const perMs = perMinute / 60_000;
  const capacity = Math.max(1, catchUpMs * perMs);
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
