import { dirname, resolve } from 'node:path';
import { type CompileConfigDependencies, compileConfig, createBreaks } from './compile-config.ts';
import { ConfigError, diagnosticsOf, errorAt } from './diagnostic.ts';
import type { ConfigSource } from './inspect-config.ts';
import { type ParsedConfig, parseConfig } from './parse-config.ts';
import { decodeUtf8, digestOf, type ReadFile, readFailure, readRemedy } from './read-file.ts';

/** A file of ten thousand applications is smaller. */
const largestFileBytes = 1024 * 1024;

export interface LoadConfigDependencies extends CompileConfigDependencies {
  readonly readFile: ReadFile;
}

/** A configuration file that was read but not parsed. */
export interface ConfigFile extends ConfigSource {
  readonly text: string;
  readonly digest: string;
}

export interface LoadedConfig extends ParsedConfig {
  /** The digest of the bytes of the file. */
  readonly digest: string;
}

/** A file that cannot be used as a whole. */
export function fileError(
  path: string,
  message: string,
  help: string,
  options?: ErrorOptions,
): ConfigError {
  return new ConfigError(diagnosticsOf(path, '', [errorAt(undefined, message, help)]), [], options);
}

/** What messages call a file, and the flag that names it. */
export interface FileKind {
  readonly name: string;
  readonly flag: string;
}

const mainFile: FileKind = { name: 'configuration file', flag: '--config.file' };

/**
 * Reads the file at `path`, whatever text it holds. Rejects with a `ConfigError`, and nothing else, if
 * it cannot be read.
 */
export async function readConfigFile(
  path: string,
  { readFile }: Pick<LoadConfigDependencies, 'readFile'>,
  { name, flag }: FileKind = mainFile,
): Promise<ConfigFile> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const help = readRemedy(error, `name the ${name} with ${flag}`);
    throw fileError(path, `the ${name} ${readFailure(error)}`, help, { cause: error });
  }
  if (bytes.byteLength > largestFileBytes) {
    throw fileError(path, `the ${name} is larger than 1 MiB`, 'is it the right file?');
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    throw fileError(path, `the ${name} is not UTF-8`, 'save it with that encoding');
  }
  return { text, digest: digestOf(bytes), fileName: path, directory: dirname(resolve(path)) };
}

/**
 * Reads the configuration file at `path`. Rejects with a `ConfigError`, and nothing else, if the file
 * cannot be read or has errors.
 */
export async function loadConfig(
  path: string,
  dependencies: LoadConfigDependencies,
): Promise<LoadedConfig> {
  return parseConfigFile(await readConfigFile(path, dependencies), dependencies);
}

/** Makes a configuration of a file that was read. Rejects with a `ConfigError` if it has errors. */
export async function parseConfigFile(
  file: ConfigFile,
  dependencies: CompileConfigDependencies,
): Promise<LoadedConfig> {
  const { config, warnings } = await parseConfig(file.text, file, createBreaks(dependencies));
  return { config: await compileConfig(config, dependencies), warnings, digest: file.digest };
}
