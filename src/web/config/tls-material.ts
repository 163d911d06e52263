import { createPrivateKey, X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileError } from '../../config/config-file.ts';
import { errorAt, type FileProblem, type Span, warningAt } from '../../config/diagnostic.ts';
import { bundleProblem, bundleRemedy } from '../../config/named-file.ts';
import {
  digestOf,
  mayPass,
  type ReadFile,
  readFailure,
  readRemedy,
} from '../../config/read-file.ts';
import { spanAt, type YamlDocument } from '../../config/yaml-document.ts';
import { dayMs } from '../../model/time.ts';
import type { ServerTls } from '../../model/web-config.ts';
import {
  clientAuthOf,
  type FileTls,
  opensslCiphers,
  opensslCurves,
  tlsVersionOf,
} from './web-config-schema.ts';

/** What the files of `tls_server_config` hold. `tls` is only defined if no problem is an error. */
interface TlsMaterial {
  readonly tls: ServerTls | undefined;
  readonly problems: readonly FileProblem[];
  /** The digest of each file that was read, by path. */
  readonly files: ReadonlyMap<string, string>;
}

/** A text from the configuration or from a file that it names. */
interface PemPart {
  readonly text: string | undefined;
  /** Such as `"cert_file" /etc/tls/tls.crt`. */
  readonly subject: string;
  readonly span: Span | undefined;
  /** What is wrong with it. */
  readonly problems: readonly FileProblem[];
  /** Path and digest of its file, if it has one that could be read. */
  readonly files: readonly (readonly [path: string, digest: string])[];
}

async function readPem(
  document: YamlDocument,
  tls: FileTls,
  name: 'cert' | 'key' | 'client_ca',
  { directory, readFile }: TlsFiles,
): Promise<PemPart> {
  const file = tls[`${name}_file`];
  const key = file === undefined ? name : `${name}_file`;
  const span = spanAt(document, ['tls_server_config', key]);
  if (file === undefined) {
    return { text: tls[name], subject: `"${name}"`, span, problems: [], files: [] };
  }
  const path = resolve(directory, file);
  const subject = `"${key}" ${path}`;
  try {
    const bytes = await readFile(path);
    const text = new TextDecoder().decode(bytes);
    return { text, subject, span, problems: [], files: [[path, digestOf(bytes)]] };
  } catch (error) {
    const message = `${subject} ${readFailure(error)}`;
    const help = readRemedy(error, 'create it, readable by this user');
    if (mayPass(error)) throw fileError(path, message, help, { cause: error });
    const problems = [errorAt(span, message, help)];
    return { text: undefined, subject, span, problems, files: [] };
  }
}

/** Without its text, if that is no bundle of certificates. */
function asBundle(part: PemPart): PemPart {
  const problem = part.text === undefined ? undefined : bundleProblem(part.text);
  if (problem === undefined) return part;
  const problems = [errorAt(part.span, `${part.subject} ${problem}`, bundleRemedy)];
  return { ...part, text: undefined, problems };
}

/** What is wrong with a key and the certificate that it should fit. */
function keyProblem(
  key: string,
  cert: string,
): readonly [message: string, help: string] | undefined {
  const isEncrypted = /ENCRYPTED/u.test(key);
  if (isEncrypted) return ['is encrypted', 'decrypt it: openssl pkey -in FILE -out FILE'];
  try {
    const parsed = createPrivateKey(key);
    if (new X509Certificate(cert).checkPrivateKey(parsed)) return undefined;
    return [
      'does not belong to the certificate',
      'write both again, from the same request; the first certificate must be that of the server',
    ];
  } catch {
    return ['holds no key that can be read', 'write the key into it as PEM'];
  }
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function dateWarning(
  cert: string,
  { subject, span }: PemPart,
  nowMs: number,
): readonly FileProblem[] {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [start, end] = [Date.parse(validFrom), Date.parse(validTo)];
  if (end <= nowMs) {
    return [warningAt(span, `${subject} expired on ${dayOf(end)}: clients will refuse it`)];
  }
  if (start <= nowMs + dayMs) return [];
  return [warningAt(span, `${subject} is not valid before ${dayOf(start)}`)];
}

/** What is wrong with the certificate and its key together. */
function pairProblems(cert: PemPart, key: PemPart, nowMs: number): readonly FileProblem[] {
  if (cert.text === undefined || key.text === undefined) return [];
  const [message, help] = keyProblem(key.text, cert.text) ?? [];
  return [
    ...dateWarning(cert.text, cert, nowMs),
    ...(message === undefined ? [] : [errorAt(key.span, `${key.subject} ${message}`, help)]),
  ];
}

/** OpenSSL's own checks, such as for keys that are too short. */
function contextProblem(tls: ServerTls): string | undefined {
  try {
    createSecureContext({
      cert: tls.cert,
      key: tls.key,
      ...(tls.ciphers === undefined ? {} : { ciphers: tls.ciphers }),
      ...(tls.curves === undefined ? {} : { ecdhCurve: tls.curves }),
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What files are read with. */
interface TlsFiles {
  /** Paths are relative to it. */
  readonly directory: string;
  readonly readFile: ReadFile;
}

/** Reads and checks the certificate, its key and the CAs of clients. */
export async function readTlsMaterial(
  document: YamlDocument,
  file: FileTls,
  from: TlsFiles,
  nowMs: number,
): Promise<TlsMaterial> {
  const cert = asBundle(await readPem(document, file, 'cert', from));
  const key = await readPem(document, file, 'key', from);
  const clientCa = asBundle(await readPem(document, file, 'client_ca', from));
  const parts = [cert, key, clientCa];
  const files = new Map(parts.flatMap((part) => part.files));
  const problems = [...parts.flatMap((part) => part.problems), ...pairProblems(cert, key, nowMs)];
  const isWrong = problems.some(({ severity }) => severity === 'error');
  if (isWrong || cert.text === undefined || key.text === undefined) {
    return { tls: undefined, problems, files };
  }
  const tls: ServerTls = {
    cert: cert.text,
    key: key.text,
    clientCa: clientCa.text,
    clientAuth: clientAuthOf(file.client_auth_type),
    allowedSans: file.client_allowed_sans,
    minVersion: tlsVersionOf(file.min_version),
    maxVersion: tlsVersionOf(file.max_version),
    ciphers: opensslCiphers(file.cipher_suites),
    curves: opensslCurves(file.curve_preferences),
    prefersServerCiphers: file.prefer_server_cipher_suites,
  };
  const refused = contextProblem(tls);
  if (refused === undefined) return { tls, problems, files };
  const problem = errorAt(cert.span, `${cert.subject} is refused by OpenSSL: ${refused}`);
  return { tls: undefined, problems: [...problems, problem], files };
}
