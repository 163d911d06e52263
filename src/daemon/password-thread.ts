import { Worker } from 'node:worker_threads';
import type { ComparePassword } from '../server/basic-auth.ts';
import type { Platform } from './platform.ts';
import { type PasswordTask, type PasswordVerdict, passwordThread } from './thread-entry.ts';

export interface PasswordThreadOptions {
  /** The file of this program: started as a thread, it compares passwords. */
  readonly program: URL;
}

/** Each thread takes some memory, and the right passwords are known after the first scrapes. */
const idleMs = 30_000;
/** The longest comparison takes a few seconds, and a minute with a tenth of a processor. */
const longestMs = 120_000;
const mostMemoryMb = 32;

interface Waiting {
  readonly resolve: (isMatch: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that lives from the first comparison to the end of the last one. */
class PasswordThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #hasEnded = false;

  constructor(program: URL) {
    this.#worker = new Worker(program, {
      workerData: passwordThread,
      // The environment may hold keys.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: mostMemoryMb },
    });
    // A request that waits keeps the process alive, the thread alone does not.
    this.#worker.unref();
    this.#worker.on('message', ({ id, isMatch }: PasswordVerdict) => {
      this.#waiting.get(id)?.resolve(isMatch);
      this.#waiting.delete(id);
    });
    this.#worker.on('error', (error) => {
      this.end(error instanceof Error ? error : new Error(String(error)));
    });
    this.#worker.on('exit', () => {
      this.end(new Error('the thread that checks passwords ended'));
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async compare(hash: string, password: string): Promise<boolean> {
    const task: PasswordTask = { id: this.#nextId, hash, password };
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.set(task.id, { resolve, reject });
      this.#worker.postMessage(task, []);
    });
  }

  end(reason: Error): void {
    this.#hasEnded = true;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
    void this.#worker.terminate();
  }
}

/** Compares passwords, one after the other, in a thread that is started when there is one to compare. */
export function createPasswordThread(
  { program }: PasswordThreadOptions,
  { clock, stopSignal }: Pick<Platform, 'clock' | 'stopSignal'>,
): ComparePassword {
  let thread: PasswordThread | undefined;
  let comparing = 0;
  let cancelEnd: (() => void) | undefined;

  const endIfIdle = (): void => {
    cancelEnd?.();
    if (comparing === 0) thread?.end(new Error('nothing to do'));
  };
  stopSignal.addEventListener('abort', endIfIdle, { once: true });

  return async (hash, password) => {
    cancelEnd?.();
    if (thread === undefined || thread.hasEnded) thread = new PasswordThread(program);
    const current = thread;
    comparing += 1;
    const cancelTimeout = clock.after(longestMs, () => {
      current.end(new Error(`it took more than ${longestMs / 60_000} minutes`));
    });
    try {
      return await current.compare(hash, password);
    } finally {
      cancelTimeout();
      comparing -= 1;
      if (stopSignal.aborted) endIfIdle();
      else if (comparing === 0) cancelEnd = clock.after(idleMs, endIfIdle);
    }
  };
}
