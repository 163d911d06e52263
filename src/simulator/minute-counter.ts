import type { Clock } from '../model/clock.ts';

const windowMs = 60_000;

/** Counts names in fixed windows of one minute, like the vendor, and forgets a window when the next begins. */
export class MinuteCounter {
  readonly #clock: Clock;
  readonly #originMs: number;
  readonly #counts = new Map<string, number>();
  #window = 0;

  /** `phaseMs`: when a window begins, after this call. Clients cannot know it. */
  constructor(clock: Clock, phaseMs = 0) {
    this.#clock = clock;
    // Monotonic: a step of the wall clock must not open a new window.
    this.#originMs = clock.monotonicMs() + phaseMs;
  }

  /** Counts the name once more, and says how often it came in this minute. */
  add(name: string): number {
    const window = this.#currentWindow();
    if (window !== this.#window) this.#counts.clear();
    this.#window = window;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }

  /** When this minute ends, in seconds since the epoch. */
  endSeconds(): number {
    const endMs = this.#originMs + (this.#currentWindow() + 1) * windowMs;
    return Math.ceil((this.#clock.wallMs() + endMs - this.#clock.monotonicMs()) / 1000);
  }

  #currentWindow(): number {
    return Math.floor((this.#clock.monotonicMs() - this.#originMs) / windowMs);
  }
}
