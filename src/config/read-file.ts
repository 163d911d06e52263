/** Reads a whole file; rejects as `fs.promises.readFile` does. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  EISDIR: 'is a directory',
};

/** Why a file could not be read, as a predicate such as "does not exist". */
export function readFailure(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') return 'cannot be read';
  return reasons[code] ?? `cannot be read (${code})`;
}

/** The text of a file in UTF-8, without a byte order mark; `undefined` if it is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
