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
