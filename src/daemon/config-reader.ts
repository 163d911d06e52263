import { ConfigError, type Diagnostic, firstOf } from '../config/diagnostic.ts';
import {
  type ConfigFile,
  type LoadedConfig,
  parseConfigFile,
  readConfigFile,
} from '../config/load-config.ts';
import { mayPass } from '../config/read-file.ts';
import type { Logger } from '../model/telemetry.ts';
import { CommandError, type Files, type Machine } from './platform.ts';

/** Reads one configuration file, again and again. */
export class ConfigReader {
  readonly #path: string;
  readonly #platform: Machine & Files;
  #hasActive = false;
  #known: { readonly digest: string; readonly loaded: Promise<LoadedConfig> } | undefined;

  constructor(path: string, platform: Machine & Files) {
    this.#path = path;
    this.#platform = platform;
  }

  /**
   * Reads the file. The same bytes are parsed only once, whether they are good or bad, so it costs
   * little to try a file again and again. Rejects with a `CommandError`.
   */
  async read(): Promise<LoadedConfig> {
    const file = await orCommandError(async () => readConfigFile(this.#path, this.#platform));
    if (this.#known?.digest !== file.digest) {
      this.#known = { digest: file.digest, loaded: this.#parse(file) };
    }
    return this.#known.loaded;
  }

  /**
   * Says that what was read is active: the next one is refused if parsing it could take too much memory
   * beside it.
   */
  isActive(): void {
    this.#hasActive = true;
    this.#known = undefined;
  }

  async #parse(file: ConfigFile): Promise<LoadedConfig> {
    try {
      if (this.#hasActive) refuseHuge(file, this.#platform);
      return await parseConfigFile(file, this.#platform);
    } catch (error) {
      if (error instanceof ConfigError) throw fileCommandError(error);
      const reason = error instanceof Error ? error.message : String(error);
      const message = `${this.#path}: the file could not be parsed: ${reason}`;
      throw new CommandError(1, message, { cause: error });
    }
  }
}

/** More than ten thousand entries with all their fields need. */
const mostBytes = 256 * 1024 ** 2;
/** The rest is left for the active configuration and its values. */
const shareOfHeap = 0.6;
/** What a line, an item of a list or a field takes, as measured with files of many shapes. */
const bytesPerValue = 1500;

/** A full heap would end the process, and with it the active configuration. */
function refuseHuge({ text }: ConfigFile, { heapBytes }: Machine): void {
  const limitBytes = Math.min(mostBytes, shareOfHeap * heapBytes);
  let values = 0;
  for (const character of text) if ('\n,:[{'.includes(character)) values += 1;
  if (values * bytesPerValue <= limitBytes) return;
  const limitMb = Math.floor(limitBytes / 1024 ** 2);
  throw new Error(`it takes more than ${limitMb} MB of memory: is it the right file?`);
}

export async function orCommandError<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof ConfigError ? fileCommandError(error) : error;
  }
}

/** @param file the path of the configuration file */
export function logWarnings(
  warnings: readonly Diagnostic[],
  file: string,
  logger: Logger,
  kind = 'configuration',
): void {
  const { shown, more } = firstOf(warnings);
  for (const { line, column, message, help } of shown) {
    logger.warn({ file, line, column, problem: message, remedy: help }, `${kind} warning`);
  }
  if (more > 0) logger.warn({ file, more }, `more ${kind} warnings: see check-config`);
}

/** A file that cannot be used: 2, unless only its volume does not answer, as another start may help. */
export function fileCommandError(error: Error, message: string = error.message): CommandError {
  return new CommandError(mayPass(error) ? 1 : 2, message, { cause: error });
}
