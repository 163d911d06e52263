import type { Config } from '../model/config.ts';
import type { Shard } from '../model/shard.ts';
import { type AccountPlatform, CommandError } from './platform.ts';

export interface ShardingFlags {
  /** The number of this process among `totalShards`; `auto`: the number at the end of its pod name. */
  readonly shard: number | 'auto';
  readonly totalShards: number;
}

/**
 * Which of the shards this process is: from the flag, else from the name that a StatefulSet gives its
 * pods (`exporter-2` is shard 2). Throws a `CommandError` if neither gives a valid number.
 */
export function shardFrom(
  { shard, totalShards }: ShardingFlags,
  { env, hostname }: AccountPlatform,
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
 * The configuration as this shard has to follow it: each shard gets the same part of every budget. Shards
 * read the list of applications at different moments, so only a division by what never changes keeps their
 * sum within the budget. Throws a `CommandError` if a budget is too small to be divided.
 */
export function withShard(config: Config, shard: Shard): Config {
  const { total } = shard;
  if (total === 1) return config;
  const accounts = config.accounts.map((account) => {
    const { name, requestsPerMinute } = account;
    if (requestsPerMinute < total) {
      throw new CommandError(
        2,
        `account ${name}: its budget of ${requestsPerMinute} calls a minute cannot be ` +
          `divided among ${total} shards: raise requests_per_minute, or run fewer shards`,
      );
    }
    return {
      ...account,
      shard,
      requestsPerMinute: Math.floor(requestsPerMinute / total),
      sharedRequestsPerMinute: requestsPerMinute,
    };
  });
  return { ...config, accounts };
}
