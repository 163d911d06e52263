import type { Clock } from '../model/clock.ts';

export interface QuotaOptions {
  /** Requests that one key may make in a window. */
  readonly perMinute: number;
  /** When, after the quota was created, a window begins; clients cannot know it. */
  readonly phaseMs: number;
}

/** What the vendor's counter says of one request. */
export interface QuotaVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  /** When the window ends, in seconds since the epoch. */
  readonly resetSeconds: number;
}

/** The vendor's limit: fixed windows of one minute for each key. */
export interface Quota {
  /** Counts one request of a valid key. Refused requests count as well. */
  take(key: string): QuotaVerdict;
  /** How many requests were refused so far. */
  violations(): number;
}

const windowMs = 60_000;

export function createQuota(options: QuotaOptions, dependencies: { readonly clock: Clock }): Quota {
  const { clock } = dependencies;
  // Monotonic, so that a step of the wall clock opens no new window.
  const originMs = clock.monotonicMs() + options.phaseMs;
  const used = new Map<string, { readonly window: number; readonly count: number }>();
  let violations = 0;

  return {
    take: (key) => {
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
