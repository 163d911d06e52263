import { digestOf } from '../config/read-file.ts';
import { sleep } from '../model/clock.ts';
import type { Config } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import type { Platform } from './platform.ts';

export interface ConfigWatcherOptions {
  readonly intervalMs: number;
}

export interface ConfigWatcherDependencies {
  readonly platform: Pick<Platform, 'clock' | 'readFile'>;
  readonly logger: Logger;
  /** `undefined` when the last reload failed. */
  readonly inForce: () => WatchedFiles | undefined;
  /** Must not reject. */
  readonly reload: () => Promise<void>;
}

/** A writer that is not done after so long is a slow one; then what is there counts. */
const settleMs = 1000;

/**
 * Reloads whenever a file holds something else than what is in force, and again and again as long as
 * that fails, until the signal is aborted: what a configuration needs may come later than the
 * configuration. It reads files again and again by their paths: that also sees a ConfigMap's symbolic
 * links change and a file that is deleted and made anew, which watching one inode does not.
 */
export async function watchConfig(
  { intervalMs }: ConfigWatcherOptions,
  { platform, logger, inForce, reload }: ConfigWatcherDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = platform;
  const unreadable = new Set<string>();

  /** A file that cannot be read now is no change: nothing could be put into force. */
  const hasChanged = async ([path, digest]: readonly [string, string]): Promise<boolean> => {
    try {
      const bytes = await platform.readFile(path);
      unreadable.delete(path);
      return digestOf(bytes) !== digest;
    } catch (error) {
      if (!unreadable.has(path))
        logger.warn({ path, err: error }, 'configuration file not readable');
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

/** The files that a configuration rests on, by path, with the digest of what each of them held. */
export type WatchedFiles = ReadonlyMap<string, string>;

/**
 * The configuration file as it was read, and the CA bundles that it names. To be asked before these
 * are put into force: then a bundle that changes in between is a change, not what is in force. Keys
 * are not among them: they are read again without a reload.
 */
export async function watchedFilesOf(
  file: { readonly path: string; readonly digest: string },
  { accounts, apps }: Config,
  { readFile }: Pick<Platform, 'readFile'>,
): Promise<WatchedFiles> {
  const used = new Set(apps.map(({ account }) => account));
  const caFiles = accounts
    .filter(({ name }) => used.has(name))
    .map(({ caFile }) => caFile)
    .filter((path) => path !== undefined);
  const digests = await Promise.all(
    [...new Set(caFiles)].map(async (path): Promise<[string, string]> => {
      // Whoever needs a bundle that cannot be read says so.
      const bytes = await readFile(path).catch(() => undefined);
      return [path, bytes === undefined ? '' : digestOf(bytes)];
    }),
  );
  return new Map([[file.path, file.digest], ...digests]);
}
