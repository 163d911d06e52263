import type { Clock } from '../model/clock.ts';
import { budgetIdOf, type Config } from '../model/config.ts';
import { type Shard, type ShardDemands, sharesOf } from '../model/shard.ts';
import { CommandError, type Platform } from './platform.ts';

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
  { env, hostname }: Pick<Platform, 'env' | 'hostname'>,
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
 * The configuration as this shard has to follow it. Throws a `CommandError` if a budget is too small to
 * be divided among all shards.
 */
export function withShard(config: Config, shard: Shard): Config {
  if (shard.total === 1) return config;
  const accountsByBudget = new Map<string, number>();
  for (const account of config.accounts) {
    const budgetId = budgetIdOf(account);
    accountsByBudget.set(budgetId, 1 + (accountsByBudget.get(budgetId) ?? 0));
  }
  const accounts = config.accounts.map((account) => {
    if (account.requestsPerMinute >= shard.total) {
      const isEven = (accountsByBudget.get(budgetIdOf(account)) ?? 0) > 1;
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

/** The part of an account's budget that this shard may use. */
export interface ShardBudget {
  /** Calls a minute, of the budget of all shards together; shared by demand, or evenly. */
  shareOf(requestsPerMinute: number, isEven?: boolean): number;
  /** To be called after a discovery, with the demands of all shards. */
  discovered(demands: ShardDemands, discoveryIntervalMs: number): void;
}

/** The vendor counts calls for a minute. */
const budgetPeriodMs = 60_000;
/** Shards may discover an application some minutes apart: the rest keeps their sum within the budget. */
const usedShare = 0.98;

interface Seen extends ShardDemands {
  readonly atMs: number;
}

/**
 * The shards learn of a change one after the other, each with its next discovery. So a shard lowers its
 * share at once, and raises it only after two discoveries and a minute: by then the others have lowered
 * theirs. It starts with an even share.
 */
export function createShardBudget(
  { ordinal, total }: Shard,
  { clock }: { readonly clock: Pick<Clock, 'monotonicMs'> },
): ShardBudget {
  const even = Array.from({ length: total }, () => 0);
  let seen: readonly Seen[] = [{ atMs: clock.monotonicMs(), polls: even, discovery: 0 }];

  return {
    shareOf: (requestsPerMinute, isEven = false) => {
      if (total === 1) return requestsPerMinute;
      const budget = Math.max(total, requestsPerMinute * usedShare);
      if (isEven) return sharesOf(budget, { polls: even, discovery: 0 })[ordinal] ?? 1;
      return Math.min(...seen.map((demands) => sharesOf(budget, demands)[ordinal] ?? 1));
    },
    discovered: (demands, discoveryIntervalMs) => {
      const nowMs = clock.monotonicMs();
      const sinceMs = nowMs - 2 * discoveryIntervalMs - budgetPeriodMs;
      // The demands seen last before that time were still in force at that time.
      const first = seen.findLastIndex(({ atMs }) => atMs <= sinceMs);
      seen = [...seen.slice(Math.max(0, first)), { ...demands, atMs: nowMs }];
    },
  };
}
