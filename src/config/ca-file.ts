import { X509Certificate } from 'node:crypto';
import { NamedFileError, type ReadFile, readNamedFile } from './read-file.ts';

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
