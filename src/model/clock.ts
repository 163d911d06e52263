/**
 * Time as the program sees it. Pacing, intervals and ages use `monotonicMs`; `wallMs` is only for
 * windows and timestamps, because wall time may jump.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonicMs(): number;
  /** Milliseconds since the epoch. */
  wallMs(): number;
  /** Calls `run` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

/**
 * Resolves after `delayMs`, or rejects with the signal's reason as soon as that is aborted.
 */
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
