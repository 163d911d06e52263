import type { Clock } from '../model/clock.ts';

/** A stream for people or pipes, such as `process.stdout`. */
export interface Output {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/** All that a command may touch of the machine. */
export interface Machine {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => Promise<Uint8Array>;
  /** Resolves after other work of the process had its turn. */
  readonly nextTurn: () => Promise<void>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted when the process is asked to stop. */
  readonly stopSignal: AbortSignal;
}
