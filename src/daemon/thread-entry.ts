import { parentPort, workerData } from 'node:worker_threads';

/** The `workerData` of a thread that compares passwords. */
export const passwordThread = 'passwords';

/** A password to compare with a bcrypt hash. */
export interface PasswordTask {
  readonly id: number;
  readonly hash: string;
  readonly password: string;
}

export interface PasswordVerdict {
  readonly id: number;
  readonly isMatch: boolean;
}

/** What this program does when it is started as a thread. */
export async function runAsThread(): Promise<void> {
  if (workerData === passwordThread) return comparePasswords();
  const { parseForParent } = await import('./config-thread.ts');
  return parseForParent();
}

async function comparePasswords(): Promise<void> {
  // Loaded here alone: the daemon itself never computes a hash.
  const { compareSync } = await import('bcryptjs');
  parentPort?.on('message', ({ id, hash, password }: PasswordTask) => {
    const verdict: PasswordVerdict = { id, isMatch: compareSync(password, hash) };
    parentPort?.postMessage(verdict, []);
  });
}
