/**
 * From a text to a configuration:
 *
 * ```text
 * text ─ readYaml ─► plain data, each value with its place ─ fileSchema ─► values with defaults ─ buildConfig ─► Config
 *            │                │                                    │                                       │
 *            │                ├ rules: what belongs together ◄─────┤ (those of tags and queries)            └ warningRules
 *            │                ├ compilePatterns: regular expressions, compiled and counted
 *            │                └ apiKeysIn: keys that must not be there
 *            └ syntax, depth, aliases
 * ```
 *
 * The schema sees one value alone. Whatever finds something names it by its path, as zod does, and the document
 * knows the place: a file put together of several ones needs nothing else.
 */
import { dirname, resolve } from 'node:path';
import type { Config } from '../model/config.ts';
import { buildConfig } from './build-config.ts';
import { warningRules } from './config-warnings.ts';
import {
  ConfigError,
  createPlacer,
  type Diagnostic,
  diagnosticsOf,
  errorAt,
  type Place,
  type Problem,
  type Span,
  warningAt,
} from './diagnostic.ts';
import { compilePatterns } from './patterns.ts';
import { decodeUtf8, digestOf, type ReadFile, readFailure, readRemedy } from './read-file.ts';
import { apiKeyHelp, apiKeyMessage, apiKeysIn, foreignFile, rules } from './rules.ts';
import { fileSchema, keyPlaces } from './schema.ts';
import { shapeProblems } from './shape-problems.ts';
import {
  type Path,
  type PlainMap,
  problemsAt,
  readYaml,
  spanAt,
  type YamlDocument,
} from './yaml-document.ts';

/** A file of ten thousand applications is smaller. */
const largestFileBytes = 1024 * 1024;

/** What reading needs of the process that uses the configuration. */
export interface ReadingContext {
  /** Resolves after other work that waits for the thread has run. */
  readonly nextTurn: () => Promise<void>;
  readonly clock: { readonly monotonicMs: () => number };
  /** The names that the host of this process may have in New Relic, for `hosts: self`. */
  readonly ownHostNames: readonly string[];
}

/** For a file that is only looked at. */
const noContext: ReadingContext = {
  nextTurn: async () => {},
  clock: { monotonicMs: () => 0 },
  ownHostNames: [],
};

export interface ConfigSource {
  /** The name of the file in messages. */
  readonly fileName: string;
  /** Absolute. Relative paths in the file are resolved against it. */
  readonly directory: string;
}

/** A configuration file that was read but not parsed. */
export interface ConfigFile extends ConfigSource {
  readonly text: string;
  /** Of its bytes. */
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
  { readFile }: { readonly readFile: ReadFile },
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
  context: ReadingContext & { readonly readFile: ReadFile },
): Promise<ParsedConfig> {
  const file = await readConfigFile(path, context);
  return parseConfig(file.text, file, context);
}

/** A configuration without errors. */
export interface ParsedConfig {
  readonly config: Config;
  readonly warnings: readonly Diagnostic[];
}

/** Parses the text of a configuration file. Rejects with a `ConfigError`, and nothing else. */
export async function parseConfig(
  text: string,
  source: ConfigSource,
  context?: ReadingContext,
): Promise<ParsedConfig> {
  const { config, errors, warnings, diagnose } = await inspectConfig(text, source, context);
  if (config === undefined || errors.length > 0) throw new ConfigError(diagnose(errors));
  return { config, warnings: diagnose(warnings) };
}

/** All that the text of a configuration file tells. */
export interface InspectedConfig {
  /**
   * `undefined` if the file has not the shape of a configuration, or a regular expression that cannot be
   * used. It may have errors all the same.
   */
  readonly config: Config | undefined;
  readonly errors: readonly Problem[];
  /** Only looked for if there are no errors. */
  readonly warnings: readonly Problem[];
  /** What the file says, whether it has errors or not; `undefined` if it is no map in YAML. */
  readonly written: PlainMap | undefined;
  /** The place of a value of the file; `undefined` if it is not written. */
  readonly at: (...path: Path) => { readonly span: Span } | undefined;
  /** Problems with this file, whoever found them, ready to print. */
  readonly diagnose: (problems: readonly Problem[]) => readonly Diagnostic[];
  /** Where a value of the file is, ready to print. */
  readonly placeOf: (span: Span | undefined) => Place;
}

