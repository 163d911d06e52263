/**
 * Time as the program sees it. Pacing, intervals and ages use `monotonicMs`; `wallMs` is only for
 * windows and timestamps, because wall time may jump.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonicMs(): number;
  /** Milliseconds since the epoch. */
  wallMs(): number;
  /**
   * Milliseconds since the machine was started; goes on while it sleeps, when `monotonicMs` may stand
   * still. Default: `monotonicMs`.
   */
  uptimeMs?(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

/** A moment on both clocks. */
export interface Now {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function nowOf(clock: Clock): Now {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/** The wall time that belongs to a monotonic time, if wall time does not jump; in whole milliseconds. */
export function wallTimeOf({ wallMs, monotonicMs }: Now): (atMs: number) => number {
  return (atMs) => Math.round(wallMs + atMs - monotonicMs);
}

/** Resolves after `delayMs`, or rejects with the signal's reason as soon as that is aborted. */
export async function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      cancel();
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const cancel = clock.after(delayMs, settle);
    signal.addEventListener('abort', settle, { once: true });
  });
  signal.throwIfAborted();
}

/** A value, and since when it is as it is. */
export interface Since<Value> {
  readonly value: Value;
  /** Monotonic time of its last change; `undefined` if there was none. */
  readonly sinceMs: number | undefined;
}

/** To be called whenever it may have changed. */
export function noted<Value>(before: Since<Value>, value: Value, nowMs: number): Since<Value> {
  return value === before.value ? before : { value, sinceMs: nowMs };
}
