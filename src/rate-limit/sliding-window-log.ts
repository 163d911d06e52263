/** How long ago a call must have ended to be forgotten: "any 60 seconds", ends included. */
const holdMs = 60_001;

/**
 * Remembers the calls of the last minute. The caller gives the time and the limit.
 *
 * A call counts from when it gets its permit until 60 seconds after it has ended. So neither what we
 * send nor what arrives at the vendor can exceed the limit in any 60 seconds, whatever the latency.
 * Unused permits may be taken all at once: spreading calls is the task of the sender.
 */
export class SlidingWindowLog {
  /** When the calls of the last minute ended, the oldest first. */
  readonly #ends: number[] = [];
  #inFlight = 0;

  /** Calls in flight, and calls that ended in the last 60 seconds. */
  used(nowMs: number): number {
    const first = this.#ends.findIndex((endMs) => endMs > nowMs - holdMs);
    this.#ends.splice(0, first === -1 ? this.#ends.length : first);
    return this.#inFlight + this.#ends.length;
  }

  /**
   * 0 when fewer than `limit` calls count, else how long until then; `Infinity` if that takes the end
   * of a call in flight.
   */
  waitMs(nowMs: number, limit: number): number {
    // After the limit has shrunk, more than one call may have to age before the next one may go.
    const surplus = this.used(nowMs) - limit;
    if (surplus < 0) return 0;
    const blocking = this.#ends[surplus];
    return blocking === undefined ? Number.POSITIVE_INFINITY : blocking + holdMs - nowMs;
  }

  acquire(): void {
    this.#inFlight += 1;
  }

  release(nowMs: number): void {
    this.#inFlight -= 1;
    this.#ends.push(nowMs);
  }
}
