/** How long ago a call must have ended to be forgotten: "any 60 seconds", ends included. */
const holdMs = 60_001;

/** Remembers the calls of the last minute. The caller gives the time and the limit. */
export interface SlidingWindowLog {
  /** Calls in flight, and calls that ended in the last 60 seconds. */
  used(nowMs: number): number;
  /**
   * 0 when fewer than `limit` calls count, else how long until then; `Infinity` if that takes the end
   * of a call in flight.
   */
  waitMs(nowMs: number, limit: number): number;
  /** A call begins. */
  acquire(): void;
  /** A call has ended. */
  release(nowMs: number): void;
}

/**
 * A call counts from when it gets its permit until 60 seconds after it has ended. So neither what we
 * send nor what arrives at the vendor can exceed the limit in any 60 seconds, whatever the latency.
 * Unused permits may be taken all at once: spreading calls is the task of the sender.
 */
export function createSlidingWindowLog(): SlidingWindowLog {
  const ends = createEndTimes();
  let inFlight = 0;

  const used = (nowMs: number): number => {
    ends.dropUntil(nowMs - holdMs);
    return inFlight + ends.size();
  };

  return {
    used,
    waitMs: (nowMs, limit) => {
      // After the limit has shrunk, more than one call may have to age before the next one may go.
      const surplus = used(nowMs) - limit;
      if (surplus < 0) return 0;
      const blocking = ends.at(surplus);
      return blocking === undefined ? Number.POSITIVE_INFINITY : blocking + holdMs - nowMs;
    },
    acquire: () => {
      inFlight += 1;
    },
    release: (nowMs) => {
      inFlight -= 1;
      ends.push(nowMs);
    },
  };
}

interface EndTimes {
  push(atMs: number): void;
  dropUntil(limitMs: number): void;
  /** Counted from the oldest, which is 0; `undefined` when there are fewer. */
  at(index: number): number | undefined;
  size(): number;
}

const initialCapacity = 64;

/** A ring of the times at which the last calls ended. It grows up to the largest limit. */
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
  };
}
