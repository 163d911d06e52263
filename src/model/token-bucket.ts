/** Spreads events evenly in time, in batches. The caller gives the time. */
export interface TokenBucket {
  /** 0 when there is a token, else how long to wait for the next batch. */
  waitMs(nowMs: number): number;
  /** Takes a token, whether there is one or not. */
  take(): void;
  /** Starts again with a single token, and fills from that time on. */
  restart(atMs: number): void;
  /** Fills at another rate from now on, and keeps the tokens that it has. */
  resize(perMinute: number, nowMs: number): void;
}

export interface TokenBucketOptions {
  /**
   * When there is no token, the tokens of this period are waited for. Default: a second, as a timer costs
   * more than a call.
   */
  readonly batchMs?: number;
}

const defaultBatchMs = 1000;
/** Of at least one token, as capacity: a late timer must not cost throughput. */
const capacityBatches = 2;
/** Timers fire up to this much early, and sums are not exact. Neither must cost a whole batch. */
const toleranceMs = 1;

/** A bucket that fills evenly with `perMinute` tokens a minute, and is full at the start. */
export function createTokenBucket(
  perMinute: number,
  startMs: number,
  { batchMs = defaultBatchMs }: TokenBucketOptions = {},
): TokenBucket {
  let perMs = perMinute / 60_000;
  const capacityAt = (rate: number): number => capacityBatches * Math.max(1, batchMs * rate);
  let capacity = capacityAt(perMs);
  let tokens = capacity;
  let refilledAtMs = startMs;

  const refill = (nowMs: number): void => {
    // A bucket that starts again later must not lose that by a look at it before.
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
