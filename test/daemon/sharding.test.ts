import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createShardBudget,
  type ShardBudget,
  type ShardingFlags,
  shardFrom,
  withShard,
} from '../../src/daemon/sharding.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const config = { accounts: [anAccount({ requestsPerMinute: 900 })], apps: [anEntry()] };

function shardOf(
  flags: Partial<ShardingFlags>,
  platform: Parameters<typeof createFakePlatform>[0] = {},
) {
  return shardFrom({ shard: 'auto', totalShards: 1, ...flags }, createFakePlatform(platform));
}

describe('shardFrom', () => {
  it('leaves everything to a single process, whatever its name', () => {
    expect(shardOf({}, { hostname: 'exporter-7' })).toEqual({ ordinal: 0, total: 1 });
  });

  it.each([
    { what: 'the flag', flags: { shard: 2 }, env: { POD_NAME: 'exporter-1' }, ordinal: 2 },
    { what: 'the pod name', flags: {}, env: { POD_NAME: 'exporter-1' }, ordinal: 1 },
    { what: 'the host name', flags: {}, env: {}, ordinal: 0 },
  ])('takes its number from $what', ({ flags, env, ordinal }) => {
    const found = shardOf({ totalShards: 3, ...flags }, { env, hostname: 'exporter-0' });

    expect(found).toEqual({ ordinal, total: 3 });
  });

  it.each([
    {
      flags: { totalShards: 3 },
      hostname: 'laptop',
      message:
        '--total-shards is 3, but the pod name "laptop" does not end in a number: give --shard, or ' +
        'run as a StatefulSet',
    },
    {
      flags: { totalShards: 3, shard: 3 },
      hostname: 'laptop',
      message:
        'shard 3 does not exist: with --total-shards=3 the last one is 2. Set --total-shards to the ' +
        'number of replicas',
    },
    {
      flags: { totalShards: 2 },
      hostname: 'exporter-2',
      message:
        'shard 2 does not exist: with --total-shards=2 the last one is 1. Set --total-shards to the ' +
        'number of replicas',
    },
  ])('refuses $flags on $hostname', ({ flags, hostname, message }) => {
    expect(() => shardOf(flags, { hostname })).toThrow(
      expect.objectContaining({ message, exitCode: 2 }),
    );
  });
});

describe('withShard', () => {
  it('leaves the configuration of a single process as it is', () => {
    expect(withShard(config, { ordinal: 0, total: 1 })).toBe(config);
  });

  it('divides by demand where two accounts have a key, but no budget, in common', () => {
    const shard = { ordinal: 1, total: 3 };
    const accounts = [1, 2].map((accountId) =>
      anAccount({ name: `${accountId}`, source: { kind: 'nerdgraph', accountId } }),
    );

    const sharded = withShard({ accounts, apps: [anEntry()] }, shard);

    expect(sharded.accounts.map((account) => account.shard)).toEqual([shard, shard]);
  });

  it('tells every account which shard it is, and keeps the budget of the key', () => {
    const shard = { ordinal: 1, total: 3 };

    const { accounts, apps } = withShard(config, shard);

    expect(accounts).toEqual([{ ...config.accounts[0], shard }]);
    expect(apps).toBe(config.apps);
  });

  it('divides evenly the budget of a key that several accounts share', () => {
    const shard = { ordinal: 1, total: 3 };
    const shared = [anAccount({ name: 'a' }), anAccount({ name: 'b' })];
    const alone = anAccount({ name: 'c', baseUrl: 'https://api.eu.newrelic.com' });

    const { accounts } = withShard({ accounts: [...shared, alone], apps: [anEntry()] }, shard);

    expect(accounts.map((account) => account.shard)).toEqual([
      { ...shard, isEven: true },
      { ...shard, isEven: true },
      shard,
    ]);
  });

  it('refuses a budget that is too small for the number of shards, and says what to do', () => {
    const small = { ...config, accounts: [anAccount({ requestsPerMinute: 2 })] };

    expect(() => withShard(small, { ordinal: 2, total: 3 })).toThrow(
      'account production: its budget of 2 calls a minute cannot be divided among 3 shards: raise ' +
        'requests_per_minute, or run fewer shards',
    );
  });
});

const minuteMs = 60_000;
const intervalMs = minuteMs;

function aBudget(ordinal: number, total: number): { budget: ShardBudget; clock: FakeClock } {
  const clock = createFakeClock();
  return { clock, budget: createShardBudget({ ordinal, total }, { clock }) };
}

describe('createShardBudget', () => {
  it('leaves the whole budget to a single process', () => {
    expect(aBudget(0, 1).budget.shareOf(800)).toBe(800);
  });

  it('begins with an even share of 98 per cent of the budget', () => {
    expect([0, 1, 2].map((ordinal) => aBudget(ordinal, 3).budget.shareOf(300))).toEqual([
      98, 98, 98,
    ]);
  });

  it('lowers its share at once when others need more, and raises it only after they have lowered theirs', async () => {
    const large = aBudget(0, 2);
    const small = aBudget(1, 2);
    const demands = { polls: [1000, 10], discovery: 1 };

    small.budget.discovered(demands, intervalMs);
    const given = small.budget.shareOf(100);
    const taken: number[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      large.budget.discovered(demands, intervalMs);
      taken.push(large.budget.shareOf(100));
      await large.clock.advance(intervalMs);
    }

    expect(given).toBe(1);
    expect(taken).toEqual([49, 49, 49, 96, 96]);
  });

  it('keeps even shares if accounts share the key, whatever discoveries find', async () => {
    const { budget } = aBudget(0, 2);
    budget.discovered({ polls: [10, 1000], discovery: 1 }, intervalMs);

    expect([budget.shareOf(100, true), budget.shareOf(100, false)]).toEqual([49, 1]);
  });

  it('follows another budget at once', async () => {
    const { budget } = aBudget(0, 2);
    budget.discovered({ polls: [50, 950], discovery: 0 }, intervalMs);

    expect([budget.shareOf(100), budget.shareOf(1000)]).toEqual([5, 49]);
  });

  it('never uses more than the budget together, in whatever order shards see a change', async () => {
    const world = fc.record({
      polls: fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 3, maxLength: 3 }),
      discovery: fc.constant(1),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(world, { minLength: 1, maxLength: 6 }),
        fc.array(fc.integer({ min: 0, max: intervalMs - 1 }), { minLength: 3, maxLength: 3 }),
        async (worlds, phases) => {
          const clock = createFakeClock();
          const budgets = phases.map((_, ordinal) =>
            createShardBudget({ ordinal, total: 3 }, { clock }),
          );
          const budget = 600;
          for (const demands of worlds) {
            // Each change is seen by all before the next one comes.
            const order = phases.map((phase, ordinal) => ({ phase, ordinal }));
            const steps = order.toSorted((left, right) => left.phase - right.phase);
            for (let round = 0; round < 5; round += 1) {
              for (const { ordinal } of steps) {
                budgets[ordinal]?.discovered(demands, intervalMs);
                const shares = budgets.map((one) => one.shareOf(budget));
                expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(budget);
              }
              await clock.advance(intervalMs);
            }
          }
          const shares = budgets.map((one) => one.shareOf(budget));
          // In the end each has its part: what is lost are parts of a call and the reserve.
          expect(shares.reduce((sum, share) => sum + share, 0)).toBeGreaterThan(0.97 * budget - 4);
        },
      ),
      { numRuns: 60 },
    );
  });
});
