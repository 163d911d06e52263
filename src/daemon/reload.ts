import pLimit from 'p-limit';
import { type ConfigFile, type IncludedFile, readConfigFile } from '../config/config-file.ts';
import { ConfigError } from '../config/diagnostic.ts';
import { type KeptConfig, parseKeeping } from '../config/kept-files.ts';
import type { Config } from '../model/config.ts';
import type { ReloadStatus } from '../model/status.ts';
import type { Logger } from '../model/telemetry.ts';
import { endOfRestAt, lastDayOfRest } from '../newrelic/rest/end-of-rest.ts';
import type { SelfMetrics } from '../publish/self-metrics.ts';
import {
  digestAt,
  follow,
  logWarnings,
  orCommandError,
  type WatchedFiles,
} from './config-files.ts';
import { type AccountPlatform, CommandError, type Platform } from './platform.ts';
import { accountsInUse } from './prepare-account.ts';

/** What asked for a reload; a word for the log. `start`: nothing has been read before. */
export type ReloadTrigger = 'start' | 'signal' | 'http' | 'file';

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

export interface ReloaderContext {
  readonly platform: AccountPlatform & Platform;
  readonly logger: Logger;
  readonly metrics: Pick<SelfMetrics, 'configReloaded'>;
  /** Puts a configuration into force, or changes nothing and rejects with a `CommandError`. */
  readonly apply: (config: Config) => Promise<void>;
}

/** How often a daemon without a configuration tries to get one. */
const missingWaitMs = 2000;
const mostFilesNamed = 5;
const correctFiles = 'correct these included files: the status page has their errors';
const lastSaid = 'what it last said stays in force; all other changes are';
const saysNothing =
  'it is left out: what it would select or exclude, entries of later files may have; correct it';
const waitsForFile = 'it has to be made, or mounted: with --config.wait the exporter waits for it';

/**
 * Brings the configuration from its file into force: the first one, and every later one. From now on
 * SIGHUP reloads.
 */
