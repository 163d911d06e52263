import type { ServerTls, WebConfig } from '../model/web-config.ts';
import { ConfigError, type Diagnostic, diagnosticsOf, type Problem } from './diagnostic.ts';
import { type FileKind, readConfigFile } from './load-config.ts';
import { type Located, locate, plainOf, type Span } from './located.ts';
import type { ReadFile } from './read-file.ts';
import { readYaml } from './read-yaml.ts';
import { shapeProblems } from './shape-problems.ts';
import { readTlsMaterial, type TlsMaterial } from './tls-material.ts';
import { missingParts, relationErrors, secretSpans, webWarnings } from './web-config-problems.ts';
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

const noMaterial: TlsMaterial = { tls: undefined, problems: [], files: new Map() };

function configOf(file: FileWebConfig, tls: ServerTls | undefined): WebConfig {
  const { rate_limit: rate } = file;
  const headers = Object.entries(file.http_server_config.headers);
  return {
    tls,
    users: new Map(Object.entries(file.basic_auth_users)),
    headers: Object.fromEntries(headers.filter(([, value]) => value !== '')),
    rateLimit:
      rate === undefined || rate.interval === 0
        ? undefined
        : { intervalMs: rate.interval, burst: rate.burst },
  };
}

/** Where the values are in a text that is not YAML: each may be a password or a key. */
function valuesOfLines(text: string): readonly Span[] {
  return [...text.matchAll(/^[^:\r\n]*:|[^\r\n]+/gmu)]
    .filter(([found]) => !found.endsWith(':'))
    .map(({ 0: found, index }) => ({ start: index, end: index + found.length }));
}

function hasTls(root: Located): boolean {
  const tls = locate(root, ['tls_server_config']);
  return tls?.kind === 'map' && tls.entries.size > 0;
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
  const file = parsed.data;
  const { tls_server_config: fileTls } = file;
  const material =
    fileTls === undefined || !hasTls(root)
      ? noMaterial
      : await readTlsMaterial(root, fileTls, { directory, readFile, nowMs: clock.wallMs() });
  const found = [...missing, ...relationErrors(root, file), ...material.problems];
  const errors = found.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new ConfigError(diagnose(errors));
  return {
    config: configOf(file, material.tls),
    warnings: diagnose([...webWarnings(root, file), ...found]),
    files: new Map([[path, digest], ...material.files]),
  };
}
