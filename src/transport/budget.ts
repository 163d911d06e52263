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
  /** Another budget from now on; the calls of the last 60 seconds still count. */
  resize(requestsPerMinute: number): void;
}

/**
 * A place is taken from the moment a call is let go until 60 seconds after it ended, so that neither
 * our sends nor their arrivals at the vendor can exceed the budget in any 60 seconds, whatever the
 * latency. What is unused may be spent at once: spreading calls is the business of who sends them.
 */
export function createBudget(initialRequestsPerMinute: number): Budget {
  let requestsPerMinute = initialRequestsPerMinute;
  let ends = createEndTimes(requestsPerMinute);
  let inFlight = 0;

  return {
    blockedForMs: (nowMs) => {
      ends.dropUntil(nowMs - holdMs);
      if (inFlight + ends.size() < requestsPerMinute) return 0;
      // After the budget has shrunk more than one call may have to age before the next one goes.
      const surplus = inFlight + ends.size() - requestsPerMinute;
      const blocking = ends.at(surplus);
      return blocking === undefined ? Number.POSITIVE_INFINITY : blocking + holdMs - nowMs;
    },
    take: () => {
      inFlight += 1;
    },
    giveBack: (nowMs) => {
      inFlight -= 1;
      ends.push(nowMs);
    },
    resize: (next) => {
      requestsPerMinute = next;
      const kept = ends.all();
      ends = createEndTimes(Math.max(next, kept.length + inFlight));
      for (const endMs of kept) ends.push(endMs);
    },
  };
}

interface EndTimes {
  push(atMs: number): void;
  dropUntil(limitMs: number): void;
  /** Counted from the oldest, which is 0; `undefined` when there are not so many. */
  at(index: number): number | undefined;
  size(): number;
  all(): readonly number[];
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
    at: (index) => (index < size ? ring[(head + index) % capacity] : undefined),
    size: () => size,
    all: () => Array.from({ length: size }, (_, index) => ring[(head + index) % capacity] ?? 0),
  };
}
