import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, fstatSync, writeSync } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { hostname, uptime } from 'node:os';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { type Clock, sleep } from '../model/clock.ts';
import { createRedactor } from '../publish/redactor.ts';
import type { ChildProgram, Platform } from './platform.ts';

/** Outside its heap the daemon takes 62 MiB, 40 of them Node.js itself, and its parent up to 25 more. */
const heapShare = 0.5;

/**
 * What the heap may grow to: in a small container V8's own limit exceeds the memory of the container.
 *
 * @param memoryBytes the limit of the container; 0, or more than any machine has, if there is none
 */
export function heapBytesWithin(memoryBytes: number, limitBytes: number): number {
  return memoryBytes > 0 ? Math.min(limitBytes, memoryBytes * heapShare) : limitBytes;
}

function tellParent(message: unknown): void {
  // A parent that has ended needs no message; `program.ts` notices its end.
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * A container usually has the host name of its pod, as an agent in the same pod does. The two differ if
 * the pod shares the network of its node, or has a host name of its own.
 */
function ownHostNames(podName: string | undefined, hostName: string): readonly string[] {
  return podName === undefined || podName === '' ? [hostName] : [...new Set([podName, hostName])];
}

/** Windows has no permissions that these bits could tell. */
async function fileMode(path: string): Promise<number | undefined> {
  if (process.platform === 'win32') return undefined;
  try {
    return (await stat(path)).mode & 0o777;
  } catch {
    return undefined;
  }
}

/**
 * The platform that this process runs on: Node.js and the machine below it.
 *
 * @param program the file of this program, which can also be started as a thread or as a child process
 */
export function createNodePlatform(program: URL, stopSignal: AbortSignal): Platform {
  const clock = createSystemClock();
  const { heap_size_limit: limitBytes } = getHeapStatistics();
  const heapBytes = heapBytesWithin(process.constrainedMemory() ?? 0, limitBytes);
  return {
    clock,
    random: Math.random,
    env: process.env,
    startedFile: process.argv[1] ?? '',
    readFile: createBoundedReader(clock, readRegularFile),
    listDirectory: createBoundedReader(clock, listDirectory),
    realPath: createBoundedReader(clock, async (path) => realpath(path)),
    fileMode,
    heapBytes,
    // Loaded on demand: most processes have no passwords.
    comparePassword: async (hash, password) => {
      const { createPasswordThread } = await import('./password-thread.ts');
      return createPasswordThread(program, clock)(hash, password);
    },
    hostname: hostname(),
    ownHostNames: ownHostNames(process.env['POD_NAME'], hostname()),
    // Loaded on demand: it would take half of the time of `--version`.
    openTransport: async (options) => {
      const { answerLimits } = await import('../newrelic/calls/answer-body.ts');
      const { createUndiciTransport } = await import('../newrelic/calls/undici-transport.ts');
      return createUndiciTransport(options, { maxBytes: answerLimits(heapBytes) });
    },
    nextTurn,
    stdout: process.stdout,
    print,
    stderr: process.stderr,
    progress: { show: () => {} },
    redactor: createRedactor(),
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
    },
    startChild: (args) => startChildProgram(program, heapBytes, args),
    tellParent: process.send === undefined ? undefined : tellParent,
    stopSignal,
  };
}

/**
 * Starts the program's file once more, with the same flags of Node and the same standard streams. The
 * child runs out of heap before the kernel kills every process of the container, unless other flags give
 * its heap another limit. It outlives this process only if this process is killed while the child hangs.
 *
 * @param heapBytes what its heap may grow to
 */
export function startChildProgram(
  program: URL,
  heapBytes: number,
  args: readonly string[],
): ChildProgram {
  const heapFlag = `--max-old-space-size=${Math.ceil(heapBytes / 1024 ** 2)}`;
  // Of flags that say the same the last one counts.
  const NODE_OPTIONS = `${heapFlag} ${process.env['NODE_OPTIONS'] ?? ''}`;
  const env = { ...process.env, NODE_OPTIONS };
  const child = fork(fileURLToPath(program), args, { env, stdio: 'inherit' });
  const signal: ChildProgram['signal'] = (name) => void child.kill(name);
  const killWithUs = (): void => signal('SIGKILL');
  process.once('exit', killWithUs);
  // Also emitted for a signal that could not be sent.
  child.on('error', () => {});
  const ended = once(child, 'exit').then(([code, name]) => ({ code, signal: name }));
  return {
    ended: ended.finally(() => process.removeListener('exit', killWithUs)),
    onMessage: (listener) => void child.on('message', listener),
    signal,
  };
}

/** A timer of Node with a longer delay fires at once. Longer waits look at the clock again. */
const longestTimerMs = 2 ** 31 - 1;

/** The delay within the range of a timer. */
export function timerDelayMs(delayMs: number): number {
  return Math.min(Math.max(0, delayMs), longestTimerMs);
}

/** The system's clocks. Only this file and `program.ts` touch global time. */
export function createSystemClock(): Clock {
  return {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    uptimeMs: () => 1000 * uptime(),
    after: (delayMs, run) => {
      const timer = setTimeout(run, timerDelayMs(delayMs));
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

/** Far longer than any disk takes, and shorter than the patience of somebody at a terminal. */
const limitSeconds = 5;

/** The names in a directory; none if there is no such directory. */
async function listDirectory(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/**
 * Reads files as `read` does, but rejects with the code `ETIMEDOUT` after five seconds, because a
 * network mount may never answer. They are counted one by one: while the process itself stands still,
 * no more than one passes. While a read of a file hangs, further reads of it are refused at once: each
 * would take one of the few threads of the process.
 */
export function createBoundedReader<Value>(
  clock: Clock,
  read: (path: string) => Promise<Value>,
): (path: string) => Promise<Value> {
  const hanging = new Set<string>();

  return async (path) => {
    if (hanging.has(path)) throw timedOut(path);
    const ended = new AbortController();
    const reading = read(path).finally(() => {
      ended.abort();
      hanging.delete(path);
    });
    const timeout = async (): Promise<Value> => {
      for (let seconds = 0; seconds < limitSeconds; seconds += 1) {
        await sleep(clock, 1000, ended.signal).catch(() => {});
        if (ended.signal.aborted) return reading;
      }
      hanging.add(path);
      throw timedOut(path);
    };
    return Promise.race([reading, timeout()]);
  };
}

function timedOut(path: string): Error {
  return failure('ETIMEDOUT', `no answer while reading ${path}`);
}

/** Configurations, keys and CA bundles are smaller; a log file named by mistake would fill the memory. */
const largestBytes = 4 * 1024 ** 2;

/**
 * Reads a whole regular file; a FIFO or a device might never end. Rejects as `fs.promises.readFile`
 * does, with the code `ENOTREG` for anything but a regular file, and with `EFBIG` for more than 4 MiB.
 */
export async function readRegularFile(path: string): Promise<Uint8Array> {
  // Otherwise opening a FIFO would wait for its writer and hold a thread of the process.
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

/**
 * Writes all of the text; rejects if any of it cannot be written. With a slow pipe it waits for the
 * reader. Standard output must have a listener for errors, as it throws otherwise.
 */
async function print(text: string): Promise<void> {
  const { stdout } = process;
  if (fstatSync(stdout.fd).isFile()) {
    const bytes = Buffer.from(text);
    // When the disk becomes full, Node's own stream takes a partly written file for a whole one.
    for (let at = 0; at < bytes.length; ) at += writeSync(stdout.fd, bytes, at);
    return;
  }
  await new Promise<void>((resolve, reject) => {
    stdout.write(text, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}
