import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Permit, ThrottleCause } from '../../src/model/permit.ts';
import { KeyTable } from '../../src/rate-limit/key-table.ts';
import { Membership } from '../../src/rate-limit/membership.ts';
import { anAccount } from '../support/builders.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { aCallerFor, aThrottled, type Caller } from './fakes.ts';

/** `FC_SEED` for the run that a failure names, `FC_RUNS` for more of them. */
const { FC_RUNS, FC_SEED } = process.env;

const minuteMs = 60_000;
const names = ['one', 'two', 'three'] as const;
const keyNames = ['key-a', 'key-b'] as const;

type Step =
  | { readonly kind: 'join'; readonly key: string; readonly requestsPerMinute: number }
  | { readonly kind: 'leave' }
  | { readonly kind: 'rekey'; readonly key: string }
  | { readonly kind: 'resize'; readonly requestsPerMinute: number }
  | {
      readonly kind: 'send';
      readonly calls: number;
      readonly latencyMs: number;
      /** Answered with a 429 that asks for this pause. */
      readonly pauseMs: number | undefined;
      readonly cause: ThrottleCause;
    };

interface Account {
  membership: Membership;
  caller: Caller;
  key: string;
  requestsPerMinute: number;
}

/** One call that was sent. */
interface Sent {
  readonly key: string;
  readonly sentMs: number;
  readonly arrivedMs: number;
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
  readonly pendingTimers: number;
}

async function run(plan: readonly { gapMs: number; name: string; step: Step }[]): Promise<Outcome> {
  const clock = createFakeClock();
  const keys = new KeyTable({ clock, logger: createFakeLogger() });
  const rules = new Rules();
  const pauses = new Map<string, number>();
  const sent: Sent[] = [];
  let sentInPause = 0;

  const begin = (permit: Permit, step: Extract<Step, { kind: 'send' }>): void => {
    const sentMs = clock.monotonicMs();
    const { apiKey } = permit;
    const arrivedMs = sentMs + step.latencyMs / 3;
    sent.push({ key: apiKey, sentMs, arrivedMs, limit: rules.limitOf(apiKey) });
    if (sentMs < (pauses.get(apiKey) ?? 0)) sentInPause += 1;
    clock.after(step.latencyMs, () => {
      if (step.pauseMs !== undefined) {
        const untilMs = clock.monotonicMs() + step.pauseMs;
        permit.throttled(aThrottled(untilMs, { sentMs, cause: step.cause }));
        pauses.set(apiKey, Math.max(pauses.get(apiKey) ?? 0, untilMs));
      }
      permit.release(true);
    });
  };
  const send = async (
    { caller }: Account,
    step: Extract<Step, { kind: 'send' }>,
  ): Promise<void> => {
    begin(await caller.acquire(), step);
  };
  const act = (name: string, step: Step): void => {
    const account = rules.accounts.get(name);
    if (step.kind === 'join') {
      account?.membership.leave();
      const { requestsPerMinute } = step;
      const membership = new Membership(anAccount({ name, requestsPerMinute }), step.key, keys);
      const caller = aCallerFor(membership);
      rules.accounts.set(name, { membership, caller, key: step.key, requestsPerMinute });
      membership.onLimitChange(() => undefined);
    } else if (account === undefined) return;
    else if (step.kind === 'leave') {
      rules.accounts.delete(name);
      rules.note();
      account.membership.leave();
    } else if (step.kind === 'rekey') {
      // Waiting calls may go at once.
      account.key = step.key;
      rules.note();
      account.membership.rekey(step.key);
    } else if (step.kind === 'resize') {
      account.requestsPerMinute = step.requestsPerMinute;
      rules.note();
      account.membership.resize(step.requestsPerMinute);
    } else for (let call = 0; call < step.calls; call += 1) void send(account, step);
    rules.note();
  };

  for (const name of names) act(name, { kind: 'join', key: 'key-a', requestsPerMinute: 8 });
  for (const { gapMs, name, step } of plan) {
    await clock.advance(gapMs);
    act(name, step);
  }
  // Enough for every call at a limit of 1 with the longest latency.
  await clock.advance(360 * 2 * minuteMs);
  let waiting = 0;
  for (const { membership, caller } of rules.accounts.values()) {
    // What an account that has left still wanted to send is not sent.
    waiting += caller.waiting();
    membership.leave();
  }
  await settle();
  return { sent, waiting, sentInPause, pendingTimers: clock.pendingTimers() };
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

describe('the rate limiters of any accounts that join, leave, and change their keys and limits', () => {
  it('keep every key to its limit in any 60 seconds, obey pauses, and lose no call', async () => {
    let judged = 0;
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const { sent, waiting, sentInPause, pendingTimers } = await run(plan);

        judged += sent.length;
        expect(firstExcess(sent, 'sentMs')).toBeUndefined();
        expect(firstExcess(sent, 'arrivedMs')).toBeUndefined();
        expect(sentInPause).toBe(0);
        expect(waiting).toBe(0);
        expect(pendingTimers).toBe(0);
      }),
      {
        numRuns: Number(FC_RUNS ?? 60),
        ...(FC_SEED === undefined ? {} : { seed: Number(FC_SEED) }),
      },
    );
    expect(judged).toBeGreaterThan(1000);
  });
});
