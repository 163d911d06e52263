import { sleep } from '../model/clock.ts';
import type { Config } from '../model/config.ts';
import type { ReloadStatus } from '../model/status.ts';
import type { Logger } from '../model/telemetry.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { ConfigReader, logWarnings } from './config-reader.ts';
import { digestAt, type WatchedFiles, watchFiles } from './file-watcher.ts';
import { type AccountPlatform, CommandError, type ProcessControl } from './platform.ts';
import { accountsInUse } from './prepare-account.ts';
import { createRestWarnings } from './rest-warnings.ts';

/** What asked for a reload; a word for the log. `start`: nothing has been read before. */
export type ReloadTrigger = 'start' | 'signal' | 'http' | 'file';

export interface ReloaderStatus extends ReloadStatus {
  /** The files of the active configuration; `undefined` if the last reload failed, or there was none. */
  readonly files: WatchedFiles | undefined;
}

export interface ReloaderOptions {
  readonly configFile: string;
  /**
   * Whether the daemon runs without a usable configuration and waits for one, so that its log has to
   * say why there is none; otherwise the process ends with the error of the first `reload`.
   */
  readonly configWait: boolean;
  /** How often to look whether the file has changed; 0 is never. */
  readonly autoReloadIntervalMs: number;
}

export interface ReloaderDependencies {
  readonly platform: AccountPlatform & Pick<ProcessControl, 'onHangup'>;
  readonly logger: Logger;
  readonly metrics: Pick<SelfMetrics, 'configReloaded'>;
  /** Puts a configuration into force, or changes nothing and rejects with a `CommandError`. */
  readonly apply: (config: Config) => Promise<void>;
}

/** How often a daemon without a configuration tries to get one. */
const waitMs = 2000;

/**
 * Brings the configuration from its file into force: the first one, and every later one. From now on
 * SIGHUP reloads.
 */
export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #dependencies: ReloaderDependencies;
  readonly #reader: ConfigReader;
  readonly #warnOfRest: (config: Config) => void;
  #status: ReloaderStatus;
  #current: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;

  constructor(options: ReloaderOptions, dependencies: ReloaderDependencies) {
    const { platform, logger } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#status = {
      configFile: options.configFile,
      inForceSinceMs: undefined,
      lastAttemptMs: undefined,
      problem: undefined,
      files: undefined,
    };
    this.#reader = new ConfigReader(options.configFile, platform);
    this.#warnOfRest = createRestWarnings(platform.clock, logger);
    platform.onHangup(() => {
      void this.#reloadQuietly('signal');
    });
  }

  status(): ReloaderStatus {
    return this.#status;
  }

  /**
   * Reads the configuration and makes it the active one. If anything is wrong with it, the one before
   * stays, and this rejects with a `CommandError`. Requests that come while a reload is under way share
   * the next one.
   */
  async reload(trigger: ReloadTrigger): Promise<void> {
    if (this.#waiting !== undefined) return this.#waiting;
    const next = this.#current.then(async () => this.#reloadNow(trigger));
    this.#waiting = next;
    // Only those who asked for this reload are told of its failure, not the next reload.
    this.#current = next.catch(() => {});
    return next;
  }

  /**
   * Waits for the first configuration if there is none, then follows changes of the file, until the
   * signal is aborted.
   */
  async watch(signal: AbortSignal): Promise<void> {
    try {
      await this.#untilInForce(signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const { autoReloadIntervalMs: intervalMs } = this.#options;
    if (intervalMs === 0) return;
    const { platform } = this.#dependencies;
    const loaded = (): WatchedFiles | undefined => this.#status.files;
    const reload = async (): Promise<void> => this.#reloadQuietly('file');
    await watchFiles({ intervalMs, platform, loaded, reload }, signal);
  }

  async #untilInForce(signal: AbortSignal): Promise<void> {
    for (let trigger: ReloadTrigger = 'start'; !this.#isInForce(); trigger = 'file') {
      await this.#reloadQuietly(trigger);
      if (!this.#isInForce()) await sleep(this.#dependencies.platform.clock, waitMs, signal);
    }
  }

  /** For triggers that expect no answer: the log has it. */
  async #reloadQuietly(trigger: ReloadTrigger): Promise<void> {
    try {
      await this.reload(trigger);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  }

  async #reloadNow(trigger: ReloadTrigger): Promise<void> {
    const { metrics, platform } = this.#dependencies;
    this.#waiting = undefined;
    try {
      await this.#putIntoForce(trigger);
    } catch (error) {
      metrics.configReloaded(false, platform.clock.wallMs());
      const { problem: before } = this.#status;
      const problem = error instanceof CommandError ? error.message : before;
      const lastAttemptMs = platform.clock.wallMs();
      this.#status = { ...this.#status, lastAttemptMs, problem, files: undefined };
      if (error instanceof CommandError) this.#logFailure(trigger, error.message, before);
      throw error;
    }
  }

  async #putIntoForce(trigger: ReloadTrigger): Promise<void> {
    const { platform, logger, metrics, apply } = this.#dependencies;
    const { config, warnings, digest } = await this.#reader.read();
    // Before they are put into force, which takes a while: a change in the meantime is then seen.
    const files = new Map([
      [this.#options.configFile, digest],
      ...(await namedFiles(config, platform)),
    ]);
    await apply(config);
    this.#reader.isActive();
    logWarnings(warnings, this.#options.configFile, logger);
    this.#warnOfRest(config);
    const nowMs = platform.clock.wallMs();
    metrics.configReloaded(true, nowMs);
    if (this.#isInForce()) logger.info({ trigger }, 'configuration reloaded');
    else if (trigger !== 'start') logger.info({ trigger }, 'configuration found');
    const { configFile } = this.#options;
    const times = { inForceSinceMs: nowMs, lastAttemptMs: nowMs };
    this.#status = { configFile, ...times, problem: undefined, files };
  }

  #isInForce(): boolean {
    return this.#status.inForceSinceMs !== undefined;
  }

  /** A file is tried again and again: each problem with it is logged once. */
  #logFailure(trigger: ReloadTrigger, problem: string, before: string | undefined): void {
    const { logger, platform } = this.#dependencies;
    const isInForce = this.#isInForce();
    if (trigger === 'file' && problem === before) return;
    if ((!isInForce && !this.#options.configWait) || platform.stopSignal.aborted) return;
    const remedy = isInForce
      ? 'the old configuration stays active; correct the file'
      : 'correct it: it is tried again every few seconds, and nothing is polled until then';
    const message = isInForce ? 'reload failed' : 'no usable configuration';
    logger.error({ trigger, problem, remedy }, message);
  }
}

/** The CA bundles and proxy URLs of accounts in use. Keys are read again without a reload. */
async function namedFiles(
  config: Config,
  platform: AccountPlatform,
): Promise<readonly (readonly [string, string])[]> {
  const paths = accountsInUse(config).flatMap(({ account: { caFile, proxyUrlFrom } }) => [
    caFile,
    proxyUrlFrom?.kind === 'file' ? proxyUrlFrom.path : undefined,
  ]);
  return Promise.all(
    [...new Set(paths)]
      .filter((path) => path !== undefined)
      .map(async (path) => [path, await digestAt(path, platform)] as const),
  );
}
