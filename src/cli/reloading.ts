import type { Logger } from '../model/telemetry.ts';
import { watchConfig } from './config-watcher.ts';
import type { Daemon } from './daemon.ts';
import { CommandError } from './exit-code.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';
import { createReloader, type ReloaderOptions, type ReloadTrigger } from './reloader.ts';
import type { Sharding } from './sharding.ts';

/** The three ways to reload a running daemon. */
export interface Reloading {
  readonly byHttp: () => Promise<void>;
  /** Follows changes of the file, and of this process' part of the work, until the signal is aborted. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface ReloadingDependencies {
  readonly machine: Machine;
  readonly logger: Logger;
  readonly daemon: Daemon;
  readonly sharding: Sharding;
}

/** From now on SIGHUP reloads; the other two ways are the caller's to open. */
export function createReloading(
  options: ReloaderOptions,
  { autoReloadIntervalMs }: Pick<Flags, 'autoReloadIntervalMs'>,
  { machine, logger, daemon, sharding }: ReloadingDependencies,
): Reloading {
  const reloader = createReloader(options, {
    machine,
    logger,
    apply: async (config) => daemon.apply(sharding.partOf(config)),
    reloaded: (succeeded, wallMs) => {
      daemon.metrics.configReloaded(succeeded, wallMs);
    },
  });
  // What was wrong is in the log by then, and nobody waits for these two.
  const quietly = async (trigger: ReloadTrigger): Promise<void> => {
    try {
      await reloader.reload(trigger);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  };
  const watcher = {
    machine,
    logger,
    inForce: () => reloader.filesInForce(),
    reload: async () => quietly('file'),
  };
  const membersChanged = async (): Promise<void> => {
    const { shard, totalShards } = sharding.position();
    daemon.metrics.sharded(shard, totalShards);
    try {
      await reloader.reapply();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      logger.error({ problem: error.message }, 'shards cannot be put into force');
    }
  };
  machine.onHangup(() => {
    void quietly('signal');
  });
  return {
    byHttp: async () => reloader.reload('http'),
    watch: async (signal) => {
      await Promise.all([
        sharding.watch(membersChanged, signal),
        autoReloadIntervalMs === 0
          ? undefined
          : watchConfig({ intervalMs: autoReloadIntervalMs }, watcher, signal),
      ]);
    },
  };
}
