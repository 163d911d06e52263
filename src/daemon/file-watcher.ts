import { digestOf } from '../config/read-file.ts';
import { sleep } from '../model/clock.ts';
import type { Files, Machine } from './platform.ts';

/** The files that a configuration was read from: the digest of each content, by path. */
export type WatchedFiles = ReadonlyMap<string, string>;

export interface FileWatcherOptions {
  readonly intervalMs: number;
  readonly platform: Pick<Machine & Files, 'clock' | 'readFile'>;
  /** What was loaded; `undefined` when the last reload failed. */
  readonly loaded: () => WatchedFiles | undefined;
  /** Must not reject. */
  readonly reload: () => Promise<void>;
}

/** The time that a writer has to finish: a certificate and its key are two files. */
const settleMs = 1000;

/**
 * Reloads whenever a file differs from the loaded one, until the signal is aborted. A reload that
 * fails is tried again at every interval: a file may arrive later than the configuration that names it.
 * Files are read again by their paths: unlike a watch on an inode, this notices that a symbolic link of
 * a ConfigMap changes, or that a file is deleted and created again.
 */
export async function watchFiles(
  { intervalMs, platform, loaded, reload }: FileWatcherOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = platform;
  const hasChanged = async ([path, digest]: readonly [string, string]): Promise<boolean> =>
    (await digestAt(path, platform)) !== digest;
  const isOutdated = async (): Promise<boolean> => {
    const files = loaded();
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

/** The digest of the file as it is now; empty if it cannot be read, which whoever needs it reports. */
export async function digestAt(
  path: string,
  { readFile }: Pick<Files, 'readFile'>,
): Promise<string> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes === undefined ? '' : digestOf(bytes);
}
