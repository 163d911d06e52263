import { digestOf } from '../config/read-file.ts';
import { sleep } from '../model/clock.ts';
import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import type { Files, Machine } from './platform.ts';

export interface ConfigWatcherOptions {
  readonly intervalMs: number;
}

export interface ConfigWatcherDependencies {
  readonly platform: Pick<Machine & Files, 'clock' | 'readFile'>;
  readonly logger: Logger;
  /** `undefined` when the last reload failed. */
  readonly inForce: () => WatchedFiles | undefined;
  /** Must not reject. */
  readonly reload: () => Promise<void>;
}

/** The time that a writer has to finish; then the file counts as it is. */
const settleMs = 1000;

/**
 * Reloads whenever a file differs from the one in force, until the signal is aborted. A reload that
 * fails is tried again at every interval, since a key or a CA bundle may arrive later than the
 * configuration that names it. Files are read again by their paths: unlike a watch on an inode, this
 * notices that a symbolic link of a ConfigMap changes, or that a file is deleted and created again.
 */
export async function watchConfig(
  { intervalMs }: ConfigWatcherOptions,
  { platform, logger, inForce, reload }: ConfigWatcherDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = platform;
  const unreadable = new Set<string>();

  /** An unreadable file is no change: there is nothing to put into force. */
  const hasChanged = async ([path, digest]: readonly [string, string]): Promise<boolean> => {
    try {
      const bytes = await platform.readFile(path);
      unreadable.delete(path);
      return digestOf(bytes) !== digest;
    } catch (error) {
      if (!unreadable.has(path))
        logger.warn({ file: path, error }, 'configuration file not readable');
      unreadable.add(path);
      return false;
    }
  };
  const isOutdated = async (): Promise<boolean> => {
    const files = inForce();
    if (files === undefined) return true;
    return (await Promise.all([...files].map(hasChanged))).includes(true);
  };

  try {
    for (;;) {
      await sleep(clock, intervalMs, signal);
      if (!(await isOutdated())) continue;
      await sleep(clock, settleMs, signal);
      await reload();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The files that a configuration depends on: the digest of each content, by path. */
export type WatchedFiles = ReadonlyMap<string, string>;

/**
 * The configuration file as it was read, and the CA bundles that it names. Call it before the
 * configuration is put into force: then a bundle that changes in between counts as changed. Keys are not
 * among them, since they are read again without a reload.
 */
export async function watchedFilesOf(
  file: { readonly path: string; readonly digest: string },
  { accounts, apps }: Config,
  { readFile }: Pick<Files, 'readFile'>,
): Promise<WatchedFiles> {
  const used = new Set(apps.map(({ account }) => account));
  const caFiles = accounts
    .filter(({ name }) => used.has(name))
    .map(({ caFile }) => caFile)
    .filter((path) => path !== undefined);
  const digests = await Promise.all(
    [...new Set(caFiles)].map(async (path): Promise<[string, string]> => {
      // The account that needs an unreadable bundle reports it.
      const bytes = await readFile(path).catch(() => undefined);
      return [path, bytes === undefined ? '' : digestOf(bytes)];
    }),
  );
  return new Map([[file.path, file.digest], ...digests]);
}
