const firstGuessMs = 250;
/** A request is slow when it takes this many times as long as the median, */
const slowFactor = 4;
/** but never before it took this long. */
const leastSlowMs = 1000;
/** The factor by which one request moves the median. */
const step = 1.2;
const bounds = { leastMs: 1, mostMs: 60_000 };
/** The mean follows about this many of the last requests. */
const meanRequests = 100;

/**
 * How long answers usually take, and so from when on a request is slow.
 *
 * A running median: one step up for each answer that took longer, one step down for each that took
 * less. A few slow answers do not move it; a vendor that is slow for everybody does. The mean says
 * how many requests a connection can carry. Requests that are never answered do not count, however
 * many they are.
 */
export class CallLatency {
  #medianMs = firstGuessMs;
  #meanMs: number | undefined;
  #counted = 0;

  /** A request that has been in flight for longer is slow. */
  slowAfterMs(): number {
    return Math.max(leastSlowMs, slowFactor * this.#medianMs);
  }

  /** The mean of the requests that were not slow; `undefined` before the first of them. */
  meanMs(): number | undefined {
    return this.#meanMs;
  }

  answered(durationMs: number): void {
    const next = durationMs > this.#medianMs ? this.#medianMs * step : this.#medianMs / step;
    this.#medianMs = Math.min(bounds.mostMs, Math.max(bounds.leastMs, next));
    if (durationMs > this.slowAfterMs()) return;
    this.#counted = Math.min(meanRequests, this.#counted + 1);
    const before = this.#meanMs ?? durationMs;
    this.#meanMs = before + (durationMs - before) / this.#counted;
  }
}
