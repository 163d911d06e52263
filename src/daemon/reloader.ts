import { ConfigError } from '../config/diagnostic.ts';
import { sleep } from '../model/clock.ts';
import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import type { ConfigStatus } from '../server/readiness.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { createConfigReader } from './config-reader.ts';
import { type WatchedFiles, watchConfig, watchedFilesOf } from './config-watcher.ts';
import { logWarnings } from './load.ts';
import { CommandError, type Platform } from './platform.ts';

/** What asked for a reload; a word for the log. `start`: nothing has been read before. */
export type ReloadTrigger = 'start' | 'signal' | 'http' | 'file';

export interface Reloader {
  /**
   * Reads the configuration, for the first time or again, and puts it into force. Rejects with a
   * `CommandError`, and what is in force stays so, if anything about it is wrong. Requests that come
   * while a reload is under way share the next one.
   */
  reload(trigger: ReloadTrigger): Promise<void>;
  /** `undefined` when the last reload failed, or there was none. */
  filesInForce(): WatchedFiles | undefined;
  status(): ConfigStatus;
}

export interface ReloaderDependencies {
  readonly platform: Platform;
  readonly logger: Logger;
  /** Puts a configuration into force, or changes nothing and rejects with a `CommandError`. */
  readonly apply: (config: Config) => Promise<void>;
  readonly reloaded: (succeeded: boolean, wallMs: number) => void;
}

export interface ReloaderOptions {
  readonly path: string;
  /**
   * Whether the process goes on without a configuration, so that its log has to say why there is none;
   * otherwise the process ends with what `reload` rejects with.
   */
  readonly waits: boolean;
}

export function createReloader(
  { path, waits }: ReloaderOptions,
  { platform, logger, apply, reloaded }: ReloaderDependencies,
): Reloader {
  const reader = createConfigReader(path, platform);
  let isInForce = false;
  let filesInForce: WatchedFiles | undefined;
  /** A file is tried again and again: what is wrong with it is said once. */
  let lastProblem: string | undefined;
  let current: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;

  const isNews = (trigger: ReloadTrigger, problem: string): boolean =>
    (trigger !== 'file' || problem !== lastProblem) &&
    (isInForce || waits) &&
    !platform.stopSignal.aborted;
  const putIntoForce = async (trigger: ReloadTrigger): Promise<void> => {
    const { config, warnings, digest } = await reader.read(trigger !== 'file');
    // Before they are put into force, which takes a while: what changes meanwhile is seen.
    const files = await watchedFilesOf({ path, digest }, config, platform);
    await apply(config);
    reader.forget();
    filesInForce = files;
    lastProblem = undefined;
    logWarnings(warnings, logger);
  };
  const reloadNow = async (trigger: ReloadTrigger): Promise<void> => {
    waiting = undefined;
    try {
      await putIntoForce(trigger);
    } catch (error) {
      filesInForce = undefined;
      reloaded(false, platform.clock.wallMs());
      if (!(error instanceof ConfigError) && !(error instanceof CommandError)) throw error;
      const problem = error.message;
      if (isNews(trigger, problem)) logProblem({ trigger, problem, isInForce }, logger);
      lastProblem = problem;
      const exitCode = error instanceof CommandError ? error.exitCode : 2;
      throw new CommandError(exitCode, problem, { cause: error });
    }
    reloaded(true, platform.clock.wallMs());
    if (isInForce) logger.info({ trigger }, 'configuration reloaded');
    else if (trigger !== 'start') logger.info({ trigger }, 'configuration found');
    isInForce = true;
  };

  return {
    reload: (trigger) => {
      if (waiting !== undefined) return waiting;
      const next = current.then(() => reloadNow(trigger));
      waiting = next;
      // A failure belongs to whoever asked for it, not to the next reload.
      current = next.catch(() => {});
      return next;
    },
    filesInForce: () => filesInForce,
    status: () => ({ isInForce, problem: lastProblem }),
  };
}

function logProblem(
  {
    isInForce,
    ...facts
  }: {
    readonly trigger: ReloadTrigger;
    readonly problem: string;
    readonly isInForce: boolean;
  },
  logger: Logger,
): void {
  if (isInForce) {
    const remedy = 'the old configuration stays in force; correct the file';
    logger.error({ ...facts, remedy }, 'reload failed');
    return;
  }
  const remedy =
    'correct it: it is tried again every few seconds, and nothing is polled until then';
  logger.error({ ...facts, remedy }, 'no usable configuration');
}

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

export interface ReloadingOptions {
  readonly configFile: string;
  /** Whether the daemon runs without a usable configuration, and waits for one. */
  readonly configWait: boolean;
  /** How often the file is looked at for changes; 0 is never. */
  readonly autoReloadIntervalMs: number;
}

export interface ReloadingDependencies {
  readonly platform: Platform;
  readonly logger: Logger;
  readonly metrics: Pick<SelfMetrics, 'configReloaded'>;
  /** Puts a configuration into force, or changes nothing and rejects with a `CommandError`. */
  readonly apply: (config: Config) => Promise<void>;
}

/** How often is tried what nothing can be polled without. */
const waitMs = 2000;

/** From now on SIGHUP reloads; the other ways are the caller's to open. */
export function createReloading(
  { configFile, configWait, autoReloadIntervalMs }: ReloadingOptions,
  { platform, logger, metrics, apply }: ReloadingDependencies,
): Reloading {
  const reloader = createReloader(
    { path: configFile, waits: configWait },
    {
      platform,
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
      if (isWaiting()) await sleep(platform.clock, waitMs, signal);
    }
  };
  const watcher = {
    platform,
    logger,
    inForce: () => reloader.filesInForce(),
    reload: async () => quietly('file'),
  };
  platform.onHangup(() => {
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
