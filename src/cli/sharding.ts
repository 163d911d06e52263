import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import { CommandError } from './exit-code.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';
import { fixedMembership, shardOf } from './membership.ts';
import { createPeerMembership } from './peer-membership.ts';
import { createPeerWatcher } from './peer-watcher.ts';

/** How this process shares the applications with others. */
export interface Sharding {
  /** The configuration as this process has to follow it; throws a `CommandError`. */
  readonly partOf: (config: Config) => Config;
  /** This process' number, counted from 0, and how many there are. */
  readonly position: () => { readonly shard: number; readonly totalShards: number };
  /** Calls `changed` whenever `partOf` has another result, until the signal is aborted. */
  watch(changed: () => Promise<void>, signal: AbortSignal): Promise<void>;
}

export type ShardingFlags = Pick<Flags, 'shard' | 'totalShards' | 'shardDnsName'>;

/** Rejects with a `CommandError` if the flags do not say which part is meant. */
export async function createSharding(
  flags: ShardingFlags,
  { machine, logger }: { readonly machine: Machine; readonly logger: Logger },
): Promise<Sharding> {
  if (flags.shardDnsName !== '' && flags.totalShards > 1) {
    throw new CommandError(
      2,
      '--shard.dns-name and --total-shards exclude each other: give one of them',
    );
  }
  if (flags.shardDnsName !== '') return shardingByDns(flags.shardDnsName, machine, logger);
  const shard = ordinalOf(flags, machine);
  const membership = fixedMembership(shard, flags.totalShards);
  return {
    partOf: (config) => shardOf(config, membership),
    position: () => ({ shard, totalShards: flags.totalShards }),
    watch: async () => {},
  };
}

/** From the flag, else from the name that a StatefulSet gives its pods: `exporter-2` is shard 2. */
function ordinalOf({ shard, totalShards }: ShardingFlags, { env, hostname }: Machine): number {
  if (totalShards === 1 && shard === 'auto') return 0;
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
  return ordinal;
}

async function shardingByDns(dnsName: string, machine: Machine, logger: Logger): Promise<Sharding> {
  const self = machine.env['POD_IP'];
  if (self === undefined || self === '') {
    throw new CommandError(
      2,
      '--shard.dns-name needs the environment variable POD_IP with the address of this pod: take it ' +
        'from status.podIP',
    );
  }
  const membership = createPeerMembership(self);
  const watcher = createPeerWatcher({ dnsName }, { machine, logger, membership });
  await watcher.look();
  return {
    partOf: (config) => shardOf(config, membership.current()),
    position: () => {
      const { members } = membership.current().shard;
      const all = members.includes(self) ? members : [...members, self].toSorted();
      return { shard: all.indexOf(self), totalShards: all.length };
    },
    watch: async (changed, signal) => watcher.watch(changed, signal),
  };
}
