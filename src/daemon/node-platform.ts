import { constants, fstatSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { ReadFile } from '../config/read-file.ts';
import type { Clock } from '../model/clock.ts';
import { createRedactor } from '../telemetry/redactor.ts';
import { createAnswerMemory } from '../transport/answer-memory.ts';
import type { Platform } from './platform.ts';

/** In a small container V8 takes more for the limit of its heap than the container has. */
function heapBytes(): number {
  const memoryBytes = process.constrainedMemory() ?? 0;
  const { heap_size_limit: limitBytes } = getHeapStatistics();
  return memoryBytes > 0 ? Math.min(limitBytes, memoryBytes / 2) : limitBytes;
}

function tellParent(message: unknown): void {
  // A parent that has ended, or no longer listens, is told nothing; the main program sees its end.
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

export interface NodePlatformOptions {
  /** The file of this program, which can be started as a thread. */
  readonly program: URL;
  readonly stopSignal: AbortSignal;
}

async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * A container has the host name of its pod, which is what an agent beside it sees too. It is another
 * name where the pod shares the network of its node, or was given a host name of its own.
 */
function ownHostNames(podName: string | undefined, hostName: string): readonly string[] {
  return podName === undefined || podName === '' ? [hostName] : [...new Set([podName, hostName])];
}

/** The platform that this process runs on: Node.js and the machine below it. */
export function createNodePlatform({ program, stopSignal }: NodePlatformOptions): Platform {
  const clock = createSystemClock();
  const memory = createAnswerMemory({ heapBytes: heapBytes() });
  return {
    clock,
    random: Math.random,
    env: process.env,
    readFile: createBoundedReader({ clock, read: readRegularFile }),
    // Loaded when it is needed: most processes never read their configuration again.
    parseConfig: async (file) => {
      const { createConfigThread } = await import('./config-thread.ts');
      const options = { program, availableBytes: () => process.availableMemory() };
      return createConfigThread(options, { clock, nextTurn, stopSignal })(file);
    },
    hostname: hostname(),
    ownHostNames: ownHostNames(process.env['POD_NAME'], hostname()),
    // Loaded when it is needed: it is half of the time that `--version` would take.
    openTransport: async (options) =>
      (await import('../transport/undici-transport.ts')).createUndiciTransport(options, { memory }),
    nextTurn,
    stdout: process.stdout,
    print: async (text) => print(text, process.stdout),
    stderr: process.stderr,
    redactor: createRedactor(),
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
    },
    // Loaded when it is needed: only the parent of a daemon has children.
    startChild: async (options) =>
      (await import('./child-program.ts')).startChildProgram(program, options),
    tellParent: process.send === undefined ? undefined : tellParent,
    stopSignal,
  };
}

/** Beyond this a timer of Node fires at once. Whoever waits for longer looks at the clock again. */
const longestTimerMs = 2 ** 31 - 1;

/** What a timer can be set to. */
export function timerDelayMs(delayMs: number): number {
  return Math.min(Math.max(0, delayMs), longestTimerMs);
}

/** The system's clocks. Only this file and `main.ts` touch global time. */
export function createSystemClock(): Clock {
  return {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    after: (delayMs, run) => {
      const timer = setTimeout(run, timerDelayMs(delayMs));
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

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

/** As much of `process.stdout` as printing needs. */
interface PrintStream {
  readonly fd: number;
  write(text: string, written: (error?: Error | null) => void): unknown;
}

/**
 * Writes all of the text; rejects if any of it cannot be written. To a slow pipe it waits for the
 * reader, and its stream must not throw for want of a listener for errors.
 */
async function print(text: string, stream: PrintStream): Promise<void> {
  if (fstatSync(stream.fd).isFile()) {
    writeAll(stream.fd, Buffer.from(text));
    return;
  }
  await new Promise<void>((resolve, reject) => {
    stream.write(text, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}

/** Node's own stream takes a file that was written in part, when its disk became full, for written. */
function writeAll(fd: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) {
    offset += writeSync(fd, bytes, offset);
  }
}
