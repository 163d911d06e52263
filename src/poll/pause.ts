import type { Clock } from '../model/clock.ts';

/** The pause of a loop, which can be cut short. Times are monotonic. */
export class LoopPause {
  readonly #clock: Clock;
  #endMs: number | undefined;
  #startMs = 0;
  #cancel: () => void = () => undefined;
  /** Sets the timer for the end as it is now. */
  #setTimer: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** When it ends; `undefined` while there is none. */
  get endMs(): number | undefined {
    return this.#endMs;
  }

  /** Ends in a later turn of the event loop. Rejects with the signal's reason as soon as that is aborted. */
  async until(endMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#startMs = this.#clock.monotonicMs();
    this.#endMs = endMs;
    await new Promise<void>((resolve) => {
      // Not by signals that depend on this one, which would stay as long as it does.
      const end = (): void => {
        this.#cancel();
        signal.removeEventListener('abort', end);
        this.#endMs = undefined;
        resolve();
      };
      this.#setTimer = () => {
        this.#cancel();
        const leftMs = (this.#endMs ?? 0) - this.#clock.monotonicMs();
        this.#cancel = this.#clock.after(Math.max(0, Math.ceil(leftMs)), end);
      };
      signal.addEventListener('abort', end, { once: true });
      this.#setTimer();
    });
    signal.throwIfAborted();
  }

  /** Ends it no later than so long after its start; nothing if there is none. */
  endAfter(leastMs: number): void {
    const atMs = Math.max(this.#clock.monotonicMs(), this.#startMs + leastMs);
    if (this.#endMs === undefined || atMs >= this.#endMs) return;
    this.#endMs = atMs;
    this.#setTimer();
  }
}
