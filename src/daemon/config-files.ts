import { ConfigError, type Diagnostic, firstOf } from '../config/diagnostic.ts';
import { NamedFileError } from '../config/named-file.ts';
import { digestOf, mayPass } from '../config/read-file.ts';
import { sleep } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import { type AccountPlatform, CommandError } from './platform.ts';

/** The files that a configuration was read from: the digest of each content, by path. */
export type WatchedFiles = ReadonlyMap<string, string>;

/** The time that a writer has to finish: a certificate and its key are two files. */
const settleMs = 1000;

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
  { clock, readFile }: AccountPlatform,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let waitMs = intervalMs(); waitMs > 0; waitMs = intervalMs()) {
      await sleep(clock, waitMs, signal);
      const loaded = files();
      if (loaded !== undefined) {
        const digests = await digestsAt([...loaded.keys()], { readFile });
        if (digests.every(([path, digest]) => loaded.get(path) === digest)) continue;
        await sleep(clock, settleMs, signal);
      }
      await reload();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The digests of files as they are now; empty if one cannot be read, which whoever needs it reports. */
export async function digestsAt(
  paths: readonly string[],
  { readFile }: Pick<AccountPlatform, 'readFile'>,
): Promise<readonly (readonly [path: string, digest: string])[]> {
  return Promise.all(
    paths.map(async (path) => {
      const bytes = await readFile(path).catch(() => undefined);
      return [path, bytes === undefined ? '' : digestOf(bytes)] as const;
    }),
  );
}

/** @param file the path of the configuration file */
export function logWarnings(
  warnings: readonly Diagnostic[],
  file: string,
  logger: Logger,
  kind = 'configuration',
): void {
  const { shown, more } = firstOf(warnings);
  for (const { line, column, message, help } of shown) {
    logger.warn({ file, line, column, problem: message, remedy: help }, `${kind} warning`);
  }
  if (more > 0) logger.warn({ file, more }, `more ${kind} warnings: see check-config`);
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
