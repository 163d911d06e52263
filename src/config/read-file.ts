import { createHash } from 'node:crypto';

/**
 * Reads a whole file; rejects as `fs.promises.readFile` does, and with the codes `ENOTREG` for what is
 * no regular file, `EFBIG` for one that is far too large and `ETIMEDOUT` for one that cannot be read in
 * time.
 */
export type ReadFile = (path: string) => Promise<Uint8Array>;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  EISDIR: 'is a directory',
  ENOTREG: 'is not a regular file',
  // What opening a socket gives.
  ENXIO: 'is not a regular file',
  EFBIG: 'is far too large',
  ETIMEDOUT: 'cannot be read: its file system does not answer',
};

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'let the user of this process read it, and search the directories above it',
  EPERM: 'let the user of this process read it',
  EFBIG: 'is it the right file?',
  ETIMEDOUT: 'check the volume that it is on',
};

/** Why a file could not be read, as a predicate such as "does not exist". */
export function readFailure(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) return 'cannot be read';
  return reasons[code] ?? `cannot be read (${code})`;
}

/** What to do about it, where the reason says that; `otherwise` is what the file's role suggests. */
export function readRemedy(error: unknown, otherwise: string): string {
  return remedies[codeOf(error) ?? ''] ?? otherwise;
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Tells one content of a file from another. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The text of a file in UTF-8, without a byte order mark; `undefined` if it is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
