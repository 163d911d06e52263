import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Permit, ThrottleCause } from '../../../src/model/permit.ts';
import { minuteMs } from '../../../src/model/time.ts';
import { AccountCalls } from '../../../src/newrelic/calls/account-calls.ts';
import { Keys } from '../../../src/newrelic/calls/keys.ts';
import { anAccount } from '../../support/builders.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';
import { aThrottled } from './call-fakes.ts';

/** `FC_SEED` for the run that a failure names, `FC_RUNS` for more of them. */
const { FC_RUNS, FC_SEED } = process.env;

const names = ['one', 'two', 'three'] as const;
const keyNames = ['key-a', 'key-b'] as const;

type Step =
  | { readonly kind: 'join'; readonly key: string; readonly requestsPerMinute: number }
  | { readonly kind: 'leave' }
  | { readonly kind: 'rekey'; readonly key: string }
  | { readonly kind: 'resize'; readonly requestsPerMinute: number }
  | Send;

interface Send {
  readonly kind: 'send';
  readonly calls: number;
  readonly latencyMs: number;
  /** Answered with a 429 that asks for this pause. */
  readonly pauseMs: number | undefined;
  readonly cause: ThrottleCause;
}

interface Account {
  readonly calls: AccountCalls;
  key: string;
  requestsPerMinute: number;
  /** Calls that have not been sent. */
  waiting: number;
  /** How often each other account with its key has sent since it waits. */
  readonly overtakenBy: Map<Account, number>;
}

/** One call that was sent. */
interface Sent {
  readonly key: string;
  readonly sentMs: number;
  readonly arrivedMs: number;
  readonly endedMs: number;
  /** The limit of the key at that moment, by the rules. */
  readonly limit: number;
}

const limits = fc.integer({ min: 1, max: 12 });
const key = fc.constantFrom(...keyNames);
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('join' as const), key, requestsPerMinute: limits }),
  fc.record({ kind: fc.constant('leave' as const) }),
  fc.record({ kind: fc.constant('rekey' as const), key }),
  fc.record({ kind: fc.constant('resize' as const), requestsPerMinute: limits }),
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      calls: fc.integer({ min: 1, max: 6 }),
      latencyMs: fc.nat(20_000),
      pauseMs: fc.option(fc.nat(70_000), { nil: undefined, freq: 6 }),
      cause: fc.constantFrom<ThrottleCause>('key_limit', 'overload'),
    }),
  },
);
const plans = fc.array(
  fc.record({ gapMs: fc.nat(15_000), name: fc.constantFrom(...names), step: steps }),
  { minLength: 20, maxLength: 60, size: 'max' },
);

/** The rules, once more: the smallest limit of the accounts present, or the last one's. */
class Rules {
  readonly accounts = new Map<string, Account>();
  readonly #last = new Map<string, number>();

  note(): void {
    for (const one of keyNames) {
      const present = [...this.accounts.values()].filter((account) => account.key === one);
      if (present.length === 0) continue;
      this.#last.set(one, Math.min(...present.map((account) => account.requestsPerMinute)));
    }
  }

  limitOf(one: string): number {
    return this.#last.get(one) ?? 0;
  }
}

interface Outcome {
  readonly sent: readonly Sent[];
  readonly waiting: number;
  readonly sentInPause: number;
  /** Calls that were sent though another account with the key had waited since the one before. */
  readonly outOfTurn: number;
  readonly pendingTimers: number;
}

/** Some accounts and their keys, and what they have sent. */
class World {
  readonly clock = createFakeClock();
  readonly rules = new Rules();
  readonly sent: Sent[] = [];
  sentInPause = 0;
  outOfTurn = 0;
  readonly #signal = new AbortController().signal;
  readonly #keys = new Keys({ clock: this.clock });
  readonly #pauses = new Map<string, number>();

