import type { YAMLMap } from 'yaml';
import {
  ConfigError,
  type Diagnostic,
  diagnosticsOf,
  type Problem,
} from '../../config/diagnostic.ts';
import { type FileKind, readConfigFile } from '../../config/load-config.ts';
import type { ReadFile } from '../../config/read-file.ts';
import { readYaml } from '../../config/read-yaml.ts';
import { shapeProblems } from '../../config/shape-problems.ts';
import { plainOf, type Span } from '../../config/yaml-node.ts';
import type { ServerTls, WebConfig } from '../../model/web-config.ts';
import { readTlsMaterial } from './tls-material.ts';
import {
  missingParts,
  relationErrors,
  secretSpans,
  tlsMapOf,
  webWarnings,
} from './web-config-problems.ts';
import { type FileWebConfig, webFileSchema, webJsonSchema } from './web-config-schema.ts';

export interface LoadWebConfigDependencies {
  readonly readFile: ReadFile;
  readonly clock: { wallMs(): number };
}

/** A web configuration without errors. */
export interface LoadedWebConfig {
  readonly config: WebConfig;
  readonly warnings: readonly Diagnostic[];
  /** The digest of each file that it was read from, by path. */
  readonly files: ReadonlyMap<string, string>;
}

const webFile: FileKind = { name: 'web configuration file', flag: '--web.config.file' };

function configOf(file: FileWebConfig, tls: ServerTls | undefined): WebConfig {
  const headers = Object.entries(file.http_server_config.headers);
  return {
    tls,
    users: new Map(Object.entries(file.basic_auth_users)),
    headers: Object.fromEntries(headers.filter(([, value]) => value !== '')),
  };
}

/** Where the values are in a text that is not YAML: each may be a password or a key. */
function valuesOfLines(text: string): readonly Span[] {
  return [...text.matchAll(/^[^:\r\n]*:|[^\r\n]+/gmu)]
    .filter(([found]) => !found.endsWith(':'))
    .map(({ 0: found, index }) => ({ start: index, end: index + found.length }));
}

/** An empty `tls_server_config` means none. */
function fileOf(root: YAMLMap, parsed: FileWebConfig): FileWebConfig {
  const { tls_server_config: tls, ...others } = parsed;
  return tls === undefined || tlsMapOf(root) === undefined ? others : parsed;
}

/**
 * Reads the web configuration file at `path`, and the certificates and keys that it names. Rejects with
 * a `ConfigError` that holds every problem, and with nothing else.
 */
export async function loadWebConfig(
  path: string,
  { readFile, clock }: LoadWebConfigDependencies,
): Promise<LoadedWebConfig> {
  const { text, digest, directory } = await readConfigFile(path, { readFile }, webFile);
  const { root, problems } = readYaml(text, undefined);
  if (root === undefined) {
    throw new ConfigError(diagnosticsOf(path, text, problems, valuesOfLines(text)));
  }
  const diagnose = (found: readonly Problem[]): readonly Diagnostic[] =>
    diagnosticsOf(path, text, found, secretSpans(root));
  const parsed = webFileSchema.safeParse(plainOf(root));
  const missing = missingParts(root);
  if (!parsed.success) {
    const wrong = shapeProblems(root, parsed.error, webJsonSchema());
    throw new ConfigError(diagnose([...wrong, ...missing]));
  }
  const file = fileOf(root, parsed.data);
  const material = await readTlsMaterial(root, file.tls_server_config, {
    directory,
    readFile,
    nowMs: clock.wallMs(),
  });
  const found = [...missing, ...relationErrors(root, file), ...material.problems];
  const errors = found.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new ConfigError(diagnose(errors));
  return {
    config: configOf(file, material.tls),
    warnings: diagnose([...webWarnings(root, file), ...found]),
    files: new Map([[path, digest], ...material.files]),
  };
}
