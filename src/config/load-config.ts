import { dirname, resolve } from 'node:path';
import type { Config, PlainConfig } from '../model/config.ts';
import {
  buildConfig,
  type CompileConfigDependencies,
  compileConfig,
  createBreaks,
} from './build-config.ts';
import { configWarnings } from './config-warnings.ts';
import {
  ConfigError,
  createPlacer,
  type Diagnostic,
  diagnosticsOf,
  errorAt,
  type Place,
  type Problem,
} from './diagnostic.ts';
import { metricProblems } from './metric-problems.ts';
import { nerdgraphProblems } from './nerdgraph-problems.ts';
import { patternProblems } from './pattern-problems.ts';
import { decodeUtf8, digestOf, type ReadFile, readFailure, readRemedy } from './read-file.ts';
import { readYaml } from './read-yaml.ts';
import { foreignFile, referenceProblems } from './reference-problems.ts';
import { configJsonSchema, fileSchema } from './schema.ts';
import { type FoundSecrets, findSecrets } from './secret-problems.ts';
import { shapeProblems } from './shape-problems.ts';
import { type At, createAt, type FileMap, plainOf, type Span } from './yaml-node.ts';

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
  return new ConfigError(diagnosticsOf(path, '', [errorAt(undefined, message, help)]), options);
}

/** What messages call a file, and the flag that names it. */
export interface FileKind {
  readonly name: string;
  readonly flag: string;
}

const mainFile: FileKind = { name: 'configuration file', flag: '--config.file' };

/** Reads a file, whatever text it holds. Rejects with a `ConfigError`, and nothing else, if that fails. */
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

/** Reads the configuration file. Rejects with a `ConfigError`, and nothing else, if it has errors. */
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

/** A configuration without errors. */
export interface ParsedConfig<Parsed extends PlainConfig = Config> {
  readonly config: Parsed;
  readonly warnings: readonly Diagnostic[];
}

/** Parses the text of a configuration file into plain data. Rejects with a `ConfigError`, and nothing else. */
export async function parseConfig(
  text: string,
  source: ConfigSource,
  takeBreak?: () => Promise<void>,
): Promise<ParsedConfig<PlainConfig>> {
  const { config, errors, warnings, diagnose } = await inspectConfig(text, source, takeBreak);
  if (config === undefined || errors.length > 0) throw new ConfigError(diagnose(errors));
  return { config, warnings: diagnose(warnings) };
}

export interface ConfigSource {
  /** The name of the file in messages. */
  readonly fileName: string;
  /** Absolute. Relative paths in the file are resolved against it. */
  readonly directory: string;
}

/** All that the text of a configuration file tells. */
export interface InspectedConfig {
  /** `undefined` if the file has not the shape of a configuration. It may have errors all the same. */
  readonly config: PlainConfig | undefined;
  readonly errors: readonly Problem[];
  /** Only looked for if there are no errors. */
  readonly warnings: readonly Problem[];
  /** What the file says, whether it has errors or not; `undefined` if it is no map in YAML. */
  readonly root: FileMap | undefined;
  /** The values of the file, with their places. */
  readonly at: At;
  /** Problems with this file, whoever found them, ready to print. */
  readonly diagnose: (problems: readonly Problem[]) => readonly Diagnostic[];
  /** Where a value of the file is, ready to print. */
  readonly placeOf: (span: Span | undefined) => Place;
}

type Findings = Pick<InspectedConfig, 'config' | 'errors' | 'warnings'>;

async function findingsOf(
  text: string,
  root: FileMap,
  secrets: FoundSecrets,
  directory: string,
  takeBreak: () => Promise<void>,
): Promise<Findings> {
  await takeBreak();
  const parsed = fileSchema.safeParse(plainOf(root));
  await takeBreak();
  const others = [
    ...(parsed.success ? [] : shapeProblems(root, parsed.error, configJsonSchema(), text)),
    ...referenceProblems(root),
    ...metricProblems(root),
    ...(parsed.success ? nerdgraphProblems(parsed.data, createAt(root)) : []),
    ...(await patternProblems(root, takeBreak)),
  ];
  // An API key in the file is reported once, whatever else is wrong in the same place.
  const taken = new Set(secrets.problems.map(({ span }) => span?.start));
  const free = others.filter(({ span }) => span === undefined || !taken.has(span.start));
  const errors = [...secrets.problems, ...free];
  if (!parsed.success) return { config: undefined, errors, warnings: [] };
  await takeBreak();
  const config = buildConfig(parsed.data, directory);
  const warnings = errors.length === 0 ? configWarnings(text, root, parsed.data, config) : [];
  return { config, errors, warnings };
}

/** Finds everything that is wrong or odd in the text of a configuration file; it reads no other file. */
export async function inspectConfig(
  text: string,
  { fileName, directory }: ConfigSource,
  takeBreak: () => Promise<void> = async () => {},
): Promise<InspectedConfig> {
  const { root, problems } = readYaml(text, 'apps');
  const secrets = root === undefined ? { problems: [], spans: [] } : findSecrets(root);
  const diagnose = (found: readonly Problem[]): readonly Diagnostic[] =>
    diagnosticsOf(fileName, text, found, secrets.spans);
  const placeOf = createPlacer(fileName, text, secrets.spans);
  const foreign = root === undefined ? undefined : foreignFile(root);
  if (root === undefined || foreign !== undefined) {
    const nothing = { config: undefined, warnings: [], root: undefined };
    const errors = foreign === undefined ? problems : [foreign, ...secrets.problems];
    return { ...nothing, errors, at: () => undefined, diagnose, placeOf };
  }
  return {
    ...(await findingsOf(text, root, secrets, directory, takeBreak)),
    root,
    at: createAt(root),
    diagnose,
    placeOf,
  };
}
