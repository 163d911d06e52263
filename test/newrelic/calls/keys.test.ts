import { describe, expect, it } from 'vitest';
import type { AccountConfig, AccountSource } from '../../../src/model/config.ts';
import { minuteMs } from '../../../src/model/time.ts';
import { AccountCalls } from '../../../src/newrelic/calls/account-calls.ts';
import { Keys } from '../../../src/newrelic/calls/keys.ts';
import { anAccount } from '../../support/builders.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';
import { createFakeLogger } from '../../support/fake-logger.ts';
import { accountCalls, aLimitExceeded, aThrottled, permitsOf } from './call-fakes.ts';

function aBench() {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const keys = new Keys({ clock, logger });
  /** Each account has its key in a file of its own. */
  const joinAs = (account: Partial<AccountConfig>, key = 'key-1'): AccountCalls => {
    const apiKey = { kind: 'file', path: `/keys/${account.name}` } as const;
    return new AccountCalls(anAccount({ concurrency: 1000, apiKey, ...account }), key, keys);
  };
  const join = (name: string, requestsPerMinute: number, key?: string): AccountCalls =>
    joinAs({ name, requestsPerMinute }, key);
  return { clock, logger, keys, joinAs, join };
}

describe('accounts with one key', () => {
  it('share one limit, which is the smallest of theirs', async () => {
    const { join } = aBench();
    const [one, other] = [join('one', 5), join('other', 3)];

    const permits = [await permitsOf(one, 2), await permitsOf(other, 2)];

    expect(permits.map(({ length }) => length)).toEqual([2, 1]);
  });

  const rest = { kind: 'rest', accountId: undefined } as const;
  const nerdgraph = { kind: 'nerdgraph', accountId: 1 } as const;
  const eu = 'https://api.eu.newrelic.com';
  const written = 'HTTPS://API.newrelic.com:443/';
  it.each<{
    what: string;
    shared: boolean;
    key?: string;
    baseUrl?: string;
    source?: AccountSource;
    other?: AccountSource;
  }>([
    { what: 'another key', shared: false, key: 'key-2' },
    { what: 'another address', shared: false, baseUrl: eu },
    { what: 'the same address, written otherwise', shared: true, baseUrl: written },
    { what: 'REST', shared: true, source: rest, other: { ...rest, accountId: 1 } },
    { what: 'NerdGraph', shared: true, source: nerdgraph, other: { ...nerdgraph } },
    {
      what: 'REST and NerdGraph',
      shared: false,
      source: { ...rest, accountId: 1 },
      other: nerdgraph,
    },
    {
      what: 'NerdGraph and another account id',
      shared: false,
      source: nerdgraph,
      other: { ...nerdgraph, accountId: 2 },
    },
  ])('share what the vendor counts together: $what', async (row) => {
    const { logger, joinAs } = aBench();
    const { key, source = rest, other = source, baseUrl = anAccount().baseUrl } = row;
    await permitsOf(joinAs({ name: 'one', requestsPerMinute: 1, source }), 1);

    const second = joinAs({ name: 'other', requestsPerMinute: 1, source: other, baseUrl }, key);

    expect(await permitsOf(second, 1)).toHaveLength(row.shared ? 0 : 1);
    expect(logger.lines).toHaveLength(row.shared ? 1 : 0);
  });

  it.each<{ what: string; share: number; act: (bench: ReturnType<typeof aPair>) => void }>([
    { what: 'as many as there are', share: 50, act: () => undefined },
    { what: 'one leaves', share: 100, act: ({ other }) => other.leave() },
    { what: 'one leaves twice', share: 100, act: ({ other }) => (other.leave(), other.leave()) },
    { what: 'one joins', share: 100 / 3, act: ({ join }) => void join('third', 120) },
    {
      what: 'one may send less',
      share: 20,
      act: ({ other }) => other.resize({ requestsPerMinute: 40, concurrency: 8 }),
    },
    { what: 'one moves to another key', share: 100, act: ({ other }) => other.rekey('key-2') },
    { what: 'it moves itself', share: 100, act: ({ one }) => one.rekey('key-2') },
  ])('may plan with even shares of the limit: $what', async ({ share, act }) => {
    const pair = aPair();

    act(pair);
    await settle();

    expect(pair.one.limitPerMinute()).toBe(share);
  });

  function aPair() {
    const bench = aBench();
    return { ...bench, one: bench.join('one', 100), other: bench.join('other', 100) };
  }

  it('send in turn, whoever asks for more', async () => {
    const { clock, join } = aBench();
    const [one, other] = [join('one', 10), join('other', 10)];
    const greedy = await permitsOf(one, 100);
    for (const { release } of greedy) release(true);
    const before = greedy.length;
    const modest = await permitsOf(other, 5);

    await clock.advance(2 * minuteMs);

    expect([before, greedy.length - before, modest.length]).toEqual([10, 5, 5]);
  });

  it('keep to 25 calls in flight with NerdGraph, whatever their account ids, and get room in turn', async () => {
    const { joinAs } = aBench();
    const joined = [1, 2, 3].map((accountId) =>
      joinAs({ name: `account ${accountId}`, source: { kind: 'nerdgraph', accountId } }),
    );
    const [first = [], second = [], third = []] = await Promise.all(
      joined.map(async (calls) => permitsOf(calls, 40)),
    );
    const before = [first.length, second.length, third.length];

    for (const { release } of first.slice(0, 12)) {
      release(true);
      await settle();
    }

    expect(before).toEqual([25, 0, 0]);
    expect([first.length, second.length, third.length]).toEqual([29, 4, 4]);
  });

  it('are named in one warning for each pair, however often they meet', () => {
    const { logger, join } = aBench();

    for (let reload = 0; reload < 3; reload += 1) {
      for (const calls of [join('one', 5), join('other', 5)]) calls.leave();
    }
    join('one', 5);
    join('other', 5, 'key-2').rekey('key-1');

    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        message: 'accounts with the same API key',
        fields: {
          accounts: ['one', 'other'],
          remedy: expect.stringContaining('give each account a key of its own') as string,
        },
      },
    ]);
    expect(JSON.stringify(logger.lines)).not.toContain('key-1');
  });

  it('cause no warning if their keys are in one place: the check of the configuration warns', () => {
    const { joinAs, logger } = aBench();
    const { apiKey } = anAccount();

    const both = ['one', 'other'].map((name) => joinAs({ name, apiKey }));

    expect(new Set(both.map(({ budgetId }) => budgetId)).size).toBe(1);
    expect(logger.lines).toEqual([]);
  });

  it('cause no warning when a reload replaces one account', () => {
    const { logger, join } = aBench();

    const old = join('one', 5);
    join('one', 9);
    old.leave();

    expect(logger.lines).toEqual([]);
  });
});

