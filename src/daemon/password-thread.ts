import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Clock } from '../model/clock.ts';
import type { ComparePassword } from '../web/basic-auth.ts';

/** The longest comparison takes a few seconds, and a minute with a tenth of a processor. */
const longestMs = 120_000;
const mostMemoryMb = 32;

/**
 * Compares each password in a thread of its own: a scraper comes again and again with the same one, whose
 * verdict the server remembers. Rejects if the thread fails.
 *
 * @param program the file of this program: started as a thread, it compares a password
 */
export function createPasswordThread(program: URL, clock: Clock): ComparePassword {
  return async (hash, password) => {
    const worker = new Worker(program, {
      workerData: [hash, password],
      // The environment may hold keys.
      env: {},
      // The flags of the process, such as those of a debugger, are not meant for the thread.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb },
    });
    // A request that waits keeps the process alive, the thread alone does not.
    worker.unref();
    const cancel = clock.after(longestMs, () => void worker.terminate());
    try {
      return await new Promise<boolean>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
        worker.once('exit', () => reject(new Error('the thread that checks a password ended')));
      });
    } finally {
      cancel();
    }
  };
}

/** The other side: this program, started as a thread, compares what it was given. */
export async function compareForParent(): Promise<void> {
  // Loaded here alone: the daemon itself never computes a hash.
  const { compareSync } = await import('bcryptjs');
  const [hash = '', password = ''] = workerData;
  parentPort?.postMessage(compareSync(password, hash), []);
}
