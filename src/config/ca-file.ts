import { X509Certificate } from 'node:crypto';
import { decodeUtf8, type ReadFile, readFailure } from './read-file.ts';

/** A CA file cannot be used. The message names the file, the reason and the remedy. */
export class CaFileError extends Error {
  override readonly name = 'CaFileError';
}

const certificates = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/gu;

/** Reads a bundle of certificates (PEM). Rejects with a `CaFileError` if it is none. */
export async function readCaFile(
  path: string,
  { readFile }: { readonly readFile: ReadFile },
): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const remedy = 'create it, readable for this user';
    throw new CaFileError(`the CA file ${path} ${readFailure(error)}: ${remedy}`);
  }
  const text = decodeUtf8(bytes) ?? '';
  const found = text.match(certificates) ?? [];
  if (found.length === 0 || !found.every(isCertificate)) {
    const remedy = 'write the certificates into it as PEM, each from BEGIN to END CERTIFICATE';
    throw new CaFileError(`the CA file ${path} holds no certificate that can be read: ${remedy}`);
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
