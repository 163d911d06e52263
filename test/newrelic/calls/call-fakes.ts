import pLimit from 'p-limit';
import type { Clock } from '../../../src/model/clock.ts';
import type { AccountConfig } from '../../../src/model/config.ts';
import type { Job, Permit, Throttled } from '../../../src/model/permit.ts';
import { AccountCalls } from '../../../src/newrelic/calls/account-calls.ts';
import { Keys } from '../../../src/newrelic/calls/keys.ts';
import { anAccount } from '../../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../../support/fake-clock.ts';
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
  options: { readonly patienceMs?: number } = {},
): AccountCalls {
  const keys = new Keys({ clock, ...options });
  return new AccountCalls(anAccount(account), apiKey, keys);
}

/** Begins this many requests that belong to no job. Returns the permits that are given, at once or later. */
export async function permitsOf(calls: AccountCalls, count: number): Promise<Permit[]> {
  const permits: Permit[] = [];
  const request = async (): Promise<void> => {
    permits.push(await calls.take(undefined, neverAborted));
  };
  for (let one = 0; one < count; one += 1) void request();
  await settle();
  return permits;
}

/** A call; resolves to whether it was answered. */
export type OneCall = () => Promise<boolean>;

export type AddedJob = Partial<Job> & Pick<Job, 'key'>;

/** Makes this call as often as the size of the job says, as a source does. Resolves when all have ended. */
export async function runJob(
  calls: AccountCalls,
  added: AddedJob,
  call: OneCall,
  signal: AbortSignal = neverAborted,
): Promise<void> {
  const job = { size: 1, dueMs: 0, periodMs: 60_000, ...added };
  await pLimit(calls.concurrency).map(Array(job.size).keys(), async () => {
    const permit = await calls.take(job, signal).catch(() => undefined);
    permit?.release((await call()) ? 'answered' : 'failed');
  });
}

export interface CallsBench {
  readonly clock: FakeClock;
  readonly calls: AccountCalls;
  /** The jobs of the calls that were sent, in order. */
  readonly sent: string[];
  /** The jobs of the calls that are in flight. */
  readonly inFlight: () => readonly string[];
  /** Adds a job whose calls last until the round ends. */
  readonly add: (job: AddedJob) => Promise<void>;
  /** Ends the calls that are in flight now. */
  readonly endRound: (isAnswered?: boolean) => Promise<void>;
}

export function aCallsBench(account: Partial<AccountConfig> = {}): CallsBench {
  const clock = createFakeClock();
  const calls = accountCalls(clock, { requestsPerMinute: 100_000, ...account });
  const sent: string[] = [];
  const open: { readonly key: string; readonly end: (isAnswered: boolean) => void }[] = [];
  return {
    clock,
    calls,
    sent,
    inFlight: () => open.map(({ key }) => key),
    add: async (job) =>
      runJob(calls, job, async () => {
        sent.push(job.key);
        return new Promise((end) => open.push({ key: job.key, end }));
      }),
    endRound: async (isAnswered = true) => {
      for (const { end } of open.splice(0)) end(isAnswered);
      await clock.advance(0);
    },
  };
}
