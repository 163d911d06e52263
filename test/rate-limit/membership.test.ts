import { describe, expect, it } from 'vitest';
import type { AccountSource, SecretLocation } from '../../src/model/config.ts';
import type { Permit } from '../../src/model/permit.ts';
import { KeyTable } from '../../src/rate-limit/key-table.ts';
import { Membership } from '../../src/rate-limit/membership.ts';
import { anAccount } from '../support/builders.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { aCallerFor, aLimitExceeded, aThrottled } from './fakes.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly keys: KeyTable;
  readonly join: (name: string, requestsPerMinute: number, key?: string) => Membership;
}

/** Where a key is: each account has a file of its own. */
function inFile(name: string): SecretLocation {
  return { kind: 'file', path: `/keys/${name}` };
}

function aBench(): Bench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const keys = new KeyTable({ clock, logger });
  return {
    clock,
    logger,
    keys,
    join: (name, requestsPerMinute, key = 'key-1') =>
      new Membership(anAccount({ name, requestsPerMinute, apiKey: inFile(name) }), key, keys),
  };
}

/** Begins this many calls. Returns the permits that are given, at once or later. */
async function permitsOf(membership: Membership, calls: number): Promise<readonly Permit[]> {
  const permits: Permit[] = [];
  const caller = aCallerFor(membership);
  const call = async (): Promise<void> => {
    permits.push(await caller.acquire());
  };
  for (let one = 0; one < calls; one += 1) void call();
  await settle();
  return permits;
}

describe('accounts with one key', () => {
  it('share one window, whose limit is the smallest of theirs', async () => {
    const { join } = aBench();
    const [one, other] = [join('one', 5), join('other', 3)];

    const first = await permitsOf(one, 2);
    const second = await permitsOf(other, 2);

    expect([first.length, second.length]).toEqual([2, 1]);
  });

  it.each([
    { what: 'another key', baseUrl: 'https://api.newrelic.com', key: 'key-2', shared: false },
    {
      what: 'another address',
      baseUrl: 'https://api.eu.newrelic.com',
      key: 'key-1',
      shared: false,
    },
    {
      what: 'the same, written otherwise',
      baseUrl: 'HTTPS://API.newrelic.com:443/',
      key: 'key-1',
      shared: true,
    },
  ])('are those with the same key at the same address: $what', async ({ baseUrl, key, shared }) => {
    const { keys, join } = aBench();
    await permitsOf(join('one', 1), 1);

    const other = new Membership(
      { ...anAccount({ name: 'other', requestsPerMinute: 1 }), baseUrl },
      key,
      keys,
    );

    expect(await permitsOf(other, 1)).toHaveLength(shared ? 0 : 1);
  });

  const rest = { kind: 'rest', accountId: undefined } as const;
  const nerdgraph = { kind: 'nerdgraph', accountId: 1 } as const;
  it.each<{ what: string; source: AccountSource; other: AccountSource; shared: boolean }>([
    { what: 'with REST', source: rest, other: { ...rest, accountId: 1 }, shared: true },
    { what: 'with NerdGraph', source: nerdgraph, other: { ...nerdgraph }, shared: true },
    { what: 'with both', source: { ...rest, accountId: 1 }, other: nerdgraph, shared: false },
    {
      what: 'with NerdGraph, and another account id',
      source: nerdgraph,
      other: { ...nerdgraph, accountId: 2 },
      shared: false,
    },
  ])('share what the vendor counts together: $what', async ({ source, other, shared }) => {
    const { keys, logger } = aBench();
    const account = anAccount({ requestsPerMinute: 1, source, apiKey: inFile('one') });
    const one = new Membership(account, 'key-1', keys);
    await permitsOf(one, 1);

    const joined = anAccount({ name: 'other', requestsPerMinute: 1, source: other });
    const second = new Membership(joined, 'key-1', keys);

    expect(await permitsOf(second, 1)).toHaveLength(shared ? 0 : 1);
    expect(logger.lines).toHaveLength(shared ? 1 : 0);
  });

  it('may plan with even shares of the limit', () => {
    const { join } = aBench();
    const all = [join('one', 90), join('other', 100), join('third', 120)];

    expect(all.map((membership) => membership.limitPerMinute())).toEqual([30, 30, 30]);
  });

  it('get its permits in turn, whoever asks for more', async () => {
    const { clock, join } = aBench();
    const [one, other] = [join('one', 10), join('other', 10)];
    const greedy = await permitsOf(one, 100);
    for (const permit of greedy) permit.release(true);
    const before = greedy.length;
    const modest = await permitsOf(other, 5);

    await clock.advance(60_001);

    expect([before, greedy.length - before, modest.length]).toEqual([10, 5, 5]);
  });

  it('keep to 25 calls in flight with NerdGraph, whatever their account ids, and get room in turn', async () => {
    const { keys } = aBench();
    const joined = [1, 2, 3].map(
      (accountId) =>
        new Membership(
          anAccount({ name: `account ${accountId}`, source: { kind: 'nerdgraph', accountId } }),
          'key-1',
          keys,
        ),
    );
    const [first = [], second = [], third = []] = await Promise.all(
      joined.map(async (membership) => permitsOf(membership, 40)),
    );
    const before = [first.length, second.length, third.length];

    for (const permit of first.slice(0, 12)) {
      permit.release(true);
      await settle();
    }

    expect(before).toEqual([25, 0, 0]);
    expect([first.length, second.length, third.length]).toEqual([29, 4, 4]);
  });

  it('are named in one warning for each pair, however often they meet', () => {
    const { logger, join } = aBench();

    for (let reload = 0; reload < 3; reload += 1) {
      for (const membership of [join('one', 5), join('other', 5)]) membership.leave();
    }
    join('one', 5);
    join('other', 5, 'key-2').rekey('key-1');

    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        message: 'accounts with the same API key',
        fields: { accounts: ['one', 'other'] },
      },
    ]);
    expect(String(logger.lines[0]?.fields['remedy'])).toContain(
      'give each account a key of its own',
    );
    expect(JSON.stringify(logger.lines)).not.toContain('key-1');
  });

  it('cause no warning if their keys are in one place: the check of the configuration warns', () => {
    const { keys, logger } = aBench();

    const both = ['one', 'other'].map((name) => new Membership(anAccount({ name }), 'key-1', keys));

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
    const permits = await permitsOf(before, 2);
    permits[0]?.throttled(aThrottled(100));
    for (const permit of permits) permit.release(true);

    before.leave();
    const after = join('renamed', 3);
    const pausedUntilMs = after.pausedUntilMs();

    expect(pausedUntilMs).toBe(100);
    expect(await permitsOf(after, 1)).toEqual([]);
  });

  it('finds the limit reduced if it was', async () => {
    const { clock, join } = aBench();
    const before = join('one', 100);
    const [permit] = await permitsOf(before, 1);
    permit?.throttled(aLimitExceeded(1000));
    permit?.release(true);
    before.leave();

    await clock.advance(90_000);
    const after = join('one', 200);

    expect([after.limitPerMinute(), after.isReduced()]).toEqual([120, true]);
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

  it('frees its share for the others, and their limit', async () => {
    const { join } = aBench();
    const [one, other] = [join('one', 100), join('other', 40)];
    const shared = one.limitPerMinute();

    other.leave();
    other.leave();
    await settle();

    expect([shared, one.limitPerMinute()]).toEqual([20, 100]);
  });
});

