import { X509Certificate } from 'node:crypto';
import type { AccountConfig, SecretLocation } from '../model/config.ts';
import { own } from '../model/own.ts';
import { decodeUtf8, type ReadFile, readFailure, readRemedy } from './read-file.ts';
import { parseProxyUrl } from './url.ts';

/**
 * A file or a variable that the configuration names cannot be used. The message names it, the reason and
 * the remedy, never its content.
 */
export class NamedFileError extends Error {
  override readonly name = 'NamedFileError';
  /** What is wrong, as a clause that names the file or the variable. */
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string, options?: ErrorOptions) {
    super(`${reason}: ${remedy}`, options);
    this.reason = reason;
    this.remedy = remedy;
  }
}

/**
 * Reads a file that the configuration names. Rejects with a `NamedFileError` if it cannot be read.
 *
 * @param what the file, as messages name it
 * @param missing the remedy for a file that is not there
 */
async function readNamedFile(
  path: string,
  { what, missing }: { readonly what: string; readonly missing: string },
  { readFile }: { readonly readFile: ReadFile },
): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    const reason = `${what} ${readFailure(error)}`;
    const isDirectory = error instanceof Error && 'code' in error && error.code === 'EISDIR';
    const present = isDirectory ? 'write the path of a file in it' : missing;
    const otherwise = path.includes('/~') ? '"~" is not replaced: write the whole path' : present;
    throw new NamedFileError(reason, readRemedy(error, otherwise), { cause: error });
  }
}

export interface ApiKeyDependencies {
  readonly readFile: ReadFile;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A secret as messages name it. */
type SecretName = 'API key' | 'proxy URL';

function describeLocation(what: SecretName, location: SecretLocation): string {
  return location.kind === 'file'
    ? `the ${what} file ${location.path}`
    : `the environment variable ${location.name}`;
}

/** Reads a secret, without the white space around it. Rejects with a `NamedFileError` if there is none. */
async function readSecret(
  what: SecretName,
  location: SecretLocation,
  dependencies: ApiKeyDependencies,
): Promise<string> {
  const place = describeLocation(what, location);
  if (location.kind === 'env') {
    const { env } = dependencies;
    const value = own(env, location.name);
    if (value !== undefined) return value.trim();
    throw new NamedFileError(`${place} is not set`, `set it to the ${what}`);
  }
  const missing = `create it with the ${what} as its only content, readable by this user`;
  const bytes = await readNamedFile(location.path, { what: place, missing }, dependencies);
  const text = decodeUtf8(bytes);
  if (text !== undefined) return text.trim();
  throw new NamedFileError(`${place} is not plain text`, `write the ${what} into it`);
}

/** Reads the URL of a proxy in the same way. */
export async function readProxyUrl(
  location: SecretLocation,
  dependencies: ApiKeyDependencies,
): Promise<string> {
  const text = await readSecret('proxy URL', location, dependencies);
  const refuse = (problem: string): never => {
    const place = describeLocation('proxy URL', location);
    throw new NamedFileError(`the content of ${place} ${problem}`, 'put only the URL into it');
  };
  return parseProxyUrl(text, refuse) ?? '';
}

const onlyKey = 'put only the key into it';

/** What is no API key at all. The first form that fits counts. */
const defects: readonly (readonly [form: RegExp, predicate: string, remedy: string])[] = [
  [/^$/u, 'is empty', 'put the API key into it'],
  [/^["'`]|["'`]$/u, 'holds the API key in quotes', 'remove the quotes'],
  [
    /^(?:export\s+)?[A-Za-z_]\w*\s*=\s*[^\s=]/u,
    'holds an assignment such as NAME=VALUE',
    `${onlyKey}, which is what follows "="`,
  ],
  [/^(?:x-)?api-key\s*:/iu, 'holds the name of a header in front of the key', onlyKey],
  [/^(?:bearer|basic|token)\s/iu, 'holds a word such as "Bearer" in front of the key', onlyKey],
  // New Relic's keys have 32 to 47 characters: a much longer text is another file.
  [/^.{513}/su, 'is too long for an API key', onlyKey],
  [
    /[^\u{21}-\u{7e}]/u,
    'holds white space, control or non-ASCII characters inside the key',
    onlyKey,
  ],
];

/**
 * Reads an account's API key, without the white space around it. Rejects with a `NamedFileError` if there is
 * no key, or none that a header can carry.
 */
export async function readApiKey(
  location: SecretLocation,
  dependencies: ApiKeyDependencies,
): Promise<string> {
  const key = await readSecret('API key', location, dependencies);
  const defect = defects.find(([form]) => form.test(key));
  if (defect === undefined) return key;
  const [, predicate, remedy] = defect;
  throw new NamedFileError(`${describeLocation('API key', location)} ${predicate}`, remedy);
}

/** Each certificate from `BEGIN` to `END`; without an `END`, to the next `BEGIN` or the end of the file. */
const certificates =
  /-----BEGIN CERTIFICATE-----(?:(?!-----BEGIN )[\s\S])*?(?:-----END CERTIFICATE-----|(?=-----BEGIN )|$)/gu;

/** Reads a bundle of certificates (PEM). Rejects with a `NamedFileError` if the file is not one. */
export async function readCaFile(
  path: string,
  dependencies: { readonly readFile: ReadFile },
): Promise<string> {
  const what = `the CA file ${path}`;
  const missing = 'create it, readable by this user';
  const bytes = await readNamedFile(path, { what, missing }, dependencies);
  // The encoding of comments between the certificates does not matter.
  const text = new TextDecoder().decode(bytes);
  const problem = bundleProblem(text);
  if (problem !== undefined) throw new NamedFileError(`${what} ${problem}`, bundleRemedy);
  return text;
}

export const bundleRemedy =
  'write the certificates into it as PEM, each from BEGIN to END CERTIFICATE';

/** What is wrong with a bundle of certificates (PEM), as a predicate; `undefined` if nothing is. */
export function bundleProblem(text: string): string | undefined {
  const found = text.match(certificates) ?? [];
  if (found.length === 0) return 'holds no certificate that can be read';
  const broken = found.findIndex((pem) => !isCertificate(pem));
  if (broken === -1) return undefined;
  return `has a broken certificate, number ${broken + 1} of ${found.length}`;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** What an account names outside the configuration file. */
export type Outside = {
  readonly [Key in 'apiKey' | 'proxyUrlFrom' | 'caFile']?: AccountConfig[Key] | undefined;
};

/** Reads all that an account names. What is absent, or refused without an error, is `undefined`. */
export async function readOutside(
  { apiKey, proxyUrlFrom, caFile }: Outside,
  dependencies: ApiKeyDependencies,
  refuse: (what: keyof Outside, error: NamedFileError) => void,
): Promise<Readonly<Partial<Record<'key' | 'proxyUrl' | 'ca', string | undefined>>>> {
  const or = (what: keyof Outside) => (error: unknown) => {
    if (!(error instanceof NamedFileError)) throw error;
    refuse(what, error);
    return undefined;
  };
  const key = apiKey && (await readApiKey(apiKey, dependencies).catch(or('apiKey')));
  const proxyUrl =
    proxyUrlFrom && (await readProxyUrl(proxyUrlFrom, dependencies).catch(or('proxyUrlFrom')));
  if (caFile === undefined) return { key, proxyUrl };
  return { key, proxyUrl, ca: await readCaFile(caFile, dependencies).catch(or('caFile')) };
}
