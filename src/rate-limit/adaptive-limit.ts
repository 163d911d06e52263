/** A 429 that names the limit of the key; times are on the monotonic clock. */
export interface LimitExceeded {
  /** When the throttled call was sent. */
  readonly sentMs: number;
  /** When the answer arrived. */
  readonly nowMs: number;
  /** When the pause ends that the answer asks for. */
  readonly untilMs: number;
}

/** The limit of one key, adapted to the vendor's 429s (AIMD). The caller gives the time. */
export interface AdaptiveLimit {
  /** Calls in any 60 seconds. */
  perMinute(nowMs: number): number;
  /** When the limit rises next, on the monotonic clock; `Infinity` while it is the full limit. */
  nextStepMs(nowMs: number): number;
  exceeded(answer: LimitExceeded): void;
  /** Sets another full limit; a reduction keeps its proportion. */
  resize(requestsPerMinute: number): void;
}

const stepMs = 60_000;
/** Steps from the last 429 to the full limit. */
const recoverySteps = 5;
const decrease = 0.5;
/** This much is tried in any case, however much others take. */
const leastShare = 0.1;

interface Reduction {
  /** The share of the full limit right after the 429. */
  readonly share: number;
  readonly exceededMs: number;
  /** A 429 for a call that was sent before then is part of this one, and reduces nothing more. */
  readonly episodeUntilMs: number;
}

/**
 * Additive increase, multiplicative decrease. A 429 halves the limit in force, but to no less than a
 * tenth of the full limit. Then it rises in five equal steps, one a minute, so that the full limit is
 * in force again five minutes after the last 429.
 */
export function createAdaptiveLimit(requestsPerMinute: number): AdaptiveLimit {
  let full = requestsPerMinute;
  let reduction: Reduction | undefined;

  return {
    perMinute: (nowMs) => Math.max(1, Math.floor(full * shareOf(reduction, nowMs))),
    nextStepMs: (nowMs) => {
      const steps = reduction === undefined ? recoverySteps : stepsOf(reduction, nowMs);
      return reduction === undefined || steps >= recoverySteps
        ? Number.POSITIVE_INFINITY
        : reduction.exceededMs + (steps + 1) * stepMs;
    },
    exceeded: ({ sentMs, nowMs, untilMs }) => {
      const isSameEpisode = reduction !== undefined && sentMs < reduction.episodeUntilMs;
      if (reduction !== undefined && isSameEpisode) {
        const episodeUntilMs = Math.max(reduction.episodeUntilMs, untilMs);
        reduction = { ...reduction, episodeUntilMs };
        return;
      }
      const share = Math.max(leastShare, decrease * shareOf(reduction, nowMs));
      reduction = { share, exceededMs: nowMs, episodeUntilMs: untilMs };
    },
    resize: (next) => {
      full = next;
    },
  };
}

function stepsOf({ exceededMs }: Reduction, nowMs: number): number {
  return Math.floor((nowMs - exceededMs) / stepMs);
}

function shareOf(reduction: Reduction | undefined, nowMs: number): number {
  if (reduction === undefined) return 1;
  const steps = Math.min(recoverySteps, stepsOf(reduction, nowMs));
  return steps === recoverySteps
    ? 1
    : reduction.share + (steps * (1 - reduction.share)) / recoverySteps;
}
