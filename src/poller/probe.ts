import type { Clock } from '../model/clock.ts';

/** The pause between two discoveries, which may be cut short. */
export interface Probe {
  pause(delayMs: number, signal: AbortSignal): Promise<void>;
  /** Ends the pause under way, unless it has only just begun. */
  readonly soon: () => void;
}

/** However many polls ask for a discovery, there is none more often than this. */
const leastPauseMs = 10_000;

export function createProbe(clock: Clock): Probe {
  let cutShort: (() => void) | undefined;

  return {
    pause: async (delayMs, signal) => {
      const startMs = clock.monotonicMs();
      await new Promise<void>((resolve) => {
        let cancel: (() => void) | undefined;
        const end = (): void => {
          cancel?.();
          signal.removeEventListener('abort', end);
          cutShort = undefined;
          resolve();
        };
        const endAfter = (ms: number): void => {
          cancel?.();
          cancel = clock.after(ms, end);
        };
        endAfter(delayMs);
        signal.addEventListener('abort', end, { once: true });
        cutShort = () => {
          const restMs = Math.max(0, startMs + leastPauseMs - clock.monotonicMs());
          if (startMs + delayMs > clock.monotonicMs() + restMs) endAfter(restMs);
        };
        if (signal.aborted) end();
      });
      signal.throwIfAborted();
    },
    soon: () => {
      cutShort?.();
    },
  };
}
