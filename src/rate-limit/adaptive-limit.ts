const stepMs = 60_000;
/** Steps from the last 429 to the full limit. */
const recoverySteps = 5;
const decrease = 0.5;
/** This much is tried in any case, however much others take. */
const leastShare = 0.1;

/**
 * The limit of one key, adapted to the vendor's 429s. The caller gives the time, on the monotonic clock.
 *
 * Additive increase, multiplicative decrease. A 429 halves the limit in force, but to no less than a
 * tenth of the full limit. Then it rises in five equal steps, one a minute, so that the full limit is
 * in force again five minutes after the last 429.
 */
export class AdaptiveLimit {
  #full: number;
  /** The share of the full limit right after the last 429. */
  #share = 1;
  #exceededMs = Number.NEGATIVE_INFINITY;
  /** A 429 for a call that was sent before then is part of the last one, and reduces nothing more. */
  #episodeUntilMs = Number.NEGATIVE_INFINITY;

  constructor(requestsPerMinute: number) {
    this.#full = requestsPerMinute;
  }

  /** Calls in any 60 seconds. */
  perMinute(nowMs: number): number {
    return Math.max(1, Math.floor(this.#full * this.#shareAt(nowMs)));
  }

  /** When the limit rises next; `Infinity` while it is the full limit. */
  nextStepMs(nowMs: number): number {
    const steps = this.#stepsAt(nowMs);
    return steps >= recoverySteps ? Infinity : this.#exceededMs + (steps + 1) * stepMs;
  }

  /** A 429 for a call sent at `sentMs` names the limit, and asks for a pause that ends at `untilMs`. */
  exceeded({ sentMs, nowMs, untilMs }: { sentMs: number; nowMs: number; untilMs: number }): void {
    if (sentMs < this.#episodeUntilMs) {
      this.#episodeUntilMs = Math.max(this.#episodeUntilMs, untilMs);
      return;
    }
    this.#share = Math.max(leastShare, decrease * this.#shareAt(nowMs));
    this.#exceededMs = nowMs;
    this.#episodeUntilMs = untilMs;
  }

  /** Sets another full limit; a reduction keeps its proportion. */
  resize(requestsPerMinute: number): void {
    this.#full = requestsPerMinute;
  }

  #stepsAt(nowMs: number): number {
    return Math.floor((nowMs - this.#exceededMs) / stepMs);
  }

  #shareAt(nowMs: number): number {
    const steps = this.#stepsAt(nowMs);
    return steps >= recoverySteps ? 1 : this.#share + (steps * (1 - this.#share)) / recoverySteps;
  }
}
