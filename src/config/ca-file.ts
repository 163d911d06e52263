import { X509Certificate } from 'node:crypto';
import { type ReadFile, readFailure, readRemedy } from './read-file.ts';

/** A CA file cannot be used. The message names the file, the reason and the remedy. */
export class CaFileError extends Error {
  override readonly name = 'CaFileError';
  /** What is wrong, as a clause that names the file. */
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason}: ${remedy}`);
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
    throw new CaFileError(`the CA file ${path} ${readFailure(error)}`, remedy);
  }
  // The encoding of comments between the certificates does not matter.
  const text = new TextDecoder().decode(bytes);
  const found = text.match(certificates) ?? [];
  const remedy = 'write the certificates into it as PEM, each from BEGIN to END CERTIFICATE';
  if (found.length === 0) {
    throw new CaFileError(`the CA file ${path} holds no certificate that can be read`, remedy);
  }
  const broken = found.findIndex((pem) => !isCertificate(pem));
  if (broken !== -1) {
    const which = `number ${broken + 1} of ${found.length}`;
    throw new CaFileError(`the CA file ${path} has a broken certificate, ${which}`, remedy);
  }
  return text;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
