/** How long ago a call must have ended for its place to be free: "any 60 seconds", ends included. */
const holdMs = 60_001;

/** The arithmetic of one account's budget; the caller says what time it is, and what the limit. */
export interface Budget {
  /** Places taken: by the calls in flight and by those that ended in the last 60 seconds. */
  used(nowMs: number): number;
  /** 0 when fewer than `limit` places are taken, else how long until then; `Infinity` until a call in flight ends. */
  freeInMs(nowMs: number, limit: number): number;
  take(): void;
  /** The call that took a place has ended. */
  giveBack(nowMs: number): void;
  /** How many calls of the last 60 seconds ended at this time or later. */
  endedSince(sinceMs: number): number;
}

/**
 * A place is taken from the moment a call is let go until 60 seconds after it ended, so that neither
 * our sends nor their arrivals at the vendor can exceed the budget in any 60 seconds, whatever the
 * latency. What is unused may be spent at once: spreading calls is the business of who sends them.
 */
export function createBudget(): Budget {
  const ends = createEndTimes();
  let inFlight = 0;

  const used = (nowMs: number): number => {
    ends.dropUntil(nowMs - holdMs);
    return inFlight + ends.size();
  };

  return {
    used,
    freeInMs: (nowMs, limit) => {
      // After the limit has shrunk more than one call may have to age before the next one goes.
      const surplus = used(nowMs) - limit;
      if (surplus < 0) return 0;
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
    endedSince: (sinceMs) => ends.countFrom(sinceMs),
  };
}

interface EndTimes {
  push(atMs: number): void;
  dropUntil(limitMs: number): void;
  /** Counted from the oldest, which is 0; `undefined` when there are not so many. */
  at(index: number): number | undefined;
  size(): number;
  countFrom(sinceMs: number): number;
}

const initialCapacity = 64;

/** A ring of the times at which the last calls ended; it grows to the largest limit and no further. */
function createEndTimes(): EndTimes {
  let ring = new Float64Array(initialCapacity);
  let head = 0;
  let size = 0;

  const at = (index: number): number | undefined =>
    index < size ? ring[(head + index) % ring.length] : undefined;

  return {
    push: (atMs) => {
      if (size === ring.length) {
        const larger = new Float64Array(2 * ring.length);
        for (let index = 0; index < size; index += 1) larger[index] = at(index) ?? 0;
        ring = larger;
        head = 0;
      }
      ring[(head + size) % ring.length] = atMs;
      size += 1;
    },
    dropUntil: (limitMs) => {
      while (size > 0 && (ring[head] ?? 0) <= limitMs) {
        head = (head + 1) % ring.length;
        size -= 1;
      }
    },
    at,
    size: () => size,
    countFrom: (sinceMs) => {
      let first = size;
      while (first > 0 && (at(first - 1) ?? 0) >= sinceMs) first -= 1;
      return size - first;
    },
  };
}
