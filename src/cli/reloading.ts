import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { watchConfig } from './config-watcher.ts';
import { CommandError } from './exit-code.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';
import { createReloader, type ReloaderOptions, type ReloadTrigger } from './reloader.ts';

/** The three ways to reload a running daemon. */
export interface Reloading {
  readonly byHttp: () => Promise<void>;
  /** Follows changes of the file until the signal is aborted. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface ReloadingDependencies {
  readonly machine: Machine;
  readonly logger: Logger;
  readonly metrics: Pick<SelfMetrics, 'configReloaded'>;
  /** Puts a configuration into force, or changes nothing and rejects with a `CommandError`. */
  readonly apply: (config: Config) => Promise<void>;
}

/** From now on SIGHUP reloads; the other two ways are the caller's to open. */
export function createReloading(
  options: ReloaderOptions,
  { autoReloadIntervalMs }: Pick<Flags, 'autoReloadIntervalMs'>,
  { machine, logger, metrics, apply }: ReloadingDependencies,
): Reloading {
  const reloader = createReloader(options, {
    machine,
    logger,
    apply,
    reloaded: (succeeded, wallMs) => {
      metrics.configReloaded(succeeded, wallMs);
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
  machine.onHangup(() => {
    void quietly('signal');
  });
  return {
    byHttp: async () => reloader.reload('http'),
    watch: async (signal) => {
      if (autoReloadIntervalMs > 0) {
        await watchConfig({ intervalMs: autoReloadIntervalMs }, watcher, signal);
      }
    },
  };
}
