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

export function nowOf(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>): Now {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/** The wall time that belongs to a monotonic time, if wall time does not jump; in whole milliseconds. */
export function wallTimeOf({ wallMs, monotonicMs }: Now): (atMs: number) => number {
  return (atMs) => Math.round(wallMs + atMs - monotonicMs);
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

/** A pause that may be cut short. */
export interface InterruptibleDelay {
  pause(delayMs: number, signal: AbortSignal): Promise<void>;
  /** Ends the present pause, but not before `minMs` after its start. */
  cutShort(minMs: number): void;
  /** Monotonic time at which the present pause ends; `undefined` while there is none. */
  endsAtMs(): number | undefined;
}

export function createInterruptibleDelay(clock: Clock): InterruptibleDelay {
  let endAfter: ((minMs: number) => void) | undefined;
  let endsMs: number | undefined;

  return {
    endsAtMs: () => endsMs,
    pause: async (delayMs, signal) => {
      const startMs = clock.monotonicMs();
      await new Promise<void>((resolve) => {
        let cancel: (() => void) | undefined;
        const end = (): void => {
          cancel?.();
          signal.removeEventListener('abort', end);
          endAfter = undefined;
          endsMs = undefined;
          resolve();
        };
        const endAt = (atMs: number): void => {
          if (atMs >= (endsMs ?? Number.POSITIVE_INFINITY)) return;
          cancel?.();
          const nowMs = clock.monotonicMs();
          endsMs = Math.max(nowMs, atMs);
          cancel = clock.after(endsMs - nowMs, end);
        };
        endAt(startMs + delayMs);
        signal.addEventListener('abort', end, { once: true });
        endAfter = (minMs) => {
          endAt(startMs + minMs);
        };
        if (signal.aborted) end();
      });
      signal.throwIfAborted();
    },
    cutShort: (minMs) => {
      endAfter?.(minMs);
    },
  };
}
