import { isMap, type Node, type YAMLMap } from 'yaml';
import {
  ConfigError,
  type Diagnostic,
  diagnosticsOf,
  errorAt,
  type Problem,
  warningAt,
} from '../../config/diagnostic.ts';
import { type FileKind, readConfigFile } from '../../config/load-config.ts';
import type { ReadFile } from '../../config/read-file.ts';
import { readYaml } from '../../config/read-yaml.ts';
import { hasMisspelt, shapeProblems } from '../../config/shape-problems.ts';
import {
  createAt,
  type FileMap,
  isFileMap,
  keySpanAt,
  locate,
  plainOf,
  type Span,
  spanOf,
} from '../../config/yaml-node.ts';
import type { ServerTls, WebConfig } from '../../model/web-config.ts';
import { readTlsMaterial } from './tls-material.ts';
import {
  clientAuthOf,
  type FileTls,
  type FileWebConfig,
  versionNames,
  webFileSchema,
  webJsonSchema,
} from './web-config-schema.ts';

/** The same thing, in a file or in the configuration itself. */
const pairs = [
  { inline: 'cert', file: 'cert_file', isRequired: true },
  { inline: 'key', file: 'key_file', isRequired: true },
  { inline: 'client_ca', file: 'client_ca_file', isRequired: false },
] as const;

/** What is written for TLS; `undefined` if that is nothing. */
function tlsMapOf(root: Node): FileMap | undefined {
  const tls = locate(root, ['tls_server_config']);
  return isFileMap(tls) && tls.items.length > 0 ? tls : undefined;
}

/** What the keys of `tls_server_config` need of each other, whatever their values are. */
function missingParts(root: Node): readonly Problem[] {
  const tls = tlsMapOf(root);
  if (tls === undefined) return [];
  const place = keySpanAt(root, ['tls_server_config']);
  return pairs.flatMap(({ inline, file, isRequired }) => {
    const isThere = tls.has(file);
    if (isThere && tls.has(inline)) {
      const message = `"${inline}" and "${file}" cannot both be given: remove one of them`;
      return [errorAt(keySpanAt(tls, [file]), message)];
    }
    if (isThere || tls.has(inline) || !isRequired || hasMisspelt(tls, [inline, file])) return [];
    return [errorAt(place, `"tls_server_config" needs "${file}" or "${inline}"`)];
  });
}

/** The places whose text must never be printed: the key, and everything that may be a password. */
function secretSpans(root: Node): readonly Span[] {
  const key = locate(root, ['tls_server_config', 'key']);
  const users = locate(root, ['basic_auth_users']);
  const hashes = isMap<unknown, Node>(users) ? users.items.map(({ value }) => value) : [users];
  return [key, ...hashes].flatMap((node) =>
    node === undefined || node === null ? [] : [spanOf(node)],
  );
}

/** A mistake in values that have their form, one by one: where it is, and what is wrong. */
interface Rule {
  readonly at: readonly PropertyKey[];
  readonly when: boolean;
  readonly message: string;
  readonly help?: string;
}

function tlsErrors(tls: FileTls): readonly Rule[] {
  const { min_version: least, max_version: most } = tls;
  const auth = clientAuthOf(tls.client_auth_type);
  const hasCaFile = tls.client_ca_file !== undefined;
  const isRequired = auth === 'RequireAnyClientCert' || auth === 'RequireAndVerifyClientCert';
  return [
    {
      at: ['tls_server_config', least === 'TLS12' ? 'max_version' : 'min_version'],
      when: versionNames.indexOf(least) > versionNames.indexOf(most),
      message: `"min_version" ${least} is newer than "max_version" ${most}`,
    },
    {
      at: ['tls_server_config', hasCaFile ? 'client_ca_file' : 'client_ca'],
      when: (hasCaFile || tls.client_ca !== undefined) && auth === 'NoClientCert',
      message: 'CAs of clients are given, but "client_auth_type" asks no client for a certificate',
      help: 'add "client_auth_type: RequireAndVerifyClientCert"',
    },
    {
      at: ['tls_server_config', 'client_allowed_sans'],
      when: tls.client_allowed_sans !== undefined && !isRequired,
      message:
        '"client_allowed_sans" needs "client_auth_type" RequireAndVerifyClientCert or RequireAnyClientCert',
      help: 'with other types a client may come without a certificate',
    },
  ];
}

/** What is wrong with values of the file together, once each of them has its form. */
function relationErrors(root: Node, file: FileWebConfig): readonly Problem[] {
  const { tls_server_config: tls } = file;
  const at = createAt(root);
  return (tls === undefined ? [] : tlsErrors(tls))
    .filter(({ when }) => when)
    .map((rule) => errorAt(at(...rule.at)?.span, rule.message, rule.help));
}

/** What is allowed and probably not meant. */
function webWarnings(root: Node, file: FileWebConfig): readonly Problem[] {
  const { tls_server_config: tls } = file;
  if (tls === undefined) {
    if (Object.keys(file.basic_auth_users).length === 0) return [];
    const message = 'without "tls_server_config" passwords cross the network in clear';
    return [warningAt(keySpanAt(root, ['basic_auth_users']), message)];
  }
  const auth = clientAuthOf(tls.client_auth_type);
  const verifies = auth === 'VerifyClientCertIfGiven' || auth === 'RequireAndVerifyClientCert';
  if (!verifies || tls.client_ca !== undefined || tls.client_ca_file !== undefined) return [];
  const message = `${auth} without a "client_ca_file" accepts the certificates of every public CA`;
  const span = createAt(root)('tls_server_config', 'client_auth_type')?.span;
  return [warningAt(span, message, 'name your own CA')];
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
  { readFile, clock }: { readonly readFile: ReadFile; readonly clock: { wallMs(): number } },
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
  const { tls_server_config: written } = file;
  const { tls, ...material } =
    written === undefined
      ? { tls: undefined, problems: [], files: [] }
      : await readTlsMaterial(root, written, { directory, readFile }, clock.wallMs());
  const found = [...missing, ...relationErrors(root, file), ...material.problems];
  const errors = found.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new ConfigError(diagnose(errors));
  return {
    config: configOf(file, tls),
    warnings: diagnose([...webWarnings(root, file), ...found]),
    files: new Map([[path, digest], ...material.files]),
  };
}
