import { Worker } from 'node:worker_threads';
import {
  configIn,
  type PlainParsed,
  type ThreadReply,
  type ThreadTask,
} from './parse-for-parent.ts';
import { CommandError, type Platform } from './platform.ts';

export interface ConfigThreadOptions {
  /** The file of this program, which parses when it is started as a thread. */
  readonly program: URL;
  /** How much memory the process may still take. */
  readonly availableBytes: () => number;
}

/** The largest file that is accepted needs less, and its first start takes as much. */
const mostMemoryMb = 256;
/** Where memory is that scarce, at least a small file can be parsed. */
const leastMemoryMb = 32;
/** The rest is for what a thread takes beyond its heap, and for the daemon to go on. */
const shareOfAvailable = 0.6;
/** What takes that long will not end. With a tenth of a processor the largest file takes a minute. */
const longestMs = 300_000;

/**
 * Parses configurations in a thread of its own, one for each, so that polls and scrapes go on
 * meanwhile. Rejects with a `CommandError` that says what is wrong with the file; so it does when the
 * thread crashes, runs out of memory, takes too long or is stopped with the process.
 */
export function createConfigThread(
  options: ConfigThreadOptions,
  dependencies: Pick<Platform, 'clock' | 'nextTurn' | 'stopSignal'>,
): (task: ThreadTask) => Promise<PlainParsed> {
  return async ({ text, fileName, directory }) => {
    const task = { text, fileName, directory };
    const reply = await replyOf(task, options, dependencies);
    if (reply.kind === 'refused') throw new CommandError(2, reply.message);
    const config = await configIn(reply, dependencies.nextTurn);
    return { config, warnings: reply.warnings };
  };
}

async function replyOf(
  task: ThreadTask,
  { program, availableBytes }: ConfigThreadOptions,
  { clock, stopSignal }: Pick<Platform, 'clock' | 'stopSignal'>,
): Promise<ThreadReply> {
  const memoryMb = memoryFor(availableBytes());
  const failed = (reason: string): CommandError =>
    new CommandError(1, `${task.fileName}: the file could not be parsed: ${reason}`);
  if (stopSignal.aborted) throw failed('the process is stopping');
  const worker = new Worker(program, {
    workerData: task,
    // Keys may stand in the environment.
    env: {},
    // Flags of the process, such as those of a debugger, are not meant for it.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const cleanUps: (() => void)[] = [];
  try {
    return await new Promise((resolve, reject) => {
      const fail = (reason: string) => (): void => {
        reject(failed(reason));
      };
      const stop = fail('the process is stopping');
      stopSignal.addEventListener('abort', stop, { once: true });
      cleanUps.push(
        () => stopSignal.removeEventListener('abort', stop),
        clock.after(longestMs, fail(`it took more than ${longestMs / 60_000} minutes`)),
      );
      worker.on('message', resolve);
      worker.on('error', (error) => {
        reject(failed(reasonOf(error, memoryMb)));
      });
      worker.on('exit', fail('its thread ended'));
    });
  } finally {
    for (const cleanUp of cleanUps) cleanUp();
    await worker.terminate();
  }
}

function memoryFor(availableBytes: number): number {
  const share = Math.floor((availableBytes * shareOfAvailable) / 1024 ** 2);
  return Math.min(mostMemoryMb, Math.max(leastMemoryMb, share));
}

function reasonOf(error: unknown, memoryMb: number): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return `it takes more than ${memoryMb} MB of memory: is it the right file?`;
  }
  return error.message;
}
