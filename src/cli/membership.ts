import type { AccountConfig, Config } from '../model/config.ts';
import { type Shard, shareOf } from '../model/shard.ts';
import { CommandError } from './exit-code.ts';

/** Which processes share the work, and how much of the budget this one may use at the moment. */
export interface Membership {
  readonly shard: Shard;
  /** This process' calls a minute of a budget. */
  readonly budgetOf: (requestsPerMinute: number) => number;
}

/** Shards with fixed numbers. */
export function fixedMembership(ordinal: number, totalShards: number): Membership {
  const members = Array.from({ length: totalShards }, (_, index) => String(index));
  const shard = { self: String(ordinal), members };
  return { shard, budgetOf: (requestsPerMinute) => shareOf(shard, requestsPerMinute) };
}

/**
 * The configuration as this process has to follow it: with its part of each budget. Throws a
 * `CommandError` if there is none for it.
 */
export function shardOf(config: Config, { shard, budgetOf }: Membership): Config {
  if (shard.members.length === 1 && budgetOf(1000) === 1000) return config;
  const accounts = config.accounts.map((account): AccountConfig => {
    const requestsPerMinute = budgetOf(account.requestsPerMinute);
    if (requestsPerMinute >= 1) return { ...account, requestsPerMinute, shard };
    throw new CommandError(
      2,
      `account ${account.name}: its budget of ${account.requestsPerMinute} calls a minute cannot be ` +
        `divided among ${shard.members.length} shards: raise requests_per_minute, or run fewer shards`,
    );
  });
  return { ...config, accounts };
}
