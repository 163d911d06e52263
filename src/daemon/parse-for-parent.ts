import { deserialize, serialize } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { ConfigError, firstOf, type ShownDiagnostics } from '../config/diagnostic.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { AccountConfig, AppEntry, PatternSource, PlainConfig } from '../model/config.ts';

/** What a thread is given to parse. */
export interface ThreadTask {
  readonly text: string;
  readonly fileName: string;
  readonly directory: string;
}

/** A configuration without errors, and the first of its warnings. */
export interface PlainParsed {
  readonly config: PlainConfig;
  readonly warnings: ShownDiagnostics;
}

/** Entries as bytes: bytes are handed over at no cost, and are read a slice at a time. */
type Slices = readonly Uint8Array<ArrayBuffer>[];

/** What the thread that parses a configuration answers. Holds no key: a configuration says where one is. */
export type ThreadReply =
  | { readonly kind: 'refused'; readonly message: string }
  | {
      readonly kind: 'parsed';
      readonly accounts: Slices;
      readonly apps: Slices;
      readonly warnings: ShownDiagnostics;
    };

/** Reading so many takes two milliseconds. */
const entriesPerSlice = 500;

export function parsedReply(
  { accounts, apps }: PlainConfig,
  warnings: ShownDiagnostics,
): ThreadReply {
  return { kind: 'parsed', accounts: slicesOf(accounts), apps: slicesOf(apps), warnings };
}

/** What the sender of a reply gives away with it. */
export function transferred(reply: ThreadReply): ArrayBuffer[] {
  if (reply.kind === 'refused') return [];
  return [...reply.accounts, ...reply.apps].map(({ buffer }) => buffer);
}

export async function configIn(
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
    // A copy of its own: Node may keep several buffers in one piece of memory.
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

/** What a thread of this program is for: it parses the configuration that it was started with. */
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
