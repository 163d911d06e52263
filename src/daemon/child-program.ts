import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { type Clock, sleep } from '../model/clock.ts';

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

/** What a daemon tells the process that has started it, again and again. */
export interface Heartbeat {
  /** Why polling has come to a halt that only a restart ends; `null` while all goes on. */
  readonly stalled: string | null;
}

export interface HeartbeatDependencies {
  readonly clock: Clock;
  readonly tellParent: (message: unknown) => void;
  readonly stalled: () => string | undefined;
}

export const heartbeatMs = 10_000;

/** Sends a heartbeat at once, and then every ten seconds until the signal is aborted. */
export async function sendHeartbeats(
  { clock, tellParent, stalled }: HeartbeatDependencies,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const heartbeat: Heartbeat = { stalled: stalled() ?? null };
    tellParent(heartbeat);
    await sleep(clock, heartbeatMs, signal).catch(() => {});
  }
}

/** `undefined` for any other message. */
export function heartbeatIn(message: unknown): Heartbeat | undefined {
  if (typeof message !== 'object' || message === null || !('stalled' in message)) return undefined;
  const { stalled } = message;
  return stalled === null || typeof stalled === 'string' ? { stalled } : undefined;
}

export interface HeapFacts {
  /** What the container may have; 0, or more than any machine has, where there is no limit. */
  readonly memoryBytes: number;
  /** What V8 would let the heap grow to. */
  readonly heapLimitBytes: number;
  /** The flags of Node that are in force by other ways, as one text. */
  readonly given: string;
}

/** Beside its heap the daemon takes 62 MiB, 40 of them Node.js itself; its parent up to 25 more. */
const heapShare = 0.5;

/**
 * Flags of Node with which a process that takes too much dies of its own heap, before the kernel kills
 * every process of the container. None where V8's own limit does that, or where a limit is given.
 */
export function heapFlags({ memoryBytes, heapLimitBytes, given }: HeapFacts): readonly string[] {
  const heapBytes = memoryBytes * heapShare;
  if (heapBytes <= 0 || heapBytes >= heapLimitBytes) return [];
  if (/--max[-_](?:old[-_]space|heap)[-_]size/u.test(given)) return [];
  return [`--max-old-space-size=${Math.max(1, Math.floor(heapBytes / 1024 ** 2))}`];
}

/**
 * The memory that a process alone takes, as Linux tells it; `undefined` if the process has ended, or if
 * this is not Linux. Files that it has mapped are not in it, since the kernel can drop them.
 */
export function unsharedBytesOf(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kilobytes = /^RssAnon:\s*(\d+) kB$/mu.exec(status)?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
