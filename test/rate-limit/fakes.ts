import pLimit from 'p-limit';
import { type Clock, sleep } from '../../src/model/clock.ts';
import type { Permit, Throttled, Turn } from '../../src/model/permit.ts';
import {
  CallScheduler,
  type Job,
  type ScheduledCall,
} from '../../src/rate-limit/call-scheduler.ts';
import type { JobQueueLimits } from '../../src/rate-limit/job-queue.ts';
import { KeyTable } from '../../src/rate-limit/key-table.ts';
import { Membership } from '../../src/rate-limit/membership.ts';
import { RateLimiter, type RateLimiterOptions } from '../../src/rate-limit/rate-limiter.ts';
import { anAccount } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { neverAborted } from '../transport/fakes.ts';

/** A 429 that only asks for a pause. */
export function aThrottled(untilMs: number, overrides: Partial<Throttled> = {}): Throttled {
  return { sentMs: 0, untilMs, cause: 'overload', ...overrides };
}

/** A 429 that says that the limit of the key is used up. */
export function aLimitExceeded(untilMs: number, overrides: Partial<Throttled> = {}): Throttled {
  return aThrottled(untilMs, { cause: 'key_limit', ...overrides });
}

export interface FakeTurn extends Turn, Pick<Membership, 'pausedUntilMs'> {
  /** How long each request had to wait in any case. */
  readonly delaysMs: readonly number[];
  /** The 429s that were reported, in order. */
  readonly throttled: readonly Throttled[];
  /** For each permit that was released, whether its request was answered. */
  readonly released: readonly boolean[];
  /** A permit without a wait. */
  permit(): Permit;
  pause(untilMs: number): void;
}

export interface FakeTurnOptions {
  /** Ends pauses and waits. */
  readonly clock: Clock;
  readonly apiKey?: () => string;
}

/** Gives every permit when the pause is over, and the wait that the request names. */
export function createFakeTurn({ clock, apiKey = () => 'key-1' }: FakeTurnOptions): FakeTurn {
  const delaysMs: number[] = [];
  const throttled: Throttled[] = [];
  const released: boolean[] = [];
  let pauseEndMs = 0;
  const pause = (untilMs: number): void => {
    pauseEndMs = Math.max(untilMs, pauseEndMs);
  };
  const permit = (): Permit => ({
    apiKey: apiKey(),
    throttled: (answer) => {
      throttled.push(answer);
      pause(answer.untilMs);
    },
    release: (isAnswered) => {
      released.push(isAnswered);
    },
  });
  return {
    delaysMs,
    throttled,
    released,
    permit,
    pause,
    next: async (delayMs, signal) => {
      signal.throwIfAborted();
      delaysMs.push(delayMs);
      const waitMs = Math.max(delayMs, pauseEndMs - clock.monotonicMs());
      if (waitMs > 0) await sleep(clock, waitMs, signal);
      return permit();
    },
    pausedUntilMs: () => (pauseEndMs > clock.monotonicMs() ? pauseEndMs : undefined),
  };
}

/** A limiter of one key, whose calls nobody else makes. */
export function aLimiter(
  clock: Clock,
  requestsPerMinute: number,
  options: Partial<RateLimiterOptions> = {},
): RateLimiter {
  return new RateLimiter(
    { apiKey: 'key-1', requestsPerMinute, inFlight: pLimit(Infinity), ...options },
    { clock, roomAgain: () => undefined },
  );
}

/** An account with calls to make: they go in the order in which they were asked for. */
export interface Caller {
  acquire(): Promise<Permit>;
  /** Calls that wait. */
  waiting(): number;
}

/** What a caller takes permits of. */
interface PermitSource {
  readonly mayTake: () => boolean;
  readonly take: () => Permit;
}

/** Returns a caller, and what is to be called when it may take a permit again. */
function aCallerOf({ mayTake, take }: PermitSource): Caller & { readonly wake: () => void } {
  const line: ((permit: Permit) => void)[] = [];
  const wake = (): void => {
    while (line.length > 0 && mayTake()) line.shift()?.(take());
  };
  return {
    wake,
    waiting: () => line.length,
    acquire: async () =>
      new Promise((resolve) => {
        line.push(resolve);
        wake();
      }),
  };
}

/** An account that uses the key of this limiter. */
export function aCaller(limiter: RateLimiter, isSpaced = false): Caller {
  const claimant = { wake: () => caller.wake() };
  const caller = aCallerOf({
    mayTake: () => limiter.mayTake(claimant, isSpaced),
    take: () => limiter.take(),
  });
  return caller;
}

/** An account that sends as fast as its membership allows. */
export function aCallerFor(membership: Membership): Caller {
  const caller = aCallerOf({
    mayTake: () => membership.mayTake(false),
    take: () => membership.take(),
  });
  membership.onWake(caller.wake);
  return caller;
}

/** Makes a call that is answered with 429 at once. */
export async function throttle(caller: Caller, answer: Throttled): Promise<void> {
  const permit = await caller.acquire();
  permit.throttled(answer);
  permit.release(true);
}

/** The membership of an account that has its key to itself. */
export function aMembership(requestsPerMinute: number, clock: Clock): Membership {
  const keys = new KeyTable({ clock, logger: createFakeLogger() });
  return new Membership(anAccount({ requestsPerMinute }), 'key-1', keys);
}

/**
 * The scheduler of an account that has its key to itself.
 *
 * @param requestsPerMinute what the key may really send
 */
export function aScheduler(
  limits: JobQueueLimits,
  clock: Clock,
  requestsPerMinute: number = limits.requestsPerMinute,
): CallScheduler {
  return new CallScheduler(limits, clock, aMembership(requestsPerMinute, clock));
}

/** A call with one request; resolves to whether that was answered. */
export type OneRequest = () => Promise<boolean>;

/** The call as the scheduler makes it. */
function sending(request: OneRequest): ScheduledCall {
  return async (turn) => {
    const { release } = await turn.next(0, neverAborted);
    release(await request());
  };
}

export interface JobOptions {
  readonly key?: string;
  readonly calls: Iterator<OneRequest, undefined>;
  readonly size?: number;
  readonly dueMs?: number;
  readonly overdueMs?: number;
}

function* sendingEach(calls: Iterator<OneRequest, undefined>): Generator<ScheduledCall, undefined> {
  for (let next = calls.next(); next.done !== true; next = calls.next()) yield sending(next.value);
  return undefined;
}

/** A job that is due and overdue from the start. */
export function aJob({ calls, ...options }: JobOptions, ended: () => void = () => undefined): Job {
  const overdue = { key: 'a', size: 1, dueMs: 0, overdueMs: 0, periodMs: 60_000 };
  return { ...overdue, ...options, calls: sendingEach(calls), ended };
}

/** Resolves when the job has ended. */
export async function runJob(scheduler: CallScheduler, options: JobOptions): Promise<void> {
  await new Promise<void>((ended) => {
    scheduler.add(aJob(options, ended));
  });
}

export function* times(count: number, call: OneRequest): Generator<OneRequest, undefined> {
  for (let index = 0; index < count; index += 1) yield call;
  return undefined;
}
