import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

export type Pieces = AsyncIterable<string> | Iterable<string>;

/**
 * Writes a file under another name first: one with its own name is whole whatever happens. Rejects with the reason
 * of the signal, or with the error of the system.
 */
export async function writeWhole(path: string, pieces: Pieces, signal: AbortSignal): Promise<void> {
  const unfinished = `${path}.tmp`;
  await pipeline(pieces, createWriteStream(unfinished, { flush: true }), { signal });
  await rename(unfinished, path);
}
