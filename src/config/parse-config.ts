import type { Config, PlainConfig } from '../model/config.ts';
import { buildConfig } from './build-config.ts';
import { configWarnings } from './config-warnings.ts';
import { ConfigError, type Diagnostic, diagnosticsOf, type Problem } from './diagnostic.ts';
import { plainOf } from './located.ts';
import { patternProblems } from './pattern-problems.ts';
import { readYaml } from './read-yaml.ts';
import { referenceProblems } from './reference-problems.ts';
import { fileSchema } from './schema.ts';
import { findSecrets } from './secret-problems.ts';
import { shapeProblems } from './shape-problems.ts';

export interface ConfigSource {
  /** As messages should name it. */
  readonly fileName: string;
  /** Absolute; what relative paths in the file are relative to. */
  readonly directory: string;
}

/** A configuration without errors. */
export interface ParsedConfig<Parsed extends PlainConfig = Config> {
  readonly config: Parsed;
  readonly warnings: readonly Diagnostic[];
}

/** A key that stands in the file is reported once, whatever else is wrong with that place. */
function withoutRepetition(
  secretProblems: readonly Problem[],
  others: readonly Problem[],
): readonly Problem[] {
  const taken = new Set(secretProblems.map(({ span }) => span?.start));
  const isFree = ({ span }: Problem): boolean => span === undefined || !taken.has(span.start);
  return [...secretProblems, ...others.filter(isFree)];
}

/**
 * Reads the configuration file's text into plain data, which can be sent from thread to thread.
 * Nothing is read but the text: whether a key file exists is not checked here. Rejects with a
 * `ConfigError` that holds every problem, and nothing else.
 */
export async function parseConfig(
  text: string,
  source: ConfigSource,
): Promise<ParsedConfig<PlainConfig>> {
  const { fileName, directory } = source;
  const { root, problems } = readYaml(text);
  if (root === undefined) throw new ConfigError(diagnosticsOf(fileName, text, problems));
  const secrets = findSecrets(root);
  const diagnose = (found: readonly Problem[]): readonly Diagnostic[] =>
    diagnosticsOf(fileName, text, found, secrets.spans);
  const parsed = fileSchema.safeParse(plainOf(root));
  const errors = withoutRepetition(secrets.problems, [
    ...(parsed.success ? [] : shapeProblems(root, parsed.error)),
    ...referenceProblems(root),
    ...(await patternProblems(root)),
  ]);
  if (!parsed.success || errors.length > 0) throw new ConfigError(diagnose(errors));
  const config = buildConfig(parsed.data, directory);
  return { config, warnings: diagnose(configWarnings(root, parsed.data, config)) };
}
