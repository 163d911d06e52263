import { hostname } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../model/clock.ts';
import { createRedactor } from '../telemetry/redactor.ts';
import { createAnswerMemory } from '../transport/answer-memory.ts';
import type { Platform } from './platform.ts';
import { print } from './print.ts';
import { createBoundedReader, readRegularFile } from './read-file.ts';

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
