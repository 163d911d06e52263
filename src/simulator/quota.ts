import type { Clock } from '../model/clock.ts';

export interface QuotaOptions {
  /** The requests that one key may make in a window. */
  readonly perMinute: number;
  /** When a window begins, after the creation of the quota. Clients cannot know it. */
  readonly phaseMs: number;
}

/** The verdict of the vendor's counter on one request. */
export interface QuotaVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  /** When the window ends, in seconds since the epoch. */
  readonly resetSeconds: number;
}

/** The vendor's limit: a fixed-window counter of one minute for each key. */
export interface Quota {
  /** Counts one request of a valid key. Throttled requests count as well. */
  acquire(key: string): QuotaVerdict;
  /** The number of requests throttled so far. */
  violations(): number;
}

const windowMs = 60_000;

export function createQuota(options: QuotaOptions, dependencies: { readonly clock: Clock }): Quota {
  const { clock } = dependencies;
  // Monotonic: a step of the wall clock must not open a new window.
  const originMs = clock.monotonicMs() + options.phaseMs;
  const used = new Map<string, { readonly window: number; readonly count: number }>();
  let violations = 0;

  return {
    acquire: (key) => {
      const nowMs = clock.monotonicMs();
      const window = Math.floor((nowMs - originMs) / windowMs);
      const before = used.get(key);
      const count = (before?.window === window ? before.count : 0) + 1;
      used.set(key, { window, count });
      const allowed = count <= options.perMinute;
      if (!allowed) violations += 1;
      const leftMs = originMs + (window + 1) * windowMs - nowMs;
      return {
        allowed,
        limit: options.perMinute,
        resetSeconds: Math.ceil((clock.wallMs() + leftMs) / 1000),
      };
    },
    violations: () => violations,
  };
}