describe('an account that leaves and comes back', () => {
  it('finds the calls that were sent with its key, and the pause', async () => {
    const { join } = aBench();
    const before = join('one', 3);
    for (const { throttled, release } of await permitsOf(before, 2)) {
      throttled(aThrottled(100));
      release(true);
    }

    before.leave();
    const after = join('renamed', 3);

    expect(after.key.pausedUntilMs()).toBe(100);
    expect(await permitsOf(after, 1)).toEqual([]);
  });

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
    for (const { release } of [...permits, ...moved]) release(true);
    calls.rekey('key-1');
    const back = await permitsOf(calls, 1);
    const backAtOnce = back.length;
    await clock.advance(minuteMs + 1);

    expect(permits.map(({ apiKey }) => apiKey)).toEqual(['key-1', 'key-1']);
    expect(moved.map(({ apiKey }) => apiKey)).toEqual(['key-2', 'key-2']);
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
    permit?.release(true);
    await wait(minuteMs + 1);
    await wait(998);
    key.throttled(aLimitExceeded(162_000, { sentMs: 161_000 }));
    await wait(299_999);
    await wait(1);

    expect(isKnown).toEqual([true, true, true, true, true, false]);
  });

  it('lets nothing go during a pause, and goes on after it', async () => {
    const clock = createFakeClock();
    const calls = accountCalls(clock, { requestsPerMinute: 60 });
    calls.key.throttled(aThrottled(30_000));
    calls.key.throttled(aThrottled(10_000));

    const permits = await permitsOf(calls, 1);
    await clock.advance(29_999);
    const during = [calls.key.pausedUntilMs(), permits.length];
    await clock.advance(1);

    expect(during).toEqual([30_000, 0]);
    expect([calls.key.pausedUntilMs(), permits.length]).toEqual([undefined, 1]);
  });

  it('lets a call go a minute after the end of the one that blocked it', async () => {
    const { clock, join } = aBench();
    const calls = join('one', 1);
    const [first] = await permitsOf(calls, 1);
    const next = await permitsOf(calls, 1);
    const seen: number[] = [];

    await clock.advance(100_000);
    seen.push(next.length);
    first?.release(true);
    await clock.advance(minuteMs);
    seen.push(next.length);
    await clock.advance(1);
    seen.push(next.length);

    expect(seen).toEqual([0, 0, 1]);
  });

  it('counts the 429s of one trouble, which ends five minutes after the last one', async () => {
    const clock = createFakeClock();
    const { key } = accountCalls(clock);
    const seen = [key.refusals()];
    for (const { waitMs, isRefused } of [
      { waitMs: 1000, isRefused: true },
      { waitMs: 299_999, isRefused: true },
      { waitMs: 300_000, isRefused: false },
      { waitMs: 1000, isRefused: true },
    ]) {
      await clock.advance(waitMs);
      if (isRefused) key.throttled(aThrottled(clock.monotonicMs()));
      seen.push(key.refusals());
    }

    expect(seen).toEqual([
      undefined,
      { calls: 1, sinceMs: 1000, lastMs: 1000 },
      { calls: 2, sinceMs: 1000, lastMs: 300_999 },
      undefined,
      { calls: 1, sinceMs: 601_999, lastMs: 601_999 },
    ]);
  });
});
