import { randomUUID } from 'node:crypto';
import { createWriteStream, type Stats } from 'node:fs';
import {
  access,
  chmod,
  constants,
  link,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../daemon/platform.ts';
import type { Config } from '../model/config.ts';
import { printable } from '../model/shown-text.ts';

export type Pieces = AsyncIterable<string> | Iterable<string>;

interface Publishing {
  /** The permissions of the file. Default: as the umask of the process says. */
  readonly mode?: number | undefined;
  /** Whether nothing may be there yet: a file that has come meanwhile is left alone. */
  readonly isNew?: boolean;
}

/**
 * Writes a file under a name of its own first: one with its final name is whole whatever happens. Rejects with the
 * reason of the signal, with the error of the system, or with a `CommandError` if there is a file that may not be
 * replaced.
 */
export async function writeWhole(
  path: string,
  pieces: Pieces,
  signal: AbortSignal,
  { mode, isNew = false }: Publishing = {},
): Promise<void> {
  const unfinished = `${path}.${randomUUID()}.tmp`;
  try {
    const options = { flags: 'wx', flush: true, ...(mode !== undefined && { mode }) };
    await pipeline(pieces, createWriteStream(unfinished, options), { signal });
    // That of a new file is cut by the umask.
    if (mode !== undefined) await chmod(unfinished, mode);
    await (isNew ? publishNew(unfinished, path) : rename(unfinished, path));
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** What is left of `writeWhole` when the process is killed: how the name behind that of the file looks. */
const leftover = /^\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/u;

/** Removes what writers of a file have left behind that were killed. Only for whoever has the file for himself. */
export async function removeLeftovers(path: string): Promise<void> {
  const [directory, name] = [dirname(path), basename(path)];
  for (const other of await readdir(directory)) {
    const isOne = other.startsWith(name) && leftover.test(other.slice(name.length));
    if (isOne) await rm(join(directory, other), { force: true });
  }
}

/** To rename would replace what has come meanwhile. */
async function publishNew(unfinished: string, path: string): Promise<void> {
  try {
    await link(unfinished, path);
  } catch (error) {
    const isThere = (await statsOf(path)) !== undefined;
    if (isThere) throw refusal(path, 'is there, and was not a moment ago', { cause: error });
    // Not every file system has links.
    await rename(unfinished, path);
  }
}

function refusal(path: string, problem: string, options?: ErrorOptions): CommandError {
  const help = 'name another file, or take it away';
  return new CommandError(2, `--output: ${printable(path)} ${problem}: ${help}`, options);
}

async function statsOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

/** The files that a configuration is made of, and those that it names. */
export function filesOf({ accounts, includedFiles = [] }: Config, path: string): readonly string[] {
  const named = accounts.flatMap(({ apiKey, proxyUrlFrom, caFile }) => [
    ...[apiKey, proxyUrlFrom].flatMap((one) => (one?.kind === 'file' ? [one.path] : [])),
    ...(caFile === undefined ? [] : [caFile]),
  ]);
  return [path, ...includedFiles, ...named];
}

export interface OutputRules {
  /** What is never written over. */
  readonly files: readonly string[];
  /** How a file begins that the command may replace. Default: it replaces none. */
  readonly title?: string;
  /** The permissions of a new file. Default: as the umask of the process says. */
  readonly mode?: number;
  readonly write?: typeof writeWhole;
}

/** The file that a command writes its result to. */
export class OutputFile {
  readonly path: string;
  readonly #rules: OutputRules;

  /** Throws a `CommandError` if the path is not that of a file. */
  constructor(path: string, rules: OutputRules) {
    this.path = path;
    this.#rules = rules;
    if (path !== '-') return;
    const help = 'a file is whole or not there, which a pipe cannot be: name one';
    throw new CommandError(2, `--output=- is not possible: ${help}`);
  }

  /** How many bytes it has; `undefined` if it is not there. */
  async size(): Promise<number | undefined> {
    return (await statsOf(this.path))?.size;
  }

  /**
   * Whether it can be written, and nothing is lost by that, to be asked before anything that takes long. Rejects with
   * a `CommandError` if not.
   */
  async check(): Promise<void> {
    const { place } = await this.#place();
    await orRefused(this.path, async () => {
      const trial = `${place}.${randomUUID()}.tmp`;
      await (await open(trial, 'wx')).close();
      await rm(trial, { force: true });
    });
  }

  /** Rejects with a `CommandError` if it cannot be written, or with the reason of the signal. */
  async write(pieces: Pieces, signal: AbortSignal): Promise<void> {
    const { title, mode, write = writeWhole } = this.#rules;
    const { place, stats } = await this.#place();
    const publishing = {
      mode: stats === undefined ? mode : stats.mode & 0o7777,
      isNew: stats === undefined,
    };
    if (title === undefined) return write(place, pieces, signal, publishing);
    return orRefused(this.path, async () => write(place, pieces, signal, publishing), signal);
  }

  /** Where it is without symbolic links, and what is there now. Rejects if that may not be replaced. */
  async #place(): Promise<{ readonly place: string; readonly stats: Stats | undefined }> {
    const { path } = this;
    const { files, title } = this.#rules;
    const place = await placeOf(path);
    const stats = await statsOf(place);
    const others = await Promise.all(files.map(async (one) => isSame(one, place, stats)));
    if (others.includes(true)) throw refusal(path, 'belongs to the configuration');
    if (stats === undefined) return { place, stats };
    if (stats.isDirectory()) throw refusal(path, 'is a directory');
    if (!stats.isFile()) throw refusal(path, 'is no regular file');
    const isOwn = title !== undefined && (await beginOf(place, title.length)) === title;
    if (!isOwn) throw refusal(path, 'is there, and not of this run');
    await orRefused(path, async () => access(place, constants.W_OK));
    return { place, stats };
  }
}

/** The path without symbolic links. Rejects with a `CommandError` if there is no directory for it. */
async function placeOf(path: string): Promise<string> {
  const directory = dirname(resolve(path));
  const parent = await realpath(directory).catch(() => undefined);
  if (parent === undefined || (await statsOf(parent))?.isDirectory() !== true) {
    throw new CommandError(
      2,
      `--output: there is no directory ${printable(directory)}: make it first`,
    );
  }
  const place = join(parent, basename(resolve(path)));
  return realpath(place).catch(async () => {
    // A link that leads nowhere would be replaced, or lead somewhere by then.
    const isLink = (await readdir(parent)).includes(basename(place));
    if (isLink) throw refusal(path, 'is a link to nothing');
    return place;
  });
}

/** Whether a file is the one at a place, whatever names lead there. */
async function isSame(file: string, place: string, stats: Stats | undefined): Promise<boolean> {
  const other = await statsOf(file);
  if (other === undefined) return (await placeOf(file).catch(() => resolve(file))) === place;
  return other.ino === stats?.ino && other.dev === stats.dev;
}

async function beginOf(path: string, length: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** An error of the system becomes a `CommandError`. */
async function orRefused<Value>(
  path: string,
  work: () => Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof CommandError || signal?.aborted === true) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(2, `--output: ${printable(path)} cannot be written: ${reason}`, {
      cause,
    });
  }
}
