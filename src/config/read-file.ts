import { createHash } from 'node:crypto';
import { own } from '../model/own.ts';

/**
 * Reads a whole file. Rejects like `fs.promises.readFile`, and with these codes: `ENOTREG` if it is not
 * a regular file, `EFBIG` if it is far too large, `ETIMEDOUT` if it cannot be read in time.
 */
export type ReadFile = (path: string) => Promise<Uint8Array>;

/** The files that a configuration is read from. */
export interface FileSystem {
  readonly readFile: ReadFile;
  /**
   * The names in a directory; none if there is no such directory. Rejects like `fs.promises.readdir`, and with
   * the code `ETIMEDOUT` if that takes too long.
   */
  readonly listDirectory: (path: string) => Promise<readonly string[]>;
  /** The path without symbolic links. Rejects like `fs.promises.realpath`. */
  readonly realPath: (path: string) => Promise<string>;
}

const checkVolume = 'check the volume that it is on';
const grant = 'let the user of this process read it';

/** Why a file cannot be read, by the code of the error, and what helps. */
const readFailures: Readonly<Record<string, readonly [reason: string, remedy?: string]>> = {
  ENOENT: ['does not exist'],
  ENOTDIR: ['does not exist'],
  EACCES: ['cannot be read: permission denied', `${grant}, and search the directories above it`],
  EPERM: ['cannot be read: permission denied', grant],
  EISDIR: ['is a directory'],
  ENOTREG: ['is not a regular file'],
  // The error of opening a socket.
  ENXIO: ['is not a regular file'],
  EFBIG: ['is far too large', 'is it the right file?'],
  ETIMEDOUT: ['cannot be read: its file system does not answer', checkVolume],
  EIO: ['cannot be read (EIO)', checkVolume],
  ESTALE: ['cannot be read (ESTALE)', checkVolume],
};

function reasonAndRemedy(error: unknown): readonly [reason: string, remedy?: string] {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string') return ['cannot be read'];
  return own(readFailures, code) ?? [`cannot be read (${code})`];
}

/** Why a file could not be read, as a predicate such as "does not exist". */
export function readFailure(error: unknown): string {
  return reasonAndRemedy(error)[0];
}

/** The remedy for the reason of a failure. `otherwise` is the remedy for all other reasons. */
export function readRemedy<Otherwise extends string | undefined>(
  error: unknown,
  otherwise: Otherwise,
): string | Otherwise {
  return reasonAndRemedy(error)[1] ?? otherwise;
}

/** Whether an error, or its cause, is that of a volume that does not answer, and may yet do so. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return readRemedy(error, undefined) === checkVolume || mayPass(error.cause);
}

/** The order of texts byte by byte: a negative number if the first comes before. */
export function inOrder(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** A digest that changes with the content of a file. */
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