export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #context: ReloaderContext;
  readonly #oneAtATime = pLimit(1);
  #status: ReloadStatus;
  #files: WatchedFiles | undefined;
  /** What was read and is not active. */
  #known:
    | (Pick<ConfigFile, 'digest' | 'asked'> & { readonly parsed: Promise<KeptConfig> })
    | undefined;
  /** What is in force of included files. */
  #included: readonly IncludedFile[] = [];
  #waiting: Promise<string | undefined> | undefined;

  constructor(options: ReloaderOptions, context: ReloaderContext) {
    const nothing = { inForceSinceMs: undefined, lastAttemptMs: undefined, problem: undefined };
    this.#options = options;
    this.#context = context;
    const { configFile } = options;
    this.#status = { configFile, includedFiles: [], brokenFiles: [], ...nothing };
    context.platform.onHangup(() => {
      void this.#reloadQuietly('signal');
    });
  }

  status(): ReloadStatus {
    return this.#status;
  }

  /** Those of the active configuration; `undefined` if the last reload failed, or there was none. */
  get files(): WatchedFiles | undefined {
    return this.#files;
  }

  /**
   * Reads the configuration and makes it the active one. If anything is wrong with the file itself, the one before
   * stays, and this rejects with a `CommandError`. Resolves to what is wrong with files that it includes, which are
   * what they last said; to `undefined` if nothing is. Requests that come while a reload is under way share the next one.
   */
  async reload(trigger: ReloadTrigger): Promise<string | undefined> {
    this.#waiting ??= this.#oneAtATime(async () => this.#reloadNow(trigger));
    return this.#waiting;
  }

  /**
   * Waits for the first configuration if there is none, then follows changes of the file, until the
   * signal is aborted.
   */
  async watch(signal: AbortSignal): Promise<void> {
    const { autoReloadIntervalMs } = this.#options;
    if (!this.#isInForce()) await this.#reloadQuietly('start');
    const following = {
      files: () => this.#files,
      intervalMs: () => (this.#isInForce() ? autoReloadIntervalMs : missingWaitMs),
      reload: async () => this.#reloadQuietly('file'),
    };
    await follow(following, this.#context.platform, signal);
  }

  /** For triggers that expect no answer: the log has it. */
  async #reloadQuietly(trigger: ReloadTrigger): Promise<void> {
    try {
      await this.reload(trigger);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  }

  async #reloadNow(trigger: ReloadTrigger): Promise<string | undefined> {
    const { metrics, platform } = this.#context;
    this.#waiting = undefined;
    try {
      await this.#putIntoForce(trigger);
      const broken = this.#status.brokenFiles.map(({ problem }) => problem);
      return broken.length === 0 ? undefined : broken.join('\n');
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      const lastAttemptMs = platform.clock.wallMs();
      metrics.configReloaded(false, lastAttemptMs);
      this.#logFailure(trigger, problem);
      this.#status = { ...this.#status, lastAttemptMs, problem };
      this.#files = undefined;
      throw error;
    }
  }

  async #putIntoForce(trigger: ReloadTrigger): Promise<void> {
    const { platform, logger, metrics, apply } = this.#context;
    const { configFile } = this.#options;
    const { file, parsed } = await this.#read();
    const { config, warnings, broken, files: included } = parsed;
    // Before they are put into force, which takes a while: a change in the meantime is then seen.
    const files = await this.#watched(file, config);
    await apply(config);
    this.#known = undefined;
    logWarnings(warnings, configFile, logger);
    const nowMs = platform.clock.wallMs();
    warnOfEndOfRest(config, nowMs, logger);
    const names = broken.map(({ name }) => name);
    metrics.configReloaded(names.length === 0, nowMs, names);
    if (names.length > 0) {
      const facts = { trigger, count: names.length, examples: names.slice(0, mostFilesNamed) };
      logger.warn({ ...facts, remedy: correctFiles }, 'configuration taken in part');
    } else if (this.#isInForce()) logger.info({ trigger }, 'configuration reloaded');
    else if (trigger !== 'start') logger.info({ trigger }, 'configuration found');
    this.#files = files;
    const { includedFiles = [] } = config;
    const times = { inForceSinceMs: nowMs, lastAttemptMs: nowMs };
    const brokenFiles = broken.map(({ name, problem, isKept }) => ({
      name,
      problem: `${problem}\n${isKept ? lastSaid : saysNothing}`,
    }));
    this.#included = included;
    this.#status = { configFile, includedFiles, brokenFiles, ...times, problem: undefined };
  }

  /** The file, those that it includes, and those that it names. */
  async #watched(file: ConfigFile, config: Config): Promise<WatchedFiles> {
    const { platform } = this.#context;
    const { configFile } = this.#options;
    const { asked } = file;
    const named = filesNamedIn(config);
    const digestWith = async (digest: string): Promise<string> =>
      `${digest} ${await digestAt(named, platform)}`;
    return {
      digest: await digestWith(file.digest),
      look: async () => {
        try {
          return await digestWith((await readConfigFile(configFile, platform, asked)).digest);
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          return error.message;
        }
      },
    };
  }

  /**
   * Reads the file and what it includes. The same bytes are parsed only once, whether they are good or bad, so
   * it costs little to try them again and again. Rejects with a `CommandError`.
   */
  async #read(): Promise<{ readonly file: ConfigFile; readonly parsed: KeptConfig }> {
    const { platform } = this.#context;
    const { configFile, configWait } = this.#options;
    const before = this.#known?.asked;
    const remedy = configWait && !this.#isInForce() ? waitsForFile : undefined;
    const read = async () => readConfigFile(configFile, platform, before, remedy);
    const file = await orCommandError(read);
    const { digest, asked } = file;
    if (this.#known?.digest !== digest) this.#known = { digest, asked, parsed: this.#parse(file) };
    return { file, parsed: await this.#known.parsed };
  }

  async #parse(file: ConfigFile): Promise<KeptConfig> {
    const { platform } = this.#context;
    try {
      if (this.#isInForce()) refuseHuge(file, platform);
      return await orCommandError(async () => parseKeeping(file, this.#included, platform));
    } catch (error) {
      if (error instanceof CommandError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const message = `${this.#options.configFile}: the file could not be parsed: ${reason}`;
      throw new CommandError(1, message, { cause: error });
    }
  }

  #isInForce(): boolean {
    return this.#status.inForceSinceMs !== undefined;
  }

  /** A file is tried again and again: each problem with it is logged once. */
  #logFailure(trigger: ReloadTrigger, problem: string): void {
    const { logger, platform } = this.#context;
    const isInForce = this.#isInForce();
    if (trigger === 'file' && problem === this.#status.problem) return;
    if ((!isInForce && !this.#options.configWait) || platform.stopSignal.aborted) return;
    const remedy = isInForce
      ? 'the old configuration stays active; correct the file'
      : 'make or correct it: it is tried again every few seconds, and nothing is polled until then';
    const message = isInForce ? 'reload failed' : 'no usable configuration';
    logger.error({ trigger, problem, remedy }, message);
  }
}

/** More than ten thousand entries with all their fields need. */
const mostBytes = 256 * 1024 ** 2;
/** The rest is left for the active configuration and its values. */
const shareOfHeap = 0.6;
/** What a line, an item of a list or a field takes, as measured with files of many shapes. */
const bytesPerValue = 1500;

/** A full heap would end the process, and with it the active configuration, beside which it is parsed. */
function refuseHuge({ text, included }: ConfigFile, { heapBytes }: AccountPlatform): void {
  const limitBytes = Math.min(mostBytes, shareOfHeap * heapBytes);
  let restBytes = limitBytes;
  for (const each of [text, ...(included?.files ?? []).map((one) => one.text)]) {
    for (const character of each) if ('\n,:[{'.includes(character)) restBytes -= bytesPerValue;
  }
  if (restBytes >= 0) return;
  const limitMb = Math.floor(limitBytes / 1024 ** 2);
  throw new Error(`it takes more than ${limitMb} MB of memory: is it the right file?`);
}

/** Warns of the end of the REST API v2, from half a year before. */
function warnOfEndOfRest(config: Config, wallMs: number, logger: Logger): void {
  const { isUrgent, hasEnded, remedy } = endOfRestAt(wallMs);
  if (!isUrgent) return;
  const ends = hasEnded ? 'has ended' : 'will end';
  const message = `New Relic ${ends} the REST API v2, which the account is polled with`;
  for (const { account } of accountsInUse(config)) {
    if (account.source.kind !== 'rest') continue;
    logger.warn({ account: account.name, remedy, last_day: lastDayOfRest }, message);
  }
}

/** The CA bundles and proxy URLs of accounts in use. Keys are read again without a reload. */
function filesNamedIn(config: Config): readonly string[] {
  const paths = accountsInUse(config).flatMap(({ account: { caFile, proxyUrlFrom } }) => [
    caFile,
    proxyUrlFrom?.kind === 'file' ? proxyUrlFrom.path : undefined,
  ]);
  return [...new Set(paths)].filter((path) => path !== undefined);
}