type Findings = Pick<InspectedConfig, 'config' | 'errors' | 'warnings'>;

/** What prints problems of a file, without its secrets. */
function printersOf(
  fileName: string,
  text: string,
  secrets: readonly Span[],
): Pick<InspectedConfig, 'diagnose' | 'placeOf'> {
  return {
    diagnose: (problems) => diagnosticsOf(fileName, text, problems, secrets),
    placeOf: createPlacer(fileName, text, secrets),
  };
}

/** The longest turn, besides the time for one step of the work: scrapes and probes wait for it. */
const longestTurnMs = 5;

/** What lets other work have its turn, if the present one has taken a while. */
function createBreaks({ nextTurn, clock }: ReadingContext): () => Promise<void> {
  let turnStartMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - turnStartMs < longestTurnMs) return;
    await nextTurn();
    turnStartMs = clock.monotonicMs();
  };
}

async function findingsOf(
  document: YamlDocument,
  directory: string,
  context: ReadingContext,
): Promise<Findings> {
  const { value: written } = document;
  const takeBreak = createBreaks(context);
  await takeBreak();
  const { data: parsed, error } = fileSchema.safeParse(written);
  await takeBreak();
  const patterns = await compilePatterns(written, takeBreak);
  const found = [...rules.flatMap((rule) => [...rule({ written, parsed })]), ...patterns.found];
  const errors = [
    ...(error === undefined ? [] : shapeProblems(document, error, keyPlaces)),
    ...problemsAt(document, found, errorAt),
  ];
  if (parsed === undefined || patterns.found.length > 0) {
    return { config: undefined, errors, warnings: [] };
  }
  await takeBreak();
  const { ownHostNames } = context;
  const config = buildConfig(parsed, { directory, patterns: patterns.compiled, ownHostNames });
  const file = { written, parsed, config };
  const odd = errors.length === 0 ? warningRules.flatMap((rule) => [...rule(file)]) : [];
  return { config, errors, warnings: problemsAt(document, odd, warningAt) };
}

/** Finds everything that is wrong or odd in the text of a configuration file; it reads no other file. */
export async function inspectConfig(
  text: string,
  { fileName, directory }: ConfigSource,
  context: ReadingContext = noContext,
): Promise<InspectedConfig> {
  const read = readYaml(text, 'apps');
  const nothing = { config: undefined, warnings: [], written: undefined, at: () => undefined };
  if (!('root' in read)) return { ...nothing, errors: read, ...printersOf(fileName, text, []) };
  const { value: written } = read;
  const keys = [...apiKeysIn(written)];
  const keyProblems = keys.map(([path, marked]) =>
    errorAt(spanAt(read, path, marked), apiKeyMessage, apiKeyHelp),
  );
  const secrets = keys.flatMap(([path, , secret]) => spanAt(read, path, secret) ?? []);
  const printers = printersOf(fileName, text, secrets);
  const foreign = foreignFile(written);
  if (foreign !== undefined) return { ...nothing, errors: [foreign, ...keyProblems], ...printers };
  const { config, errors, warnings } = await findingsOf(read, directory, context);
  // An API key in the file is reported once, whatever else is wrong in the same place.
  const taken = new Set(keyProblems.map(({ span }) => span?.start));
  const others = errors.filter(({ span }) => span === undefined || !taken.has(span.start));
  return {
    config,
    errors: [...keyProblems, ...others],
    warnings: keys.length === 0 ? warnings : [],
    written,
    at: (...path) => {
      const span = spanAt(read, path);
      return span && { span };
    },
    ...printers,
  };
}