  constructor() {
    setMaxListeners(0, this.#signal);
  }

  act(name: string, step: Step): void {
    const { accounts } = this.rules;
    const account = accounts.get(name);
    if (step.kind === 'join') {
      account?.calls.leave();
      const { key: joined, requestsPerMinute } = step;
      const config = anAccount({ name, requestsPerMinute, concurrency: 1000 });
      const calls = new AccountCalls(config, joined, this.#keys);
      const others = { waiting: 0, overtakenBy: new Map<Account, number>() };
      accounts.set(name, { calls, key: joined, requestsPerMinute, ...others });
    } else if (account === undefined) return;
    else if (step.kind === 'send') {
      for (let call = 0; call < step.calls; call += 1) void this.#send(account, step);
    } else this.#change(name, account, step);
    this.rules.note();
  }

  /** Waiting calls may go at once: the rules know the change before. */
  #change(name: string, account: Account, step: Exclude<Step, { kind: 'join' | 'send' }>): void {
    if (step.kind === 'leave') this.rules.accounts.delete(name);
    else if (step.kind === 'rekey') {
      account.key = step.key;
      account.overtakenBy.clear();
    } else account.requestsPerMinute = step.requestsPerMinute;
    this.rules.note();
    if (step.kind === 'leave') account.calls.leave();
    else if (step.kind === 'rekey') account.calls.rekey(step.key);
    else account.calls.resize({ requestsPerMinute: step.requestsPerMinute, concurrency: 1000 });
  }

  async #send(account: Account, step: Send): Promise<void> {
    account.waiting += 1;
    const permit = await account.calls.take(undefined, this.#signal);
    account.waiting -= 1;
    this.#noteTurn(account, permit.apiKey);
    this.#begin(permit, step);
  }

  #noteTurn(account: Account, apiKey: string): void {
    account.overtakenBy.clear();
    for (const other of this.rules.accounts.values()) {
      if (other === account || other.waiting === 0 || other.key !== apiKey) continue;
      const times = (other.overtakenBy.get(account) ?? 0) + 1;
      other.overtakenBy.set(account, times);
      if (times > 1) this.outOfTurn += 1;
    }
  }

  #begin(permit: Permit, { latencyMs, pauseMs, cause }: Send): void {
    const sentMs = this.clock.monotonicMs();
    const { apiKey } = permit;
    const times = { sentMs, arrivedMs: sentMs + latencyMs / 3, endedMs: sentMs + latencyMs };
    this.sent.push({ key: apiKey, ...times, limit: this.rules.limitOf(apiKey) });
    const pausedMs = this.#pauses.get(apiKey) ?? 0;
    if (sentMs < pausedMs) this.sentInPause += 1;
    this.clock.after(latencyMs, () => {
      if (pauseMs !== undefined) {
        const untilMs = this.clock.monotonicMs() + pauseMs;
        permit.throttled(aThrottled(untilMs, { sentMs, cause }));
        this.#pauses.set(apiKey, Math.max(this.#pauses.get(apiKey) ?? 0, untilMs));
      }
      permit.release('answered');
    });
  }
}

async function run(plan: readonly { gapMs: number; name: string; step: Step }[]): Promise<Outcome> {
  const world = new World();
  const { clock, rules } = world;
  for (const name of names) world.act(name, { kind: 'join', key: 'key-a', requestsPerMinute: 8 });
  for (const { gapMs, name, step } of plan) {
    await clock.advance(gapMs);
    world.act(name, step);
  }
  // Enough for every call at a limit of 1 with the longest latency.
  await clock.advance(360 * 2 * minuteMs);
  let waiting = 0;
  for (const account of rules.accounts.values()) {
    // What an account that has left still wanted to send is not sent.
    waiting += account.waiting;
    account.calls.leave();
  }
  await settle();
  const { sent, sentInPause, outOfTurn } = world;
  return { sent, waiting, sentInPause, outOfTurn, pendingTimers: clock.pendingTimers() };
}

/**
 * The first minute in which more calls of a key were sent or arrived, ends included, than the limit
 * was when the last of them was sent.
 */
function firstExcess(sent: readonly Sent[], time: 'sentMs' | 'arrivedMs'): Sent | undefined {
  return sent.find((last, index) => {
    const inMinute = sent.filter(
      (other, at) =>
        // Two calls may leave in one millisecond under different limits.
        at <= index &&
        other.key === last.key &&
        other[time] <= last[time] &&
        other[time] >= last[time] - minuteMs &&
        other.sentMs <= last.sentMs,
    );
    // Calls that got their permits at one moment are compared with the limit of that moment.
    return inMinute.length > last.limit;
  });
}

/** The first call that was sent while as many as the limit were in flight or had ended a minute ago. */
function firstTooEarly(sent: readonly Sent[]): Sent | undefined {
  return sent.find((last, index) => {
    const counted = sent
      .slice(0, index)
      .filter(({ key: other, endedMs }) => other === last.key && endedMs >= last.sentMs - minuteMs);
    return counted.length >= last.limit;
  });
}

describe('the keys of any accounts that join, leave, and change their keys and limits', () => {
  it('keep to their limits in any 60 seconds, obey pauses, serve accounts in turn, and lose no call', async () => {
    let judged = 0;
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const { sent, ...others } = await run(plan);

        judged += sent.length;
        expect(firstExcess(sent, 'sentMs')).toBeUndefined();
        expect(firstExcess(sent, 'arrivedMs')).toBeUndefined();
        expect(firstTooEarly(sent)).toBeUndefined();
        expect(others).toEqual({ waiting: 0, sentInPause: 0, outOfTurn: 0, pendingTimers: 0 });
      }),
      {
        numRuns: Number(FC_RUNS ?? 200),
        ...(FC_SEED === undefined ? {} : { seed: Number(FC_SEED) }),
      },
    );
    expect(judged).toBeGreaterThan(1000);
  });
});
