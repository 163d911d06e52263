import { describe, expect, it } from 'vitest';
import type { AccountConfig, AccountSource } from '../../../src/model/config.ts';
import type { Permit } from '../../../src/model/permit.ts';
import { minuteMs } from '../../../src/model/time.ts';
import { AccountCalls } from '../../../src/newrelic/calls/account-calls.ts';
import { Keys } from '../../../src/newrelic/calls/keys.ts';
import { anAccount } from '../../support/builders.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';
import { aLimitExceeded, aThrottled, permitsOf } from './call-fakes.ts';

function aBench() {
  const clock = createFakeClock();
  const keys = new Keys({ clock });
  /** Each account has its key in a file of its own. */
  const joinAs = (account: Partial<AccountConfig>, key = 'key-1'): AccountCalls => {
    const apiKey = { kind: 'file', path: `/keys/${account.name}` } as const;
    return new AccountCalls(anAccount({ concurrency: 1000, apiKey, ...account }), key, keys);
  };
  const join = (name: string, requestsPerMinute: number, key?: string): AccountCalls =>
    joinAs({ name, requestsPerMinute }, key);
  return { clock, keys, joinAs, join };
}

function aPair() {
  const bench = aBench();
  return { ...bench, one: bench.join('one', 100), other: bench.join('other', 100) };
}

function releaseAll(permits: readonly Permit[]): void {
  for (const { release } of permits) release('answered');
}

describe('accounts with one key', () => {
  const rest = { kind: 'rest', accountId: undefined } as const;
  const nerdgraph = { kind: 'nerdgraph', accountId: 1 } as const;
  const eu = 'https://api.eu.newrelic.com';
  const written = 'HTTPS://API.newrelic.com:443/';
  it.each<[string, boolean, AccountSource, AccountSource, { key?: string; baseUrl?: string }?]>([
    ['another key', false, rest, rest, { key: 'key-2' }],
    ['another address', false, rest, rest, { baseUrl: eu }],
    ['the same address, written otherwise', true, rest, rest, { baseUrl: written }],
    ['REST', true, rest, { ...rest, accountId: 1 }],
    ['NerdGraph', true, nerdgraph, { ...nerdgraph }],
    ['REST and NerdGraph', false, { ...rest, accountId: 1 }, nerdgraph],
    ['NerdGraph and another account id', false, nerdgraph, { ...nerdgraph, accountId: 2 }],
  ])('share what the vendor counts together: %s', async (_, isShared, source, other, more = {}) => {
    const { joinAs } = aBench();
    const { key, baseUrl = anAccount().baseUrl } = more;
    await permitsOf(joinAs({ name: 'one', requestsPerMinute: 1, source }), 1);
    const second = joinAs({ name: 'other', requestsPerMinute: 1, source: other, baseUrl }, key);

    expect(await permitsOf(second, 1)).toHaveLength(isShared ? 0 : 1);
    expect(second.key.accounts.size).toBe(isShared ? 2 : 1);
  });

  it.each<[string, number, (bench: ReturnType<typeof aPair>) => void]>([
    ['as many as there are', 50, () => undefined],
    ['one leaves', 100, ({ other }) => other.leave()],
    ['one leaves twice', 100, ({ other }) => (other.leave(), other.leave())],
    ['one joins', 100 / 3, ({ join }) => void join('third', 120)],
    [
      'one may send less',
      20,
      ({ other }) => other.resize({ requestsPerMinute: 40, concurrency: 8 }),
    ],
    ['one moves to another key', 100, ({ other }) => other.rekey('key-2')],
    ['it moves itself', 100, ({ one }) => one.rekey('key-2')],
  ])('may plan with even shares of the limit: %s', async (_, share, act) => {
    const pair = aPair();
    act(pair);
    await settle();

    expect(pair.one.limitPerMinute()).toBe(share);
  });

  it('keep to 25 calls in flight with NerdGraph, whatever their account ids, and get room in turn', async () => {
    const { clock, joinAs } = aBench();
    const joined = [1, 2, 3].map((accountId) =>
      joinAs({ name: `account ${accountId}`, source: { kind: 'nerdgraph', accountId } }),
    );
    const all = await Promise.all(joined.map(async (calls) => permitsOf(calls, 40)));
    const before = all.map(({ length }) => length);
    for (const { release } of all[0]?.slice(0, 12) ?? []) {
      release('answered');
      await clock.advance(0);
    }

    expect([before, all.map(({ length }) => length)]).toEqual([
      [25, 0, 0],
      [29, 4, 4],
    ]);
  });
});

