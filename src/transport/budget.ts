/** How long ago a call must have ended for its place to be free: "any 60 seconds", ends included. */
const holdMs = 60_001;
/** The arithmetic of one account's budget; the caller says what time it is. */
export interface Budget {
  /** 0 when a call may go now, else how long to wait; `Infinity` until a call in flight ends. */
  blockedForMs(nowMs: number): number;
  /** Takes the place that `blockedForMs` said is free. */
  take(): void;
  /** The call that took a place has ended. */
  giveBack(nowMs: number): void;
}

/**
 * A place is taken from the moment a call is let go until 60 seconds after it ended, so that neither
 * our sends nor their arrivals at the vendor can exceed the budget in any 60 seconds, whatever the
 * latency. What is unused may be spent at once: spreading calls is the business of who sends them.
 */
export function createBudget(requestsPerMinute: number): Budget {
  const ends = createEndTimes(requestsPerMinute);
  let inFlight = 0;

  return {
    blockedForMs: (nowMs) => {
      ends.dropUntil(nowMs - holdMs);
      if (inFlight + ends.size() < requestsPerMinute) return 0;
      const oldest = ends.oldest();
      return oldest === undefined ? Number.POSITIVE_INFINITY : oldest + holdMs - nowMs;
    },
    take: () => {
      inFlight += 1;
    },
    giveBack: (nowMs) => {
      inFlight -= 1;
      ends.push(nowMs);
    },
  };
}

interface EndTimes {
  push(atMs: number): void;
  dropUntil(limitMs: number): void;
  oldest(): number | undefined;
  size(): number;
}

/** A ring of the times at which the last calls ended: constant memory, however long we run. */
function createEndTimes(capacity: number): EndTimes {
  const ring = new Float64Array(capacity);
  let head = 0;
  let size = 0;
  return {
    push: (atMs) => {
      ring[(head + size) % capacity] = atMs;
      size += 1;
    },
    dropUntil: (limitMs) => {
      while (size > 0 && (ring[head] ?? 0) <= limitMs) {
        head = (head + 1) % capacity;
        size -= 1;
      }
    },
    oldest: () => (size > 0 ? ring[head] : undefined),
    size: () => size,
  };
}
