import { slowHashProblem } from './bcrypt-hash.ts';
import { errorAt, type Problem, warningAt } from './diagnostic.ts';
import { entryAt, type Located, type LocatedMap, locate, type Span } from './located.ts';
import { hasMisspelt } from './shape-problems.ts';
import { clientAuthOf, isOutdated, lacksForwardSecrecy, versionNames } from './tls-names.ts';
import type { FileTls, FileWebConfig } from './web-config-schema.ts';

/** The same thing, in a file or in the configuration itself. */
const pairs = [
  { inline: 'cert', file: 'cert_file', isRequired: true },
  { inline: 'key', file: 'key_file', isRequired: true },
  { inline: 'client_ca', file: 'client_ca_file', isRequired: false },
] as const;

function tlsMapOf(root: Located): LocatedMap | undefined {
  const tls = locate(root, ['tls_server_config']);
  return tls?.kind === 'map' && tls.entries.size > 0 ? tls : undefined;
}

/** What the keys of `tls_server_config` need of each other, whatever their values are. */
export function missingParts(root: Located): readonly Problem[] {
  const tls = tlsMapOf(root);
  if (tls === undefined) return [];
  const place = entryAt(root, ['tls_server_config'])?.keySpan;
  return pairs.flatMap(({ inline, file, isRequired }) => {
    const written = tls.entries.get(file);
    if (written !== undefined && tls.entries.has(inline)) {
      const message = `"${inline}" and "${file}" cannot both be given: remove one of them`;
      return [errorAt(written.keySpan, message)];
    }
    const isThere = written !== undefined || tls.entries.has(inline);
    if (isThere || !isRequired || hasMisspelt(tls, [inline, file])) return [];
    return [errorAt(place, `"tls_server_config" needs "${file}" or "${inline}"`)];
  });
}

/** The places whose text must never be printed: the key, and everything that may be a password. */
export function secretSpans(root: Located): readonly Span[] {
  const key = locate(root, ['tls_server_config', 'key']);
  const users = locate(root, ['basic_auth_users']);
  const hashes =
    users?.kind === 'map' ? [...users.entries.values()].map(({ value }) => value) : [users];
  return [key, ...hashes].filter((located) => located !== undefined).map(({ span }) => span);
}

function tlsErrors(root: Located, tls: FileTls): readonly Problem[] {
  const at = (...path: readonly PropertyKey[]): Span | undefined =>
    locate(root, ['tls_server_config', ...path])?.span;
  const problems: Problem[] = [];
  const { min_version: least, max_version: most } = tls;
  if (versionNames.indexOf(least) > versionNames.indexOf(most)) {
    const message = `"min_version" ${least} is newer than "max_version" ${most}`;
    problems.push(errorAt(at('min_version') ?? at('max_version'), message));
  }
  const auth = clientAuthOf(tls.client_auth_type);
  const hasCa = tls.client_ca !== undefined || tls.client_ca_file !== undefined;
  if (hasCa && auth === 'NoClientCert') {
    const message =
      'CAs of clients are given, but "client_auth_type" asks no client for a certificate';
    const help = 'add "client_auth_type: RequireAndVerifyClientCert"';
    problems.push(errorAt(at('client_ca_file') ?? at('client_ca'), message, help));
  }
  const isRequired = auth === 'RequireAnyClientCert' || auth === 'RequireAndVerifyClientCert';
  if (tls.client_allowed_sans !== undefined && !isRequired) {
    const message =
      '"client_allowed_sans" needs "client_auth_type" RequireAndVerifyClientCert or RequireAnyClientCert';
    const help = 'with other types a client may come without a certificate';
    problems.push(errorAt(at('client_allowed_sans'), message, help));
  }
  return problems;
}

/** What is wrong with values of the file together, once each of them has its form. */
export function relationErrors(root: Located, file: FileWebConfig): readonly Problem[] {
  const { tls_server_config: tls, rate_limit: rate } = file;
  const problems = tls === undefined || tlsMapOf(root) === undefined ? [] : tlsErrors(root, tls);
  if (rate === undefined || rate.interval === 0 || rate.burst > 0) return problems;
  const place = locate(root, ['rate_limit', 'burst'])?.span;
  return [...problems, errorAt(place, '"burst" of 0 would refuse every request: write at least 1')];
}

function tlsWarnings(root: Located, tls: FileTls): readonly Problem[] {
  const at = (...path: readonly PropertyKey[]): Span | undefined =>
    locate(root, ['tls_server_config', ...path])?.span;
  const problems: Problem[] = [];
  if (isOutdated(tls.min_version)) {
    const message = `"min_version" ${tls.min_version} allows versions of TLS that are easy to attack`;
    problems.push(warningAt(at('min_version'), message, 'write TLS12, the default'));
  }
  for (const [index, name] of tls.cipher_suites.entries()) {
    if (!lacksForwardSecrecy(name)) continue;
    const message = `${name} has no forward secrecy: who gets the key later can read what was recorded`;
    problems.push(warningAt(at('cipher_suites', index), message));
  }
  const auth = clientAuthOf(tls.client_auth_type);
  const verifies = auth === 'VerifyClientCertIfGiven' || auth === 'RequireAndVerifyClientCert';
  if (verifies && tls.client_ca === undefined && tls.client_ca_file === undefined) {
    const message = `${auth} without a "client_ca_file" accepts the certificates of every public CA`;
    problems.push(warningAt(at('client_auth_type'), message, 'name your own CA'));
  }
  if (auth === 'RequireAnyClientCert') {
    const message = `${tls.client_auth_type} accepts every certificate, whoever has signed it`;
    problems.push(warningAt(at('client_auth_type'), message, 'write RequireAndVerifyClientCert'));
  }
  return problems;
}

/** What is allowed and probably not meant. */
export function webWarnings(root: Located, file: FileWebConfig): readonly Problem[] {
  const tls = tlsMapOf(root) === undefined ? undefined : file.tls_server_config;
  const users = Object.entries(file.basic_auth_users);
  const problems = tls === undefined ? [] : [...tlsWarnings(root, tls)];
  if (tls === undefined && users.length > 0) {
    const message = 'without "tls_server_config" passwords cross the network in clear';
    problems.push(warningAt(entryAt(root, ['basic_auth_users'])?.keySpan, message));
  }
  for (const [name, hash] of users) {
    const slow = slowHashProblem(hash);
    const place = locate(root, ['basic_auth_users', name])?.span;
    if (slow !== undefined) problems.push(warningAt(place, `"${name}" ${slow.message}`, slow.help));
  }
  if (file.http_server_config.http2 === true) {
    const message = '"http2" has no effect: this exporter speaks HTTP/1.1, which every client can';
    problems.push(warningAt(locate(root, ['http_server_config', 'http2'])?.span, message));
  }
  return problems;
}