describe('an account that leaves and comes back', () => {
  it('finds the limit reduced if it was', async () => {
    const { clock, join } = aBench();
    const before = join('one', 100);
    before.key.throttled(aLimitExceeded(1000));
    before.leave();
    await clock.advance(90_000);
    const after = join('one', 200);

    expect([after.limitPerMinute(), after.key.isReduced()]).toEqual([120, true]);
  });

  it('lets no call of another account go when a renamed one replaces it at once', async () => {
    const { join } = aBench();
    const [one, other] = [join('one', 1), join('other', 5)];
    await permitsOf(other, 1);
    const waiting = await permitsOf(other, 1);
    one.leave();
    join('renamed', 1);
    await settle();

    expect(waiting).toEqual([]);
  });
});

describe('a key', () => {
  it('that is rotated stays that of given permits; waiting calls get the new one', async () => {
    const { clock, join } = aBench();
    const calls = join('one', 2);
    const permits = await permitsOf(calls, 2);
    const moved = await permitsOf(calls, 2);
    calls.rekey('key-2');
    await settle();
    releaseAll([...permits, ...moved]);
    calls.rekey('key-1');
    const back = await permitsOf(calls, 1);
    const backAtOnce = back.length;
    await clock.advance(minuteMs + 1);

    const keys = [...permits, ...moved].map(({ apiKey }) => apiKey);
    expect(keys).toEqual(['key-1', 'key-1', 'key-2', 'key-2']);
    expect([backAtOnce, back.length]).toEqual([0, 1]);
  });

  it('is forgotten when nothing distinguishes it from a new one, and not before', async () => {
    const { clock, keys, join } = aBench();
    const calls = join('one', 2);
    const { key } = calls;
    const isKnown: boolean[] = [];
    const wait = async (ms: number): Promise<void> => {
      await clock.advance(ms);
      isKnown.push(keys.find(anAccount(), 'key-1') === key);
    };
    await wait(0);
    const [permit] = await permitsOf(calls, 1);
    calls.leave();
    await wait(100_000);
    permit?.throttled(aThrottled(101_000));
    permit?.release('answered');
    await wait(minuteMs + 1);
    await wait(998);
    key.throttled(aLimitExceeded(162_000, { sentMs: 161_000 }));
    await wait(299_999);
    await wait(1);

    expect(isKnown).toEqual([true, true, true, true, true, false]);
  });

  it('lets a call go a minute after the end of the one that blocked it', async () => {
    const { clock, join } = aBench();
    const calls = join('one', 1);
    const blocking = await permitsOf(calls, 1);
    const next = await permitsOf(calls, 1);
    const seen: number[] = [];
    for (const waitMs of [100_000, minuteMs, 1]) {
      await clock.advance(waitMs);
      seen.push(next.length);
      releaseAll(blocking.splice(0));
    }

    expect(seen).toEqual([0, 0, 1]);
  });

  it('counts the 429s of one trouble, which ends five minutes after the last one', async () => {
    const { clock, join } = aBench();
    const { key } = join('one', 5);
    const seen = [key.refusals()];
    for (const [waitMs, isRefused] of [
      [1000, true],
      [299_999, true],
      [300_000, false],
      [1000, true],
    ] as const) {
      await clock.advance(waitMs);
      if (isRefused) key.throttled(aThrottled(clock.monotonicMs()));
      seen.push(key.refusals());
    }

    expect(seen).toEqual([
      undefined,
      { calls: 1, sinceMs: 1000, lastMs: 1000, cause: 'overload' },
      { calls: 2, sinceMs: 1000, lastMs: 300_999, cause: 'overload' },
      undefined,
      { calls: 1, sinceMs: 601_999, lastMs: 601_999, cause: 'overload' },
    ]);
  });
});
