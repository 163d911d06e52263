import { describe, expect, it } from 'vitest';
import { type ShardingFlags, shardFrom, withShard } from '../../src/daemon/sharding.ts';
import { anAccount, anEntry } from '../support/builders.ts';
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

  it('tells every account which shard it is, and gives it its part of the budget, rounded down', () => {
    const shard = { ordinal: 1, total: 3 };
    const accounts = [900, 100, 3].map((requestsPerMinute) => anAccount({ requestsPerMinute }));

    const sharded = withShard({ ...config, accounts }, shard);

    expect(sharded.accounts).toEqual(
      accounts.map(({ requestsPerMinute: all }, index) =>
        anAccount({
          requestsPerMinute: [300, 33, 1][index] ?? 0,
          sharedRequestsPerMinute: all,
          shard,
        }),
      ),
    );
    expect(sharded.apps).toBe(config.apps);
  });

  it('refuses a budget that is too small for the number of shards, and says what to do', () => {
    const small = { ...config, accounts: [anAccount({ requestsPerMinute: 2 })] };

    expect(() => withShard(small, { ordinal: 2, total: 3 })).toThrow(
      'account production: its budget of 2 calls a minute cannot be divided among 3 shards: raise ' +
        'requests_per_minute, or run fewer shards',
    );
  });
});
