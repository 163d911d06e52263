import { type FileKind, readOneFile } from '../../config/config-file.ts';
import {
  ConfigError,
  type Diagnostic,
  diagnosticsOf,
  errorAt,
  type FileProblem,
  type SourceText,
  type Span,
  warningAt,
} from '../../config/diagnostic.ts';
import type { ReadFile } from '../../config/read-file.ts';
import { hasMisspelt, shapeProblems } from '../../config/shape-problems.ts';
import {
  isPlainMap,
  type Path,
  type PlainMap,
  readYaml,
  spanAt,
  type YamlDocument,
} from '../../config/yaml-document.ts';
import type { ServerTls, WebConfig } from '../../model/web-config.ts';
import { readTlsMaterial } from './tls-material.ts';
import {
  clientAuthOf,
  type FileTls,
  type FileWebConfig,
  versionNames,
  webFileSchema,
  webKeyPlaces,
} from './web-config-schema.ts';

/** The same thing, in a file or in the configuration itself. */
const pairs = [
  { inline: 'cert', file: 'cert_file', isRequired: true },
  { inline: 'key', file: 'key_file', isRequired: true },
  { inline: 'client_ca', file: 'client_ca_file', isRequired: false },
] as const;

/** What is written for TLS; `undefined` if that is nothing. */
function tlsMapOf({ value }: YamlDocument): PlainMap | undefined {
  const tls = value['tls_server_config'];
  return isPlainMap(tls) && Object.keys(tls).length > 0 ? tls : undefined;
}

/** What the keys of `tls_server_config` need of each other, whatever their values are. */
function missingParts(document: YamlDocument): readonly FileProblem[] {
  const tls = tlsMapOf(document);
  if (tls === undefined) return [];
  const path = ['tls_server_config'];
  const place = spanAt(document, path, 'key');
  return pairs.flatMap(({ inline, file, isRequired }) => {
    const isThere = Object.hasOwn(tls, file);
    const isInline = Object.hasOwn(tls, inline);
    if (isThere && isInline) {
      const message = `"${inline}" and "${file}" cannot both be given: remove one of them`;
      return [errorAt(spanAt(document, [...path, file], 'key'), message)];
    }
    if (isThere || isInline || !isRequired || hasMisspelt(tls, [inline, file])) return [];
    return [errorAt(place, `"tls_server_config" needs "${file}" or "${inline}"`)];
  });
}

/** The places whose text must never be printed: the key, and everything that may be a password. */
function secretSpans(document: YamlDocument): readonly Span[] {
  const users = document.value['basic_auth_users'];
  const hashes = isPlainMap(users) ? Object.keys(users).map((name) => [name]) : [[]];
  return [
    ['tls_server_config', 'key'],
    ...hashes.map((name) => ['basic_auth_users', ...name]),
  ].flatMap((path) => spanAt(document, path) ?? []);
}

/** A mistake in values that have their form, one by one: where it is, and what is wrong. */
interface Rule {
  readonly at: Path;
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

/** What is allowed and probably not meant. */
function webWarnings(document: YamlDocument, file: FileWebConfig): readonly FileProblem[] {
  const { tls_server_config: tls } = file;
  if (tls === undefined) {
    if (Object.keys(file.basic_auth_users).length === 0) return [];
    const message = 'without "tls_server_config" passwords cross the network in clear';
    return [warningAt(spanAt(document, ['basic_auth_users'], 'key'), message)];
  }
  const auth = clientAuthOf(tls.client_auth_type);
  const verifies = auth === 'VerifyClientCertIfGiven' || auth === 'RequireAndVerifyClientCert';
  if (!verifies || tls.client_ca !== undefined || tls.client_ca_file !== undefined) return [];
  const message = `${auth} without a "client_ca_file" accepts the certificates of every public CA`;
  const span = spanAt(document, ['tls_server_config', 'client_auth_type']);
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
function valuesOfLines(file: SourceText): readonly Span[] {
  return [...file.text.matchAll(/^[^:\r\n]*:|[^\r\n]+/gmu)]
    .filter(([found]) => !found.endsWith(':'))
    .map(({ 0: found, index }) => ({ file, start: index, end: index + found.length }));
}

/** An empty `tls_server_config` means none. */
function fileOf(document: YamlDocument, parsed: FileWebConfig): FileWebConfig {
  const { tls_server_config: tls, ...others } = parsed;
  return tls === undefined || tlsMapOf(document) === undefined ? others : parsed;
}

/**
 * Reads the web configuration file at `path`, and the certificates and keys that it names. Rejects with
 * a `ConfigError` that holds every problem, and with nothing else.
 */
export async function loadWebConfig(
  path: string,
  { readFile, clock }: { readonly readFile: ReadFile; readonly clock: { wallMs(): number } },
): Promise<LoadedWebConfig> {
  const source = await readOneFile(path, { readFile }, webFile);
  const { digest, directory } = source;
  const document = readYaml(source);
  if (!('value' in document) || document.problems.length > 0) {
    const problems = 'value' in document ? document.problems : document;
    throw new ConfigError(diagnosticsOf(path, problems, valuesOfLines(source)));
  }
  const diagnose = (found: readonly FileProblem[]): readonly Diagnostic[] =>
    diagnosticsOf(path, found, secretSpans(document));
  const parsed = webFileSchema.safeParse(document.value);
  const missing = missingParts(document);
  if (!parsed.success) {
    const wrong = shapeProblems(document, parsed.error, webKeyPlaces);
    throw new ConfigError(diagnose([...wrong, ...missing]));
  }
  const file = fileOf(document, parsed.data);
  const { tls_server_config: written } = file;
  const { tls, ...material } =
    written === undefined
      ? { tls: undefined, problems: [], files: [] }
      : await readTlsMaterial(document, written, { directory, readFile }, clock.wallMs());
  const together = (written === undefined ? [] : tlsErrors(written))
    .filter(({ when }) => when)
    .map(({ at, message, help }) => errorAt(spanAt(document, at), message, help));
  const found = [...missing, ...together, ...material.problems];
  const errors = found.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new ConfigError(diagnose(errors));
  return {
    config: configOf(file, tls),
    warnings: diagnose([...webWarnings(document, file), ...found]),
    files: new Map([[path, digest], ...material.files]),
  };
}
