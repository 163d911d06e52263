import { type ChildProcess, fork } from 'node:child_process';
import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { heapFlags } from './heap-flags.ts';
import { unsharedBytesOf } from './unshared-memory.ts';

/** How a child process came to its end. */
export type ChildEnd =
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'not_started'; readonly error: Error };

/** This program, running once more as a child process of this one. */
export interface ChildProgram {
  /** Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** Does nothing to one that has ended. */
  signal(name: 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void;
  /** The memory that it alone takes; `undefined` where the container has no limit, or nobody tells. */
  memory(): ChildMemory | undefined;
}

export interface ChildMemory {
  readonly usedBytes: number;
  /** What the container may have, this process included. */
  readonly limitBytes: number;
}

export interface ChildProgramOptions {
  readonly args: readonly string[];
  /** Is called with what the child tells its parent. */
  readonly heard: (message: unknown) => void;
}

/**
 * Starts the program's file once more, with the same flags of Node and the same standard streams. Its
 * heap ends before the memory of the container does. It does not outlive this process, unless that is
 * killed and the child hangs.
 */
export function startChildProgram(
  program: URL,
  { args, heard }: ChildProgramOptions,
): ChildProgram {
  let child: ChildProcess;
  try {
    child = fork(fileURLToPath(program), args, {
      execArgv: [...process.execArgv, ...heapFlagsHere()],
      stdio: 'inherit',
    });
  } catch (error) {
    // What is refused for want of memory is thrown, not emitted.
    return {
      ended: Promise.resolve({ kind: 'not_started', error: asError(error) }),
      signal: () => {},
      memory: () => undefined,
    };
  }
  const limitBytes = memoryLimitBytes();
  child.on('message', heard);
  const killWithUs = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', killWithUs);
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ kind: 'ended', code, signal });
    });
    // Not only a failed start: a signal that could not be sent is reported here too.
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
    memory: () => {
      const usedBytes = limitBytes === undefined ? undefined : unsharedBytesOf(child.pid ?? 0);
      return limitBytes === undefined || usedBytes === undefined
        ? undefined
        : { usedBytes, limitBytes };
    },
  };
}

/** `undefined` where the machine has no more than the container may have. */
function memoryLimitBytes(): number | undefined {
  const bytes = process.constrainedMemory() ?? 0;
  return bytes > 0 && bytes < totalmem() ? bytes : undefined;
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
