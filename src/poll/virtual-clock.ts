import type { Clock } from '../model/clock.ts';

/**
 * The time of an account in which its intervals are never stretched: it runs the more slowly, the
 * more they are. So due times stay as they are, whatever happens to the budget.
 */
export class VirtualClock {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #rate = { stretch: 1, fromMs: 0, virtualMs: 0 };

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.at(this.#clock.monotonicMs());
  }

  /** The virtual time of a monotonic time in the past, as if the rate had been that of now. */
  at(monotonicMs: number): number {
    const { stretch, fromMs, virtualMs } = this.#rate;
    return virtualMs + (monotonicMs - fromMs) / stretch;
  }

  /**
   * The monotonic time at which it is that late, at the rate of now; of a time before the last change of
   * the rate, the latest that it can have been.
   */
  monotonicMsOf(virtualMs: number): number {
    const sinceMs = virtualMs - this.#rate.virtualMs;
    return this.#rate.fromMs + (sinceMs < 0 ? sinceMs : sinceMs * this.#rate.stretch);
  }

  /** Runs at 1/stretch of monotonic time from now on. */
  setStretch(stretch: number): void {
    if (stretch === this.#rate.stretch) return;
    const fromMs = this.#clock.monotonicMs();
    this.#rate = { stretch, fromMs, virtualMs: this.at(fromMs) };
  }
}