describe('a key that is rotated', () => {
  it('leaves given permits their key, and gives waiting calls the new one', async () => {
    const { clock, join } = aBench();
    const membership = join('one', 2);
    const permits = [...(await permitsOf(membership, 2))];
    const moved = await permitsOf(membership, 2);

    membership.rekey('key-2');
    await settle();
    for (const permit of permits) permit.release(true);
    membership.rekey('key-1');
    const back = await permitsOf(membership, 1);
    const backAtOnce = back.length;
    await clock.advance(60_001);

    expect(permits.map(({ apiKey }) => apiKey)).toEqual(['key-1', 'key-1']);
    expect(moved.map(({ apiKey }) => apiKey)).toEqual(['key-2', 'key-2']);
    expect([backAtOnce, back.length]).toEqual([0, 1]);
  });
});

describe('onLimitChange', () => {
  interface Watched {
    readonly bench: Bench;
    readonly one: Membership;
    readonly other: Membership;
    readonly changes: readonly number[];
    readonly stop: () => void;
  }

  function aWatched(): Watched {
    const bench = aBench();
    const [one, other] = [bench.join('one', 100), bench.join('other', 100)];
    const changes: number[] = [];
    const stop = one.onLimitChange(() => changes.push(one.limitPerMinute()));
    return { bench, one, other, changes, stop };
  }

  it.each<{ what: string; act: (watched: Watched) => void; limit: number }>([
    { what: 'another account leaves', act: ({ other }) => other.leave(), limit: 100 },
    {
      what: 'another account joins',
      act: ({ bench }) => void bench.join('third', 100),
      limit: 100 / 3,
    },
    { what: 'another account may send less', act: ({ other }) => other.resize(40), limit: 20 },
    {
      what: 'another account moves to another key',
      act: ({ other }) => other.rekey('key-2'),
      limit: 100,
    },
    { what: 'it moves to another key itself', act: ({ one }) => one.rekey('key-2'), limit: 100 },
  ])('tells once when $what', async ({ act, limit }) => {
    const watched = aWatched();

    act(watched);
    await settle();

    expect(watched.changes.at(-1)).toBe(limit);
    expect(new Set(watched.changes).size).toBe(watched.changes.length);
  });

  it('tells of each step after a 429 in time, also to accounts without calls', async () => {
    const { bench, other, changes } = aWatched();
    const [permit] = await permitsOf(other, 1);

    permit?.throttled(aLimitExceeded(10_000));
    permit?.release(true);
    await bench.clock.advance(299_999);
    const before = [...changes];
    await bench.clock.advance(1);

    expect(before).toEqual([25, 30, 35, 40, 45]);
    expect(changes).toEqual([25, 30, 35, 40, 45, 50]);
  });

  it('goes with the account from key to key', async () => {
    const { bench, one, changes } = aWatched();
    one.rekey('key-2');
    const [permit] = await permitsOf(one, 1);

    permit?.throttled(aLimitExceeded(10_000));
    await bench.clock.advance(60_000);

    expect(changes).toEqual([100, 50, 60]);
  });

  it.each([
    { what: 'ends when asked to', end: ({ stop }: Watched) => stop() },
    { what: 'ends when the account leaves', end: ({ one }: Watched) => one.leave() },
  ])('$what, and leaves no timer behind', async ({ end }) => {
    const watched = aWatched();
    const { bench, one, other, changes } = watched;
    const [permit] = await permitsOf(one, 1);
    permit?.throttled(aLimitExceeded(10_000));
    permit?.release(true);
    const told = changes.length;

    end(watched);
    other.leave();
    await bench.clock.advance(600_000);

    expect([told, changes.length]).toEqual([1, 1]);
    one.leave();
    await settle();
    expect(bench.clock.pendingTimers()).toBe(0);
  });
});
