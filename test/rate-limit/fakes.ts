import type { Clock } from '../../src/model/clock.ts';
import {
  createRateLimiter,
  type Permit,
  type RateLimiter,
  type Throttled,
} from '../../src/rate-limit/rate-limiter.ts';
import type { Membership } from '../../src/rate-limit/rate-limiters.ts';
import { neverAborted } from '../transport/fakes.ts';

/** A 429 that only asks for a pause. */
export function aThrottled(untilMs: number, overrides: Partial<Throttled> = {}): Throttled {
  return { sentMs: 0, untilMs, cause: 'overload', ...overrides };
}

/** A 429 that says that the limit of the key is used up. */
export function aLimitExceeded(untilMs: number, overrides: Partial<Throttled> = {}): Throttled {
  return aThrottled(untilMs, { cause: 'key_limit', ...overrides });
}

export interface FakeMembership extends Membership {
  /** Whether each requested permit was urgent. */
  readonly acquired: readonly boolean[];
  /** The 429s that were reported, in order. */
  readonly throttled: readonly Throttled[];
  released(): number;
  /** A permit without a wait. */
  permit(): Permit;
  pause(untilMs: number): void;
}

function notExpected(): never {
  throw new Error('nobody should ask for this');
}

export interface FakeMembershipOptions {
  /** Ends pauses. */
  readonly clock?: Pick<Clock, 'monotonicMs'>;
  readonly apiKey?: () => string;
}

/** Gives every permit at once, even during a pause, and records the calls. */
export function createFakeMembership({
  clock = { monotonicMs: () => 0 },
  apiKey = () => 'key-1',
}: FakeMembershipOptions = {}): FakeMembership {
  const acquired: boolean[] = [];
  const throttled: Throttled[] = [];
  let released = 0;
  let pauseEndMs = 0;
  const pausedUntilMs = (): number | undefined =>
    pauseEndMs > clock.monotonicMs() ? pauseEndMs : undefined;
  const pause = (untilMs: number): void => {
    pauseEndMs = Math.max(untilMs, pauseEndMs);
  };
  const permit = (): Permit => ({
    apiKey: apiKey(),
    pausedUntilMs,
    throttled: (answer) => {
      throttled.push(answer);
      pause(answer.untilMs);
    },
    release: () => {
      released += 1;
    },
  });
  return {
    acquired,
    throttled,
    released: () => released,
    permit,
    pause,
    acquire: async (urgent, signal) => {
      signal.throwIfAborted();
      acquired.push(urgent);
      return permit();
    },
    pausedUntilMs,
    limitPerMinute: () => 800,
    callsLastMinute: () => 0,
    isReduced: () => false,
    demand: notExpected,
    resize: notExpected,
    rekey: notExpected,
    onLimitChange: notExpected,
    leave: notExpected,
  };
}

/** The account whose calls are made. */
export const owner = {};

/** A limiter of one key. */
export function aLimiter(clock: Clock, requestsPerMinute: number): RateLimiter {
  return createRateLimiter({ apiKey: 'key-1', requestsPerMinute }, { clock });
}

/** A permit of the limiter, for an account that is never moved to another key. */
export async function acquire(limiter: RateLimiter, urgent = false): Promise<Permit> {
  const permit = await limiter.acquire({ urgent, owner }, neverAborted);
  if (permit === undefined) throw new Error('nobody was evicted');
  return permit;
}

/** Makes a call that is answered with 429 at once. */
export async function throttle(limiter: RateLimiter, answer: Throttled): Promise<void> {
  const permit = await acquire(limiter);
  permit.throttled(answer);
  permit.release();
}
