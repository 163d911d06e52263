import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';

export type ChildEnd =
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'not_started'; readonly error: Error };

/** This program, running once more as a child process of this one. */
export interface ChildProgram {
  /** Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** Does nothing if the child has ended. */
  signal(name: 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void;
}

export interface ChildProgramOptions {
  readonly args: readonly string[];
  /** Called with each message of the child. */
  readonly onMessage: (message: unknown) => void;
}

/**
 * Starts the program's file once more, with the same flags of Node and the same standard streams. The
 * child runs out of heap before the container runs out of memory. It outlives this process only if this
 * process is killed while the child hangs.
 */
export function startChildProgram(
  program: URL,
  { args, onMessage }: ChildProgramOptions,
): ChildProgram {
  let child: ChildProcess;
  try {
    child = fork(fileURLToPath(program), args, {
      execArgv: [...process.execArgv, ...heapFlagsHere()],
      stdio: 'inherit',
    });
  } catch (error) {
    // Without memory for a process, `fork` throws instead of emitting an error.
    return {
      ended: Promise.resolve({ kind: 'not_started', error: asError(error) }),
      signal: () => {},
    };
  }
  child.on('message', onMessage);
  const killWithUs = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', killWithUs);
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ kind: 'ended', code, signal });
    });
    // Also emitted for a signal that could not be sent.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ kind: 'not_started', error });
    });
  });
  return {
    ended: ended.finally(() => {
      process.removeListener('exit', killWithUs);
    }),
    signal: (name) => {
      child.kill(name);
    },
  };
}

function heapFlagsHere(): readonly string[] {
  return heapFlags({
    memoryBytes: process.constrainedMemory() ?? 0,
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    given: [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' '),
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

export interface HeapFacts {
  /** The limit of the container; 0, or more than any machine has, if there is none. */
  readonly memoryBytes: number;
  /** The size up to which V8 would let the heap grow. */
  readonly heapLimitBytes: number;
  /** The flags of Node that were given otherwise, as one text. */
  readonly given: string;
}

/** Outside its heap the daemon takes 62 MiB, 40 of them Node.js itself, and its parent up to 25 more. */
const heapShare = 0.5;

/**
 * Flags of Node that make a process with too many objects run out of heap before the kernel kills every
 * process of the container. None if V8's own limit does that already, or if a limit was given.
 */
export function heapFlags({ memoryBytes, heapLimitBytes, given }: HeapFacts): readonly string[] {
  const heapBytes = memoryBytes * heapShare;
  if (heapBytes <= 0 || heapBytes >= heapLimitBytes) return [];
  if (/--max[-_](?:old[-_]space|heap)[-_]size/u.test(given)) return [];
  return [`--max-old-space-size=${Math.max(1, Math.floor(heapBytes / 1024 ** 2))}`];
}
