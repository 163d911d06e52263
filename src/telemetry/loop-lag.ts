import type { Clock } from '../model/clock.ts';

/**
 * How late the event loop is: the time that it needs to come to what is due. Long turns of the program
 * itself, garbage collection and a CPU limit all show here.
 */
export interface LoopLag {
  /** Looks at the event loop until the signal is aborted. */
  watch(signal: AbortSignal): Promise<void>;
  /**
   * The longest delay that was seen in the last minute, in seconds to the millisecond; 0 if
   * nobody watches.
   */
  worstSeconds(): number;
}

/**
 * A timer a second takes 0.02 % of a core, a twentieth of what Node's own `monitorEventLoopDelay` takes
 * at its default of 10 ms. Delays of a second and more are always seen, and shorter ones when they
 * happen often.
 */
const lookEveryMs = 1000;
/** Most scrapers come at least once in this time. */
const rememberedMs = 60_000;

interface Look {
  readonly atMs: number;
  readonly lagMs: number;
}

export function createLoopLag({ clock }: { readonly clock: Clock }): LoopLag {
  let looks: readonly Look[] = [];
  let dueMs: number | undefined;

  const lookNow = (): Look => {
    const atMs = clock.monotonicMs();
    return { atMs, lagMs: Math.max(0, atMs - (dueMs ?? atMs)) };
  };

  return {
    watch: async (signal) => {
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const wait = (): (() => void) => {
          dueMs = clock.monotonicMs() + lookEveryMs;
          return clock.after(lookEveryMs, look);
        };
        const look = (): void => {
          const { atMs, lagMs } = lookNow();
          const recent = looks.filter((one) => atMs - one.atMs < rememberedMs);
          looks = [...recent, { atMs, lagMs }];
          cancel = wait();
        };
        let cancel = wait();
        const end = (): void => {
          cancel();
          dueMs = undefined;
          resolve();
        };
        signal.addEventListener('abort', end, { once: true });
      });
    },
    worstSeconds: () => {
      // The look that is due may not have had its turn.
      const { atMs, lagMs } = lookNow();
      const recent = looks.filter((one) => atMs - one.atMs < rememberedMs);
      return Math.round(Math.max(lagMs, ...recent.map((one) => one.lagMs))) / 1000;
    },
  };
}
