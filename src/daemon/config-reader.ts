import { compileConfig } from '../config/compile-config.ts';
import {
  ConfigError,
  type Diagnostic,
  firstOf,
  renderDiagnostics,
  type ShownDiagnostics,
} from '../config/diagnostic.ts';
import {
  type ConfigFile,
  type LoadedConfig,
  loadConfig,
  readConfigFile,
} from '../config/load-config.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import { fileCommandError } from './file-error.ts';
import { CommandError, type PlainParsed, type Platform } from './platform.ts';

/** A configuration as the file holds it, ready for use. */
export interface ReadConfig {
  readonly config: Config;
  readonly warnings: ShownDiagnostics;
  /** The digest of the bytes that it was read from. */
  readonly digest: string;
}

export interface ConfigReader {
  /**
   * Reads the file. The same bytes are parsed only once, whether they are good or bad, so it costs
   * little to try a file again and again. Rejects with a `CommandError`.
   *
   * @param isAsked whether somebody waits for the result: then a thread that failed is started again
   *   at once
   */
  read(isAsked: boolean): Promise<ReadConfig>;
  /** Says that what was read last is in force: the next one shares the memory of its patterns. */
  inForce(): void;
}

type Outcome =
  | { readonly kind: 'good'; readonly read: ReadConfig }
  /** The text is wrong, and stays wrong until it changes. */
  | { readonly kind: 'refused'; readonly error: CommandError }
  /** The text could not be parsed, for want of memory or time. */
  | { readonly kind: 'failed'; readonly error: CommandError; readonly atMs: number };

/** Each try at a thread that cannot run costs time and memory again. */
const failedForMs = 60_000;

/** Reads one configuration file, again and again. The first time nothing else is running: no thread. */
export function createConfigReader(path: string, platform: Platform): ConfigReader {
  const { clock } = platform;
  let parse = parseHere;
  let inForce: Config | undefined;
  let known: { readonly digest: string; readonly outcome: Outcome } | undefined;

  const isStillTrue = (outcome: Outcome, isAsked: boolean): boolean =>
    outcome.kind !== 'failed' || (!isAsked && clock.monotonicMs() - outcome.atMs < failedForMs);
  const outcomeOf = async (file: ConfigFile): Promise<Outcome> => {
    const parser = parse;
    parse = platform.parseConfig;
    try {
      const { config: plain, warnings } = await parser(file);
      const config = await compileConfig(plain, platform, inForce);
      return { kind: 'good', read: { config, warnings, digest: file.digest } };
    } catch (error) {
      if (error instanceof ConfigError) return { kind: 'refused', error: fileCommandError(error) };
      if (!(error instanceof CommandError)) throw error;
      if (error.exitCode === 2) return { kind: 'refused', error };
      return { kind: 'failed', error, atMs: clock.monotonicMs() };
    }
  };

  return {
    read: async (isAsked) => {
      const file = await orCommandError(async () => readConfigFile(path, platform));
      const isKnown = known?.digest === file.digest && isStillTrue(known.outcome, isAsked);
      const outcome = known !== undefined && isKnown ? known.outcome : await outcomeOf(file);
      known = { digest: file.digest, outcome };
      if (outcome.kind !== 'good') throw outcome.error;
      return outcome.read;
    },
    inForce: () => {
      if (known?.outcome.kind === 'good') inForce = known.outcome.read.config;
      known = undefined;
    },
  };
}

async function parseHere(file: ConfigFile): Promise<PlainParsed> {
  const { config, warnings } = await parseConfig(file.text, file);
  return { config, warnings: firstOf(warnings) };
}

/** Reads the configuration for a command; all its errors become one message and exit code 2. */
export async function loadForCommand(path: string, platform: Platform): Promise<LoadedConfig> {
  return orCommandError(async () => loadConfig(path, platform));
}

export async function orCommandError<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof ConfigError ? fileCommandError(error) : error;
  }
}

/** @param file the path of the configuration file */
export function logWarnings({ shown, more }: ShownDiagnostics, file: string, logger: Logger): void {
  for (const { line, column, message, help } of shown) {
    logger.warn({ file, line, column, problem: message, remedy: help }, 'configuration warning');
  }
  if (more > 0) logger.warn({ file, more }, 'more configuration warnings: see check-config');
}

export function renderWarnings(warnings: readonly Diagnostic[]): string {
  return warnings.length === 0 ? '' : `${renderDiagnostics(warnings)}\n`;
}
