import { createHash } from 'node:crypto';
import { sleep } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { Machine } from './machine.ts';

export interface ConfigWatcherOptions {
  readonly path: string;
  readonly intervalMs: number;
}

export interface ConfigWatcherDependencies {
  readonly machine: Pick<Machine, 'clock' | 'readFile'>;
  readonly logger: Logger;
  /** Called once for each new content of the file; must not reject. */
  readonly changed: () => Promise<void>;
}

/** A writer that is not done after so long is a slow one; then what is there counts. */
const settleMs = 1000;

/**
 * Calls `changed` whenever the file has another content than before, until the signal is aborted. It
 * reads the file again and again by its path: that also sees a ConfigMap's symbolic links change and a
 * file that is deleted and made anew, which watching one inode does not.
 */
export async function watchConfig(
  { path, intervalMs }: ConfigWatcherOptions,
  { machine, logger, changed }: ConfigWatcherDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = machine;
  let isUnreadable = false;

  const digest = async (): Promise<string | undefined> => {
    try {
      const bytes = await machine.readFile(path);
      isUnreadable = false;
      return createHash('sha256').update(bytes).digest('hex');
    } catch (error) {
      if (!isUnreadable) logger.warn({ path, err: error }, 'configuration file not readable');
      isUnreadable = true;
      return undefined;
    }
  };

  let known = await digest();
  try {
    for (;;) {
      await sleep(clock, intervalMs, signal);
      const seen = await digest();
      if (seen === undefined || seen === known) continue;
      await sleep(clock, settleMs, signal);
      known = (await digest()) ?? seen;
      await changed();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
