import { deserialize, serialize } from 'node:v8';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { ConfigError, firstOf, type ShownDiagnostics } from '../config/diagnostic.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { AccountConfig, AppEntry, PatternSource, PlainConfig } from '../model/config.ts';
import { CommandError, type PlainParsed, type Platform } from './platform.ts';

export interface ConfigThreadOptions {
  /** The file of this program: started as a thread, it parses. */
  readonly program: URL;
  /** How much memory the process may still take. */
  readonly availableBytes: () => number;
}

/** More than the largest accepted file needs. */
const mostMemoryMb = 256;
/** Enough for a small file, however scarce memory is. */
const leastMemoryMb = 32;
/** The rest is left for the daemon, and for the thread's memory outside its heap. */
const shareOfAvailable = 0.6;
/** A longer parse would never end: with a tenth of a processor the largest file takes a minute. */
const longestMs = 300_000;

/**
 * Parses each configuration in a thread of its own, so that polls and scrapes go on meanwhile. Rejects
 * with a `CommandError` that says what is wrong with the file, or that the thread crashed, ran out of
 * memory, took too long or was stopped with the process.
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
    // The environment may hold keys.
    env: {},
    // The flags of the process, such as those of a debugger, are not meant for the thread.
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

/** The text that a thread is given to parse, and where it comes from. */
export interface ThreadTask {
  readonly text: string;
  readonly fileName: string;
  readonly directory: string;
}

/** Entries as bytes, which change threads without a copy and are read one slice at a time. */
type Slices = readonly Uint8Array<ArrayBuffer>[];

/** The answer of the thread. It holds no key: a configuration only says where its keys are. */
type ThreadReply =
  | { readonly kind: 'refused'; readonly message: string }
  | {
      readonly kind: 'parsed';
      readonly accounts: Slices;
      readonly apps: Slices;
      readonly warnings: ShownDiagnostics;
    };

/** Reading a slice of this size takes two milliseconds. */
const entriesPerSlice = 500;

function parsedReply({ accounts, apps }: PlainConfig, warnings: ShownDiagnostics): ThreadReply {
  return { kind: 'parsed', accounts: slicesOf(accounts), apps: slicesOf(apps), warnings };
}

/** The memory that moves to the receiver with the reply. */
function transferred(reply: ThreadReply): ArrayBuffer[] {
  if (reply.kind === 'refused') return [];
  return [...reply.accounts, ...reply.apps].map(({ buffer }) => buffer);
}

async function configIn(
  { accounts, apps }: Extract<ThreadReply, { readonly kind: 'parsed' }>,
  nextTurn: () => Promise<void>,
): Promise<PlainConfig> {
  return {
    accounts: await entriesIn<AccountConfig>(accounts, nextTurn),
    apps: await entriesIn<AppEntry<PatternSource>>(apps, nextTurn),
  };
}

function slicesOf(entries: readonly unknown[]): Slices {
  const count = Math.ceil(entries.length / entriesPerSlice);
  return Array.from({ length: count }, (_, index) => {
    const start = index * entriesPerSlice;
    // A copy, because Node may keep several buffers in one piece of memory.
    return Uint8Array.from(serialize(entries.slice(start, start + entriesPerSlice)));
  });
}

async function entriesIn<Entry>(
  slices: Slices,
  nextTurn: () => Promise<void>,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const slice of slices) {
    const part: readonly Entry[] = deserialize(slice);
    entries.push(...part);
    await nextTurn();
  }
  return entries;
}

/** The other side: this program, started as a thread, parses the text that it was given. */
export async function parseForParent(): Promise<void> {
  const task: ThreadTask = workerData;
  const reply = await replyTo(task);
  parentPort?.postMessage(reply, transferred(reply));
}

async function replyTo({ text, ...source }: ThreadTask): Promise<ThreadReply> {
  try {
    const { config, warnings } = await parseConfig(text, source);
    return parsedReply(config, firstOf(warnings));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { kind: 'refused', message: error.message };
  }
}
