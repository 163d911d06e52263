import { describe, expect, it } from 'vitest';
import { createSharding, type ShardingFlags } from '../../src/cli/sharding.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { createFakeMachine } from '../support/fake-machine.ts';

const config = { accounts: [anAccount({ requestsPerMinute: 900 })], apps: [anEntry()] };

async function sharding(
  flags: Partial<ShardingFlags>,
  machine: Parameters<typeof createFakeMachine>[0] = {},
) {
  return createSharding(
    { shard: 'auto', totalShards: 1, shardDnsName: '', ...flags },
    { machine: createFakeMachine(machine), logger: createFakeLogger() },
  );
}

describe('createSharding', () => {
  it('leaves all to a process that is alone, whatever its name', async () => {
    const { partOf, position } = await sharding({}, { hostname: 'exporter-7' });

    expect(partOf(config)).toBe(config);
    expect(position()).toEqual({ shard: 0, totalShards: 1 });
  });

  it.each([
    { what: 'the flag', flags: { shard: 2 }, env: { POD_NAME: 'exporter-1' }, shard: 2 },
    { what: 'the pod name', flags: {}, env: { POD_NAME: 'exporter-1' }, shard: 1 },
    { what: 'the host name', flags: {}, env: {}, shard: 0 },
  ])('takes its number from $what', async ({ flags, env, shard }) => {
    const { partOf, position } = await sharding(
      { totalShards: 3, ...flags },
      { env, hostname: 'exporter-0' },
    );

    expect(position()).toEqual({ shard, totalShards: 3 });
    expect(partOf(config).accounts[0]).toMatchObject({
      requestsPerMinute: 300,
      shard: { self: String(shard), members: ['0', '1', '2'] },
    });
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
    {
      flags: { shardDnsName: 'peers' },
      hostname: 'exporter-0',
      message:
        '--shard.dns-name needs the environment variable POD_IP with the address of this pod: take ' +
        'it from status.podIP',
    },
    {
      flags: { shardDnsName: 'peers', totalShards: 2 },
      hostname: 'exporter-0',
      message: '--shard.dns-name and --total-shards exclude each other: give one of them',
    },
  ])('refuses $flags on $hostname', async ({ flags, hostname, message }) => {
    await expect(sharding(flags, { hostname })).rejects.toMatchObject({ message, exitCode: 2 });
  });

  it('follows the peers that DNS names', async () => {
    const { partOf, position } = await sharding(
      { shardDnsName: 'peers' },
      { env: { POD_IP: '10.0.0.1' }, lookUp: async () => ['10.0.0.1'] },
    );

    expect(position()).toEqual({ shard: 0, totalShards: 1 });
    expect(partOf(config).accounts[0]).toMatchObject({
      requestsPerMinute: 882,
      shard: { self: '10.0.0.1', members: ['10.0.0.1'] },
    });
  });

  it('starts without a part when DNS does not answer', async () => {
    const { partOf, position } = await sharding(
      { shardDnsName: 'peers' },
      { env: { POD_IP: '10.0.0.1' } },
    );

    expect(position()).toEqual({ shard: 0, totalShards: 1 });
    expect(partOf(config).accounts[0]?.shard).toEqual({ self: '10.0.0.1', members: [] });
  });
});
