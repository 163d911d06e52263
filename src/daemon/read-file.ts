import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ReadFile } from '../config/read-file.ts';
import type { Clock } from '../model/clock.ts';

/** Far longer than any disk takes, and shorter than somebody at a terminal waits. */
const limitMs = 5000;

/**
 * Reads files as `read` does, but rejects with the code `ETIMEDOUT` after five seconds: a network
 * mount may never answer. While it does not, the same file is refused at once, because each read that
 * hangs holds one of the few threads of the process.
 */
export function createBoundedReader({
  clock,
  read,
}: {
  readonly clock: Clock;
  readonly read: ReadFile;
}): ReadFile {
  const hanging = new Set<string>();

  return async (path) => {
    if (hanging.has(path)) throw timedOut(path);
    return new Promise((resolve, reject) => {
      const cancel = clock.after(limitMs, () => {
        hanging.add(path);
        reject(timedOut(path));
      });
      const ended = (): void => {
        cancel();
        hanging.delete(path);
      };
      read(path).finally(ended).then(resolve, reject);
    });
  };
}

function timedOut(path: string): Error {
  return Object.assign(new Error(`ETIMEDOUT: no answer while reading ${path}`), {
    code: 'ETIMEDOUT',
  });
}

/** Configurations, keys and CA bundles are smaller; a log named by mistake would fill the memory. */
const largestBytes = 4 * 1024 ** 2;

/**
 * Reads a whole file, but nothing that is no regular file: a FIFO or a device may never end. Rejects
 * as `fs.promises.readFile` does, for those with the code `ENOTREG`, and for a file of more than 4 MiB
 * with `EFBIG`.
 */
export async function readRegularFile(path: string): Promise<Uint8Array> {
  // Opening a FIFO would otherwise wait for its writer, in a thread that is needed elsewhere.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw failure('EISDIR', `${path} is a directory`);
    if (!stats.isFile()) throw failure('ENOTREG', `${path} is not a regular file`);
    if (stats.size > largestBytes) throw failure('EFBIG', `${path} is larger than 4 MiB`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}
