import type { AccountConfig, Config, PlainConfig } from '../model/config.ts';
import { buildConfig } from './build-config.ts';
import { configWarnings } from './config-warnings.ts';
import { ConfigError, type Diagnostic, diagnosticsOf, type Problem } from './diagnostic.ts';
import { plainOf } from './located.ts';
import { patternProblems } from './pattern-problems.ts';
import { readYaml } from './read-yaml.ts';
import { referenceProblems } from './reference-problems.ts';
import { configJsonSchema, type FileConfig, fileSchema } from './schema.ts';
import { findSecrets } from './secret-problems.ts';
import { shapeProblems } from './shape-problems.ts';
import { isMissingAccountId } from './source-problems.ts';

export interface ConfigSource {
  /** The name of the file in messages. */
  readonly fileName: string;
  /** Absolute. Relative paths in the file are resolved against it. */
  readonly directory: string;
}

/** A configuration without errors. */
export interface ParsedConfig<Parsed extends PlainConfig = Config> {
  readonly config: Parsed;
  readonly warnings: readonly Diagnostic[];
}

/** Reports an API key in the file once, whatever else is wrong in the same place. */
function withoutRepetition(
  secretProblems: readonly Problem[],
  others: readonly Problem[],
): readonly Problem[] {
  const taken = new Set(secretProblems.map(({ span }) => span?.start));
  const isFree = ({ span }: Problem): boolean => span === undefined || !taken.has(span.start);
  return [...secretProblems, ...others.filter(isFree)];
}

function accountsWithoutId(
  { accounts }: FileConfig,
  config: PlainConfig,
): readonly AccountConfig[] {
  return config.accounts.filter((_, index) => {
    const { source, account_id: accountId } = accounts[index] ?? {};
    return source === 'nerdgraph' && accountId === undefined;
  });
}

/**
 * Parses the text of a configuration file into plain data, which can be sent between threads. It reads
 * no other file and does not check whether key files exist. Rejects with a `ConfigError` that holds
 * every problem, and with nothing else.
 */
export async function parseConfig(
  text: string,
  source: ConfigSource,
): Promise<ParsedConfig<PlainConfig>> {
  const { fileName, directory } = source;
  const { root, problems } = readYaml(text, 'apps');
  if (root === undefined) throw new ConfigError(diagnosticsOf(fileName, text, problems));
  const secrets = findSecrets(root);
  const diagnose = (found: readonly Problem[]): readonly Diagnostic[] =>
    diagnosticsOf(fileName, text, found, secrets.spans);
  const parsed = fileSchema.safeParse(plainOf(root));
  const errors = withoutRepetition(secrets.problems, [
    ...(parsed.success ? [] : shapeProblems(root, parsed.error, configJsonSchema())),
    ...referenceProblems(root),
    ...(await patternProblems(root)),
  ]);
  if (!parsed.success) throw new ConfigError(diagnose(errors));
  const config = buildConfig(parsed.data, directory);
  if (errors.length > 0) {
    const withoutId = errors.every(isMissingAccountId)
      ? accountsWithoutId(parsed.data, config)
      : [];
    throw new ConfigError(diagnose(errors), withoutId);
  }
  return { config, warnings: diagnose(configWarnings(root, parsed.data, config)) };
}
