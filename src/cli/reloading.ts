import type { Logger } from '../model/telemetry.ts';
import { watchConfig } from './config-watcher.ts';
import type { Daemon } from './daemon.ts';
import { CommandError } from './exit-code.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';
import { createReloader, type ReloadTrigger } from './reloader.ts';

/** The three ways to reload a running daemon. */
export interface Reloading {
  readonly byHttp: () => Promise<void>;
  /** Follows changes of the file until the signal is aborted. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface ReloadingDependencies {
  readonly machine: Machine;
  readonly logger: Logger;
  readonly daemon: Daemon;
}

/** From now on SIGHUP reloads; the other two ways are the caller's to open. */
export function createReloading(
  path: string,
  { autoReloadIntervalMs }: Pick<Flags, 'autoReloadIntervalMs'>,
  { machine, logger, daemon }: ReloadingDependencies,
): Reloading {
  const reloader = createReloader(path, {
    machine,
    logger,
    apply: async (config) => daemon.apply(config),
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
  const changed = async (): Promise<void> => quietly('file');
  machine.onHangup(() => {
    void quietly('signal');
  });
  return {
    byHttp: async () => reloader.reload('http'),
    watch: async (signal) => {
      if (autoReloadIntervalMs === 0) return;
      const options = { path, intervalMs: autoReloadIntervalMs };
      await watchConfig(options, { machine, logger, changed }, signal);
    },
  };
}
