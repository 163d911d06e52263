import { createPrivateKey, X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Node } from 'yaml';
import { bundleProblem, bundleRemedy } from '../../config/ca-file.ts';
import { errorAt, type Problem, warningAt } from '../../config/diagnostic.ts';
import { fileError } from '../../config/load-config.ts';
import {
  digestOf,
  mayPass,
  type ReadFile,
  readFailure,
  readRemedy,
} from '../../config/read-file.ts';
import { locate, type Span, spanOf } from '../../config/yaml-node.ts';
import { dayMs } from '../../model/time.ts';
import type { ServerTls } from '../../model/web-config.ts';
import { clientAuthOf, opensslCiphers, opensslCurves, tlsVersionOf } from './tls-names.ts';
import type { FileTls } from './web-config-schema.ts';

interface MaterialDependencies {
  /** Paths are relative to it. */
  readonly directory: string;
  readonly readFile: ReadFile;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** What the files of `tls_server_config` hold. `tls` is only defined if no problem is an error. */
interface TlsMaterial {
  readonly tls: ServerTls | undefined;
  readonly problems: readonly Problem[];
  /** The digest of each file that was read, by path; empty for one that could not be read. */
  readonly files: ReadonlyMap<string, string>;
}

/** A text from the configuration or from a file that it names. */
interface Part {
  readonly text: string | undefined;
  /** Such as `"cert_file" /etc/tls/tls.crt`. */
  readonly subject: string;
  readonly span: Span | undefined;
}

type PartName = 'cert' | 'key' | 'client_ca';

class Material {
  readonly problems: Problem[] = [];
  readonly files = new Map<string, string>();
  readonly #root: Node;
  readonly #dependencies: MaterialDependencies;

  constructor(root: Node, dependencies: MaterialDependencies) {
    this.#root = root;
    this.#dependencies = dependencies;
  }

  async part(tls: FileTls, name: PartName): Promise<Part> {
    const file = tls[`${name}_file`];
    const key = file === undefined ? name : `${name}_file`;
    const node = locate(this.#root, ['tls_server_config', key]);
    const span = node === undefined ? undefined : spanOf(node);
    if (file === undefined) return { text: tls[name], subject: `"${name}"`, span };
    const path = resolve(this.#dependencies.directory, file);
    const subject = `"${key}" ${path}`;
    try {
      const bytes = await this.#dependencies.readFile(path);
      this.files.set(path, digestOf(bytes));
      return { text: new TextDecoder().decode(bytes), subject, span };
    } catch (error) {
      this.files.set(path, '');
      const help = readRemedy(error, 'create it, readable by this user');
      if (mayPass(error))
        throw fileError(path, `${subject} ${readFailure(error)}`, help, { cause: error });
      this.problems.push(errorAt(span, `${subject} ${readFailure(error)}`, help));
      return { text: undefined, subject, span };
    }
  }

  /** Reports what is wrong with a bundle of certificates. */
  bundle({ text, subject, span }: Part): string | undefined {
    const problem = text === undefined ? undefined : bundleProblem(text);
    if (problem === undefined) return text;
    this.problems.push(errorAt(span, `${subject} ${problem}`, bundleRemedy));
    return undefined;
  }
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

function dateWarning(cert: string, { subject, span }: Part, nowMs: number): readonly Problem[] {
  const { validFrom, validTo } = new X509Certificate(cert);
  const start = Date.parse(validFrom);
  const end = Date.parse(validTo);
  if (end <= nowMs) {
    return [warningAt(span, `${subject} expired on ${dayOf(end)}: clients will refuse it`)];
  }
  if (start <= nowMs + dayMs) return [];
  return [warningAt(span, `${subject} is not valid before ${dayOf(start)}`)];
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

/** Reads and checks the certificate, its key and the CAs of clients. Never rejects. */
export async function readTlsMaterial(
  root: Node,
  file: FileTls | undefined,
  dependencies: MaterialDependencies,
): Promise<TlsMaterial> {
  const material = new Material(root, dependencies);
  const { problems, files } = material;
  if (file === undefined) return { tls: undefined, problems, files };
  const certPart = await material.part(file, 'cert');
  const keyPart = await material.part(file, 'key');
  const cert = material.bundle(certPart);
  const clientCa = material.bundle(await material.part(file, 'client_ca'));
  const { text: key } = keyPart;
  if (cert !== undefined && key !== undefined) {
    problems.push(...dateWarning(cert, certPart, dependencies.nowMs));
    const [message, help] = keyProblem(key, cert) ?? [];
    if (message !== undefined) {
      problems.push(errorAt(keyPart.span, `${keyPart.subject} ${message}`, help));
    }
  }
  const isGood = problems.every(({ severity }) => severity === 'warning');
  if (!isGood || cert === undefined || key === undefined)
    return { tls: undefined, problems, files };
  const tls: ServerTls = {
    cert,
    key,
    clientCa,
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
  const problem = errorAt(certPart.span, `${certPart.subject} is refused by OpenSSL: ${refused}`);
  return { tls: undefined, problems: [...problems, problem], files };
}
