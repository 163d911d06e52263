import { dirname, resolve } from 'node:path';
import type { PlainConfig } from '../model/config.ts';
import { type CompileConfigDependencies, compileConfig } from './compile-config.ts';
import { ConfigError, diagnosticsOf, errorAt } from './diagnostic.ts';
import { type ParsedConfig, parseConfig } from './parse-config.ts';
import { decodeUtf8, type ReadFile, readFailure, readRemedy } from './read-file.ts';

/** A file of ten thousand applications is smaller. */
const largestFileBytes = 1024 * 1024;

export interface LoadConfigDependencies extends CompileConfigDependencies {
  readonly readFile: ReadFile;
}

function fileError(path: string, message: string, help?: string): ConfigError {
  return new ConfigError(diagnosticsOf(path, '', [errorAt(undefined, message, help)]));
}

/**
 * Reads the configuration file at `path` as plain data. Rejects with a `ConfigError`, and nothing
 * else, if the file cannot be read or holds any error.
 */
export async function loadPlainConfig(
  path: string,
  { readFile }: Pick<LoadConfigDependencies, 'readFile'>,
): Promise<ParsedConfig<PlainConfig>> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const help = readRemedy(error, 'name the configuration file with --config.file');
    throw fileError(path, `the configuration file ${readFailure(error)}`, help);
  }
  if (bytes.byteLength > largestFileBytes) {
    throw fileError(path, 'the configuration file is larger than 1 MiB', 'is it the right file?');
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    throw fileError(path, 'the configuration file is not UTF-8', 'save it with that encoding');
  }
  return parseConfig(text, { fileName: path, directory: dirname(resolve(path)) });
}

/** Reads the configuration file at `path`. Rejects as {@link loadPlainConfig} does. */
export async function loadConfig(
  path: string,
  dependencies: LoadConfigDependencies,
): Promise<ParsedConfig> {
  const { config, warnings } = await loadPlainConfig(path, dependencies);
  return { config: await compileConfig(config, dependencies), warnings };
}
