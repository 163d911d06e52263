import { parentPort, Worker } from 'node:worker_threads';
import type { ComparePassword } from '../server/basic-auth.ts';
import type { Machine } from './platform.ts';

/** Each thread takes some memory, and the right passwords are known after the first scrapes. */
const idleMs = 30_000;
/** The longest comparison takes a few seconds, and a minute with a tenth of a processor. */
const longestMs = 120_000;
const mostMemoryMb = 32;

/** A password to compare with a bcrypt hash. */
interface PasswordTask {
  readonly hash: string;
  readonly password: string;
}

interface Waiting {
  readonly resolve: (isMatch: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that lives from the first comparison until it fails or is ended. */
class PasswordThread {
  readonly #worker: Worker;
  #waiting: Waiting | undefined;
  hasEnded = false;

  constructor(program: URL) {
    this.#worker = new Worker(program, {
      // The environment may hold keys.
      env: {},
      // The flags of the process, such as those of a debugger, are not meant for the thread.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb },
    });
    // A request that waits keeps the process alive, the thread alone does not.
    this.#worker.unref();
    this.#worker.on('message', (isMatch: boolean) => this.#waiting?.resolve(isMatch));
    this.#worker.on('error', (error) => this.end(error));
    this.#worker.on('exit', () => this.end(new Error('the thread that checks passwords ended')));
  }

  async compare(task: PasswordTask): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(task, []);
    });
  }

  end(reason: unknown): void {
    this.hasEnded = true;
    this.#waiting?.reject(reason);
    void this.#worker.terminate();
  }
}

/**
 * Compares passwords in a thread that is started when there is one to compare. Calls must not overlap.
 * Rejects if the thread fails; the next call starts another one.
 *
 * @param program the file of this program: started as a thread, it compares passwords
 */
export function createPasswordThread(
  program: URL,
  { clock, stopSignal }: Pick<Machine, 'clock' | 'stopSignal'>,
): ComparePassword {
  let thread: PasswordThread | undefined;
  let cancelEnd: (() => void) | undefined;
  stopSignal.addEventListener('abort', () => cancelEnd?.(), { once: true });

  return async (hash, password) => {
    cancelEnd?.();
    if (thread === undefined || thread.hasEnded) thread = new PasswordThread(program);
    const current = thread;
    const cancelTimeout = clock.after(longestMs, () => {
      current.end(new Error(`it took more than ${longestMs / 60_000} minutes`));
    });
    try {
      return await current.compare({ hash, password });
    } finally {
      cancelTimeout();
      if (!stopSignal.aborted) {
        cancelEnd = clock.after(idleMs, () => current.end(new Error('nothing to do')));
      }
    }
  };
}

/** The other side: this program, started as a thread, compares what it is sent. */
export async function compareForParent(): Promise<void> {
  // Loaded here alone: the daemon itself never computes a hash.
  const { compareSync } = await import('bcryptjs');
  parentPort?.on('message', ({ hash, password }: PasswordTask) => {
    parentPort?.postMessage(compareSync(password, hash), []);
  });
}
