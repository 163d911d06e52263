import { sleep } from '../model/clock.ts';
import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import type { ConfigStatus } from '../server/readiness.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { watchConfig } from './config-watcher.ts';
import { CommandError } from './exit-code.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';
import { createReloader, type ReloadTrigger } from './reloader.ts';

/** All ways in which a daemon gets its configuration: the first one, and every other. */
export interface Reloading {
  /** Puts the first one into force; rejects with a `CommandError` if that is not possible. */
  readonly start: () => Promise<void>;
  readonly byHttp: () => Promise<void>;
  readonly status: () => ConfigStatus;
  /**
   * Waits for the first one if there is none, then follows changes of the file, until the signal is
   * aborted.
   */
  watch(signal: AbortSignal): Promise<void>;
}

export interface ReloadingDependencies {
  readonly machine: Machine;
  readonly logger: Logger;
  readonly metrics: Pick<SelfMetrics, 'configReloaded'>;
  /** Puts a configuration into force, or changes nothing and rejects with a `CommandError`. */
  readonly apply: (config: Config) => Promise<void>;
}

/** How often is tried what nothing can be polled without. */
const waitMs = 2000;

/** From now on SIGHUP reloads; the other ways are the caller's to open. */
export function createReloading(
  {
    configFile,
    configWait,
    autoReloadIntervalMs,
  }: Pick<Flags, 'configFile' | 'configWait' | 'autoReloadIntervalMs'>,
  { machine, logger, metrics, apply }: ReloadingDependencies,
): Reloading {
  const reloader = createReloader(
    { path: configFile, waits: configWait },
    {
      machine,
      logger,
      apply,
      reloaded: (succeeded, wallMs) => {
        metrics.configReloaded(succeeded, wallMs);
      },
    },
  );
  // What was wrong is in the log by then, and nobody waits for these.
  const quietly = async (trigger: ReloadTrigger): Promise<void> => {
    try {
      await reloader.reload(trigger);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  };
  const isWaiting = (): boolean => !reloader.status().isInForce;
  const untilInForce = async (signal: AbortSignal): Promise<void> => {
    for (let trigger: ReloadTrigger = 'start'; isWaiting(); trigger = 'file') {
      await quietly(trigger);
      if (isWaiting()) await sleep(machine.clock, waitMs, signal);
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
    start: async () => reloader.reload('start'),
    byHttp: async () => reloader.reload('http'),
    status: () => reloader.status(),
    watch: async (signal) => {
      try {
        await untilInForce(signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      if (autoReloadIntervalMs > 0) {
        await watchConfig({ intervalMs: autoReloadIntervalMs }, watcher, signal);
      }
    },
  };
}
