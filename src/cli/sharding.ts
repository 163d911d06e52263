import type { Config } from '../model/config.ts';
import { keyPlaceOf } from '../model/key-place.ts';
import type { Shard } from '../model/shard.ts';
import { CommandError } from './exit-code.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';

export type ShardingFlags = Pick<Flags, 'shard' | 'totalShards'>;

/**
 * Which of the shards this process is: from the flag, else from the name that a StatefulSet gives its
 * pods: `exporter-2` is shard 2. Throws a `CommandError` if the flags do not say it.
 */
export function shardFrom(
  { shard, totalShards }: ShardingFlags,
  { env, hostname }: Pick<Machine, 'env' | 'hostname'>,
): Shard {
  if (totalShards === 1 && shard === 'auto') return { ordinal: 0, total: 1 };
  const podName = env['POD_NAME'] ?? hostname;
  const ordinal =
    shard !== 'auto' ? shard : Number(/-(\d{1,9})$/u.exec(podName)?.[1] ?? Number.NaN);
  if (Number.isNaN(ordinal)) {
    throw new CommandError(
      2,
      `--total-shards is ${totalShards}, but the pod name "${podName}" does not end in a number: ` +
        'give --shard, or run as a StatefulSet',
    );
  }
  if (ordinal >= totalShards) {
    throw new CommandError(
      2,
      `shard ${ordinal} does not exist: with --total-shards=${totalShards} the last one is ` +
        `${totalShards - 1}. Set --total-shards to the number of replicas`,
    );
  }
  return { ordinal, total: totalShards };
}

/**
 * The configuration as this shard has to follow it. Throws a `CommandError` if a budget cannot be
 * divided among so many.
 */
export function withShard(config: Config, shard: Shard): Config {
  if (shard.total === 1) return config;
  const accountsByKey = new Map<string, number>();
  for (const account of config.accounts) {
    const place = keyPlaceOf(account);
    accountsByKey.set(place, 1 + (accountsByKey.get(place) ?? 0));
  }
  const accounts = config.accounts.map((account) => {
    if (account.requestsPerMinute >= shard.total) {
      const isEven = (accountsByKey.get(keyPlaceOf(account)) ?? 0) > 1;
      return { ...account, shard: isEven ? { ...shard, isEven } : shard };
    }
    throw new CommandError(
      2,
      `account ${account.name}: its budget of ${account.requestsPerMinute} calls a minute cannot be ` +
        `divided among ${shard.total} shards: raise requests_per_minute, or run fewer shards`,
    );
  });
  return { ...config, accounts };
}
