import { ConfigError, type Diagnostic, firstOf } from '../config/diagnostic.ts';
import {
  type ConfigFile,
  type LoadedConfig,
  parseConfigFile,
  readConfigFile,
} from '../config/load-config.ts';
import { mayPass } from '../config/read-file.ts';
import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import { CommandError, type Files, type Machine } from './platform.ts';

export interface ConfigReader {
  /**
   * Reads the file. The same bytes are parsed only once, whether they are good or bad, so it costs
   * little to try a file again and again. Rejects with a `CommandError`.
   */
  read(): Promise<LoadedConfig>;
  /**
   * Says that this configuration is loaded: the next one is refused if parsing it could take too much
   * memory beside it.
   */
  inForce(config: Config): void;
}

/** Reads one configuration file, again and again. */
export function createConfigReader(path: string, platform: Machine & Files): ConfigReader {
  let inForce: Config | undefined;
  let known: { readonly digest: string; readonly loaded: Promise<LoadedConfig> } | undefined;

  const parse = async (file: ConfigFile): Promise<LoadedConfig> => {
    try {
      if (inForce !== undefined) refuseHuge(file, platform);
      return await parseConfigFile(file, platform);
    } catch (error) {
      if (error instanceof ConfigError) throw fileCommandError(error);
      throw new CommandError(
        1,
        `${path}: the file could not be parsed: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      );
    }
  };

  return {
    read: async () => {
      const file = await orCommandError(async () => readConfigFile(path, platform));
      if (known?.digest !== file.digest) known = { digest: file.digest, loaded: parse(file) };
      return known.loaded;
    },
    inForce: (config) => {
      inForce = config;
      known = undefined;
    },
  };
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
export function logWarnings(warnings: readonly Diagnostic[], file: string, logger: Logger): void {
  const { shown, more } = firstOf(warnings);
  for (const { line, column, message, help } of shown) {
    logger.warn({ file, line, column, problem: message, remedy: help }, 'configuration warning');
  }
  if (more > 0) logger.warn({ file, more }, 'more configuration warnings: see check-config');
}

/** A file that cannot be used: 2, unless only its volume does not answer, as another start may help. */
export function fileCommandError(error: Error, message: string = error.message): CommandError {
  return new CommandError(mayPass(error) ? 1 : 2, message, { cause: error });
}
