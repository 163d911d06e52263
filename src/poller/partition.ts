import type { SelectedApplication } from '../model/selector.ts';
import { createOwnerOf, type Shard, type ShardDemands } from '../model/shard.ts';
import type { Discovery } from '../model/source.ts';
import { sharedDemandOf } from './demand.ts';

/** The part of an account that this process polls, beside those of other shards. */
export interface Partition {
  /** How many parts there are: each of them is looked at to find out whose an application is. */
  readonly shards: number;
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
    return { shards: 1, owns: () => true, chosen: () => undefined, demands: () => undefined };
  }
  const { ordinal, total } = shard;
  const ownerOf = remembering(createOwnerOf(total));
  const polls = Array.from({ length: total }, () => 0);
  return {
    shards: total,
    owns: (key) => ownerOf(key) === ordinal,
    chosen: (selected) => {
      const owner = ownerOf(selected.application.id);
      polls[owner] = (polls[owner] ?? 0) + sharedDemandOf(selected);
    },
    demands: ({ calls, complete }, intervalMs) =>
      complete ? { polls, discovery: (calls * 60_000) / intervalMs } : undefined,
  };
}

/** Who is asked for twice is looked for once. */
function remembering(ownerOf: (key: string) => number): (key: string) => number {
  let lastKey: string | undefined;
  let lastOwner = 0;
  return (key) => {
    if (key !== lastKey) lastOwner = ownerOf(key);
    lastKey = key;
    return lastOwner;
  };
}
