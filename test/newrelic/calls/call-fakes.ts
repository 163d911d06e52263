import type { Clock } from '../../../src/model/clock.ts';
import type { AccountConfig } from '../../../src/model/config.ts';
import type { Permit, Throttled } from '../../../src/model/permit.ts';
import {
  AccountCalls,
  type Job,
  type ScheduledCall,
} from '../../../src/newrelic/calls/account-calls.ts';
import { Keys } from '../../../src/newrelic/calls/keys.ts';
import { anAccount } from '../../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../../support/fake-clock.ts';
import { createFakeLogger } from '../../support/fake-logger.ts';
import { neverAborted } from './fakes.ts';

/** A 429 that only asks for a pause. */
export function aThrottled(untilMs: number, overrides: Partial<Throttled> = {}): Throttled {
  return { sentMs: 0, untilMs, cause: 'overload', ...overrides };
}

/** A 429 that says that the limit of the key is used up. */
export function aLimitExceeded(untilMs: number, overrides: Partial<Throttled> = {}): Throttled {
  return aThrottled(untilMs, { cause: 'key_limit', ...overrides });
}

/** The calls of an account that has its key to itself. */
export function accountCalls(
  clock: Clock,
  account: Partial<AccountConfig> = {},
  apiKey = 'key-1',
): AccountCalls {
  const keys = new Keys({ clock, logger: createFakeLogger() });
  return new AccountCalls(anAccount(account), apiKey, keys);
}

/** Begins this many requests that belong to no job. Returns the permits that are given, at once or later. */
export async function permitsOf(calls: AccountCalls, count: number): Promise<Permit[]> {
  const permits: Permit[] = [];
  const request = async (): Promise<void> => {
    permits.push(await calls.lists.next(0, neverAborted));
  };
  for (let one = 0; one < count; one += 1) void request();
  await settle();
  return permits;
}

/** A call with one request; resolves to whether that was answered. */
export type OneRequest = () => Promise<boolean>;

/** The call as it is made. */
function sending(request: OneRequest): ScheduledCall {
  return async (turn) => {
    const { release } = await turn.next(0, neverAborted);
    release(await request());
  };
}

export interface JobOptions extends Partial<Omit<Job, 'calls'>> {
  readonly calls: Iterator<OneRequest, undefined>;
}

function* sendingEach(calls: Iterator<OneRequest, undefined>): Generator<ScheduledCall, undefined> {
  for (let next = calls.next(); next.done !== true; next = calls.next()) yield sending(next.value);
  return undefined;
}

/** A job that is due from the start. */
export function aJob({ calls, ...options }: JobOptions): Job {
  const due = { key: 'a', size: 1, dueMs: 0, periodMs: 60_000 };
  return { ...due, ...options, calls: sendingEach(calls) };
}

/** Resolves when the job has ended. */
export async function runJob(
  calls: AccountCalls,
  options: JobOptions,
  signal: AbortSignal = neverAborted,
): Promise<void> {
  await calls.run(aJob(options), signal);
}

export function* times(count: number, call: OneRequest): Generator<OneRequest, undefined> {
  for (let index = 0; index < count; index += 1) yield call;
  return undefined;
}

export type AddedJob = Omit<JobOptions, 'calls'> & { readonly key: string };

export interface CallsBench {
  readonly clock: FakeClock;
  readonly calls: AccountCalls;
  /** The jobs of the calls that were sent, in order. */
  readonly sent: string[];
  /** The jobs of the calls that are in flight. */
  readonly inFlight: () => readonly string[];
  /** Adds a job with a signal of its own, whose calls last until the round ends. */
  readonly add: (job: AddedJob) => Promise<void>;
  /** Ends the calls that are in flight now. */
  readonly endRound: (isAnswered?: boolean) => Promise<void>;
}

export function aCallsBench(account: Partial<AccountConfig> = {}): CallsBench {
  const clock = createFakeClock();
  const calls = accountCalls(clock, { requestsPerMinute: 100_000, ...account });
  const sent: string[] = [];
  const open: { readonly key: string; readonly end: (isAnswered: boolean) => void }[] = [];
  const callOf =
    (key: string): OneRequest =>
    async () =>
      new Promise((end) => {
        sent.push(key);
        open.push({ key, end });
      });
  return {
    clock,
    calls,
    sent,
    inFlight: () => open.map(({ key }) => key),
    add: async ({ size = 1, ...job }) =>
      runJob(
        calls,
        { ...job, size, calls: times(size, callOf(job.key)) },
        new AbortController().signal,
      ),
    endRound: async (isAnswered = true) => {
      for (const { end } of open.splice(0)) end(isAnswered);
      await settle();
    },
  };
}
