import type { AccountConfig, PlainConfig } from '../model/config.ts';
import { buildConfig } from './build-config.ts';
import { configWarnings } from './config-warnings.ts';
import {
  createPlacer,
  type Diagnostic,
  diagnosticsOf,
  type Place,
  type Problem,
} from './diagnostic.ts';
import { metricProblems } from './metric-problems.ts';
import { type NamedFile, namedFiles } from './named-files.ts';
import { patternProblems } from './pattern-problems.ts';
import { readYaml } from './read-yaml.ts';
import { isMissingAccountId, referenceProblems } from './reference-problems.ts';
import { configJsonSchema, type FileConfig, fileSchema } from './schema.ts';
import { type FoundSecrets, findSecrets } from './secret-problems.ts';
import { shapeProblems } from './shape-problems.ts';
import { type At, createAt, type FileMap, plainOf, type Span } from './yaml-node.ts';

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
  /** If nothing is wrong but that accounts with NerdGraph have no id: these accounts. */
  readonly withoutId: readonly AccountConfig[];
  /** The files and variables that the accounts name, as far as they can be read. */
  readonly files: readonly NamedFile[];
  /** The values of the file, with their places. */
  readonly at: At;
  /** Problems with this file, whoever found them, ready to print. */
  readonly diagnose: (problems: readonly Problem[]) => readonly Diagnostic[];
  /** Where a value of the file is, ready to print. */
  readonly placeOf: (span: Span | undefined) => Place;
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

type Findings = Pick<InspectedConfig, 'config' | 'errors' | 'warnings' | 'withoutId'>;

async function findingsOf(
  root: FileMap,
  secrets: FoundSecrets,
  directory: string,
  takeBreak: () => Promise<void>,
): Promise<Findings> {
  await takeBreak();
  const parsed = fileSchema.safeParse(plainOf(root));
  await takeBreak();
  const errors = withoutRepetition(secrets.problems, [
    ...(parsed.success ? [] : shapeProblems(root, parsed.error, configJsonSchema())),
    ...referenceProblems(root),
    ...metricProblems(root),
    ...(await patternProblems(root, takeBreak)),
  ]);
  const nothing = { warnings: [], withoutId: [] };
  if (!parsed.success) return { config: undefined, errors, ...nothing };
  await takeBreak();
  const config = buildConfig(parsed.data, directory);
  if (errors.length === 0) {
    const warnings = configWarnings(root, parsed.data, config);
    return { config, errors, warnings, withoutId: [] };
  }
  const withoutId = errors.every(isMissingAccountId) ? accountsWithoutId(parsed.data, config) : [];
  return { config, errors, warnings: [], withoutId };
}

/**
 * Finds everything that is wrong or odd in the text of a configuration file. It reads no other file and
 * does not check whether key files exist.
 *
 * @param takeBreak lets other work have its turn
 */
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
  if (root === undefined) {
    const nothing = { config: undefined, warnings: [], withoutId: [], files: [] };
    return { ...nothing, errors: problems, at: () => undefined, diagnose, placeOf };
  }
  return {
    ...(await findingsOf(root, secrets, directory, takeBreak)),
    files: namedFiles(root, directory),
    at: createAt(root),
    diagnose,
    placeOf,
  };
}
