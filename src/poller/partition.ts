import type { SelectedApplication } from '../model/selector.ts';
import { ownerOf, type Shard, type ShardDemands } from '../model/shard.ts';
import type { Discovery } from '../model/source.ts';
import { sharedDemandOf } from './demand.ts';

/** The part of an account that this process polls, beside those of other shards. */
export interface Partition {
  /** Whether this process is the one that polls an application, or reports on an entry. */
  readonly owns: (key: string) => boolean;
  /** Counts an application that an entry chooses, whoever polls it. */
  readonly chosen: (selected: SelectedApplication) => void;
  /**
   * What the shards need, by all that was chosen in a discovery; `undefined` if this process is the only
   * one, or if the discovery did not see all.
   */
  demands(
    discovery: Pick<Discovery, 'calls' | 'complete'>,
    intervalMs: number,
  ): ShardDemands | undefined;
}

export function createPartition(shard: Shard | undefined): Partition {
  if (shard === undefined) {
    return { owns: () => true, chosen: () => undefined, demands: () => undefined };
  }
  const { ordinal, total } = shard;
  const polls = Array.from({ length: total }, () => 0);
  return {
    owns: (key) => ownerOf(key, total) === ordinal,
    chosen: (selected) => {
      const owner = ownerOf(selected.application.id, total);
      polls[owner] = (polls[owner] ?? 0) + sharedDemandOf(selected);
    },
    demands: ({ calls, complete }, intervalMs) =>
      complete ? { polls, discovery: (calls * 60_000) / intervalMs } : undefined,
  };
}
