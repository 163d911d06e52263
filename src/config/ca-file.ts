import { X509Certificate } from 'node:crypto';
import { type ReadFile, readFailure, readRemedy } from './read-file.ts';

/** A CA file cannot be used. The message names the file, the reason and the remedy. */
export class CaFileError extends Error {
  override readonly name = 'CaFileError';
  /** What is wrong, as a clause that names the file. */
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string, options?: ErrorOptions) {
    super(`${reason}: ${remedy}`, options);
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** Each certificate from `BEGIN` to `END`; without an `END`, to the next `BEGIN` or the end of the file. */
const certificates =
  /-----BEGIN CERTIFICATE-----(?:(?!-----BEGIN )[\s\S])*?(?:-----END CERTIFICATE-----|(?=-----BEGIN )|$)/gu;

/** Reads a bundle of certificates (PEM). Rejects with a `CaFileError` if the file is not one. */
export async function readCaFile(
  path: string,
  { readFile }: { readonly readFile: ReadFile },
): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const remedy = readRemedy(error, 'create it, readable by this user');
    throw new CaFileError(`the CA file ${path} ${readFailure(error)}`, remedy, { cause: error });
  }
  // The encoding of comments between the certificates does not matter.
  const text = new TextDecoder().decode(bytes);
  const problem = bundleProblem(text);
  if (problem !== undefined) throw new CaFileError(`the CA file ${path} ${problem}`, bundleRemedy);
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
