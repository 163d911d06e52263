import { compileConfig } from '../config/compile-config.ts';
import { ConfigError } from '../config/diagnostic.ts';
import { readConfigFile } from '../config/load-config.ts';
import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import { CommandError } from './exit-code.ts';
import { logWarnings } from './load.ts';
import type { Machine } from './machine.ts';
import { type WatchedFiles, watchedFilesOf } from './watched-files.ts';

/** What asked for a reload; a word for the log. */
export type ReloadTrigger = 'signal' | 'http' | 'file';

export interface Reloader {
  /**
   * Reads the configuration again and puts it into force; rejects with a `CommandError`, and the old
   * one stays in force, if anything about it is wrong. Requests that come while a reload is under
   * way share the next one.
   */
  reload(trigger: ReloadTrigger): Promise<void>;
  /** `undefined` when the last reload failed, or when it is not known. */
  filesInForce(): WatchedFiles | undefined;
}

export interface ReloaderDependencies {
  readonly machine: Machine;
  readonly logger: Logger;
  /** Puts a configuration into force, or changes nothing and rejects with a `CommandError`. */
  readonly apply: (config: Config) => Promise<void>;
  readonly reloaded: (succeeded: boolean, wallMs: number) => void;
}

export interface ReloaderOptions {
  readonly path: string;
  /** What the files held of the configuration that is in force at the start. */
  readonly initialFiles?: WatchedFiles | undefined;
}

export function createReloader(
  { path, initialFiles }: ReloaderOptions,
  dependencies: ReloaderDependencies,
): Reloader {
  const { machine, logger, apply, reloaded } = dependencies;
  let filesInForce = initialFiles;
  /** A file is tried again and again: what is wrong with it is said once. */
  let lastProblem: string | undefined;
  let current: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;

  const reloadNow = async (trigger: ReloadTrigger): Promise<void> => {
    waiting = undefined;
    try {
      const file = await readConfigFile(path, machine);
      const { config: plain, warnings } = await machine.parseConfig(file);
      const config = await compileConfig(plain, machine);
      const files = await watchedFilesOf({ path, digest: file.digest }, config, machine);
      await apply(config);
      filesInForce = files;
      lastProblem = undefined;
      logWarnings(warnings, logger);
    } catch (error) {
      filesInForce = undefined;
      reloaded(false, machine.clock.wallMs());
      if (!(error instanceof ConfigError) && !(error instanceof CommandError)) throw error;
      const problem = error.message;
      const isNews = trigger !== 'file' || problem !== lastProblem;
      if (isNews && !machine.stopSignal.aborted) {
        const remedy = 'the old configuration stays in force; correct the file';
        logger.error({ trigger, problem, remedy }, 'reload failed');
      }
      lastProblem = problem;
      throw new CommandError(1, error.message, { cause: error });
    }
    reloaded(true, machine.clock.wallMs());
    logger.info({ trigger }, 'configuration reloaded');
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
  };
}
