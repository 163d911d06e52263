import { ConfigError, type Diagnostic, firstOf } from '../config/diagnostic.ts';
import { NamedFileError } from '../config/named-file.ts';
import { digestOf, type FileSystem, mayPass } from '../config/read-file.ts';
import { sleep } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import { type AccountPlatform, CommandError } from './platform.ts';

/** The files that a configuration was read from. */
export interface WatchedFiles {
  /** Of all of them, as they were read. */
  readonly digest: string;
  /** The digest of what is there now. */
  readonly look: () => Promise<string>;
}

/** The time that a writer has to finish: a certificate and its key are two files. */
const fileSettleMs = 1000;

/** A configuration that follows its files. */
export interface Following {
  /** What it was read from; `undefined` if the last reload failed: then it is tried again and again. */
  readonly files: () => WatchedFiles | undefined;
  /** How long to wait until the files are looked at next; 0: never. */
  readonly intervalMs: () => number;
  readonly reload: () => Promise<void>;
}

/**
 * Reloads whenever a file differs from the loaded one, until the signal is aborted. Files are read again by
 * their paths: unlike a watch on an inode, this notices that a symbolic link of a ConfigMap changes, or that
 * a file is deleted and created again.
 */
export async function follow(
  { files, intervalMs, reload }: Following,
  { clock }: AccountPlatform,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let waitMs = intervalMs(); waitMs > 0; waitMs = intervalMs()) {
      await sleep(clock, waitMs, signal);
      const loaded = files();
      if (loaded !== undefined) {
        if ((await loaded.look()) === loaded.digest) continue;
        await sleep(clock, fileSettleMs, signal);
      }
      await reload();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** A digest of files as they are now. What cannot be read counts as empty: whoever needs it reports it. */
export async function digestAt(
  paths: readonly string[],
  { readFile }: FileSystem,
): Promise<string> {
  const digests = await Promise.all(
    paths.map(async (path) => {
      const bytes = await readFile(path).catch(() => undefined);
      return bytes === undefined ? '' : digestOf(bytes);
    }),
  );
  return digests.join(' ');
}

/** @param path that of the configuration file, for the number of warnings that are not shown */
export function logWarnings(
  warnings: readonly Diagnostic[],
  path: string,
  logger: Logger,
  kind = 'configuration',
): void {
  const { shown, more } = firstOf(warnings);
  for (const { fileName: file, line, column, message, help } of shown) {
    logger.warn({ file, line, column, problem: message, remedy: help }, `${kind} warning`);
  }
  if (more > 0) logger.warn({ file: path, more }, `more ${kind} warnings: see check-config`);
}

/**
 * A file that cannot be used becomes a `CommandError` with the exit code 2, or 1 if only its volume does not
 * answer, as another start may help.
 *
 * @param subject stands before the message
 */
export async function orCommandError<Value>(
  read: () => Promise<Value>,
  subject = '',
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof NamedFileError)) throw error;
    throw new CommandError(mayPass(error) ? 1 : 2, subject + error.message, { cause: error });
  }
}
