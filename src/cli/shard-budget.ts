import type { Clock } from '../model/clock.ts';
import { type Shard, type ShardDemands, sharesOf } from '../model/shard.ts';

/** What this shard may use of the budget of an account. */
export interface ShardBudget {
  /** Calls a minute, of a budget that all shards have together, by demand or evenly. */
  shareOf(requestsPerMinute: number, isEven?: boolean): number;
  /** A discovery has found out what all shards need. */
  discovered(demands: ShardDemands, discoveryIntervalMs: number): void;
}

/** What was sent a minute ago still counts for the vendor. */
const budgetPeriodMs = 60_000;
/** Shards may see an application some minutes apart: what all of them use together stays below. */
const usedShare = 0.98;

interface Seen extends ShardDemands {
  readonly atMs: number;
}

/**
 * The shards see changes one after the other, each with its next discovery. So each gives up at once
 * what is no longer its own, and takes more only after two discoveries and a minute: by then the others
 * have given it up. It starts with an even part.
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
      // What was seen last before that time was in force when it began.
      const first = seen.findLastIndex(({ atMs }) => atMs <= sinceMs);
      seen = [...seen.slice(Math.max(0, first)), { ...demands, atMs: nowMs }];
    },
  };
}
