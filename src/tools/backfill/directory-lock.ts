import { randomUUID } from 'node:crypto';
import { open, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, type ToolPlatform } from '../../daemon/platform.ts';
import { sleep } from '../../model/clock.ts';
import { printable } from '../../model/shown-text.ts';
import { minuteMs } from '../../model/time.ts';

const lockName = 'lock';
/** So often its owner says that it is alive. */
const touchMs = 10_000;
/** Nobody is believed to be alive who has been silent for so long, on whatever machine it was. */
const abandonedMs = minuteMs;
/** Of two that find none at the same moment, both see within this time who was the last. */
const settleMs = 1000;

type LockPlatform = Pick<ToolPlatform, 'clock' | 'hostname' | 'stopSignal'>;

interface Owner {
  readonly id: string;
  readonly host: string;
  readonly touchedMs: number;
}

/** That a directory is written to by one run: a file in it that its owner touches. */
export class DirectoryLock {
  readonly #path: string;
  readonly #directory: string;
  readonly #id = randomUUID();
  readonly #platform: LockPlatform;
  #cancel: () => void = () => undefined;

  /**
   * Takes the directory, also from a run that has ended without a word. Rejects with a `CommandError` if it is in use,
   * with the error of the system, or with the reason of a stop.
   */
  static async take(directory: string, platform: LockPlatform): Promise<DirectoryLock> {
    const lock = new DirectoryLock(directory, platform);
    const { clock, stopSignal } = platform;
    const before = await lock.#owner();
    if (before !== undefined && Math.abs(clock.wallMs() - before.touchedMs) < abandonedMs) {
      throw lock.#inUse(before);
    }
    await lock.#write();
    try {
      await sleep(clock, settleMs, stopSignal);
      await lock.mustHold();
    } catch (error) {
      await lock.release();
      throw error;
    }
    lock.#touchLater();
    return lock;
  }

  private constructor(directory: string, platform: LockPlatform) {
    this.#directory = directory;
    this.#path = join(directory, lockName);
    this.#platform = platform;
  }

  /** Rejects with a `CommandError` if another run has taken the directory, as it may after a minute of standing still. */
  async mustHold(): Promise<void> {
    const owner = await this.#owner();
    if (owner?.id === this.#id) return;
    if (owner !== undefined) throw this.#inUse(owner);
    throw new CommandError(
      2,
      `${printable(this.#path)} is gone: let nobody else change what is there`,
    );
  }

  async release(): Promise<void> {
    this.#cancel();
    if ((await this.#owner())?.id === this.#id) await rm(this.#path, { force: true });
  }

  #inUse({ touchedMs, host }: Owner): CommandError {
    const until = new Date(touchedMs + abandonedMs).toISOString().replace(/\.\d+Z$/u, 'Z');
    const help =
      'wait for it, or name another file; if it is dead, start the same command again then';
    const message = `in use until ${until} by a run on ${printable(host)}: ${help}`;
    return new CommandError(2, `${printable(this.#directory)} is ${message}`);
  }

  async #write(): Promise<void> {
    const { hostname, clock } = this.#platform;
    const unfinished = `${this.#path}.${this.#id}.tmp`;
    await writeFile(unfinished, `${this.#id} ${hostname}\n`);
    await touch(unfinished, clock.wallMs());
    await rename(unfinished, this.#path);
  }

  /** Whoever opens a file sees how it is now, also in a directory of several machines. */
  async #owner(): Promise<Owner | undefined> {
    const file = await open(this.#path, 'r').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (file === undefined) return undefined;
    try {
      const { mtimeMs: touchedMs } = await file.stat();
      const [id = '', host = ''] = (await file.readFile('utf8')).trim().split(' ');
      return { id, host, touchedMs };
    } finally {
      await file.close();
    }
  }

  #touchLater(): void {
    this.#cancel = this.#platform.clock.after(touchMs, () => {
      this.#touchLater();
      void this.#touch().catch(() => undefined);
    });
  }

  /** What goes wrong is tried again soon, and known to whoever asks `mustHold`. */
  async #touch(): Promise<void> {
    if ((await this.#owner())?.id === this.#id)
      await touch(this.#path, this.#platform.clock.wallMs());
  }
}

async function touch(path: string, timeMs: number): Promise<void> {
  await utimes(path, timeMs / 1000, timeMs / 1000);
}
