import type { FileSystem } from '../config/read-file.ts';
import type { Clock } from '../model/clock.ts';
import type { RawTransport } from '../newrelic/calls/transport.ts';
import type { UndiciTransportOptions } from '../newrelic/calls/undici-transport.ts';
import type { Output } from '../publish/logger.ts';
import type { Redactor } from '../publish/redactor.ts';
import type { ComparePassword } from '../web/basic-auth.ts';

/** What the accounts of a configuration are read and polled with. */
export interface AccountPlatform extends FileSystem {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the JavaScript heap of this process may grow to, within half of a container's memory. */
  readonly heapBytes: number;
  readonly hostname: string;
  /** The names that this host may have in New Relic, for `hosts: self`. */
  readonly ownHostNames: readonly string[];
  /** Resolves after other work of the process has had its turn. */
  readonly nextTurn: () => Promise<void>;
  /** Knows every secret that this process has read. */
  readonly redactor: Redactor;
  /** Aborted when the process is asked to stop; the cause of its reason is the name of the signal. */
  readonly stopSignal: AbortSignal;
  /** The permissions of a file, such as 0o640; `undefined` if they are not known. */
  readonly fileMode: (path: string) => Promise<number | undefined>;
  /** Opens the connections to one origin. */
  readonly openTransport: (options: UndiciTransportOptions) => Promise<RawTransport>;
}

/** Tells whoever waits for a command what it is doing. */
export interface Progress {
  /**
   * From now on this is what the command is doing. The function is called whenever it is to be shown:
   * its text is one line, without secrets, and without a full stop.
   */
  show(text: () => string): void;
}

/** What a command has that does one thing and ends. */
export interface ToolPlatform extends AccountPlatform {
  readonly stdout: Output;
  /** Writes all of the text to standard output; rejects if any of it cannot be written. */
  readonly print: (text: string) => Promise<void>;
  readonly stderr: Output;
  /** For a command that takes long. */
  readonly progress: Progress;
}

/** How often a daemon tells its parent why polling stands still until a restart; empty while it does not. */
export const heartbeatMs = 10_000;

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** This program, running once more as a child process of this one. */
export interface ChildProgram {
  /** Rejects if it could not be started. */
  readonly ended: Promise<ChildEnd>;
  /** Calls the listener with each message of the child from now on. */
  readonly onMessage: (listener: (message: unknown) => void) => void;
  /** Does nothing if the child has ended. */
  readonly signal: (name: 'SIGTERM' | 'SIGHUP' | 'SIGKILL') => void;
}

/** Everything outside the process that the program may touch; also what only a process that stays needs. */
export interface Platform extends ToolPlatform {
  /** The file that this process was started with. */
  readonly startedFile: string;
  /** Compares a password with a bcrypt hash while other work goes on. */
  readonly comparePassword: ComparePassword;
  /** Calls the listener on every SIGHUP, which otherwise ends the process. */
  readonly onHangup: (listener: () => void) => void;
  /** Starts this program once more, with these arguments. Throws if there is no memory for a process. */
  readonly startChild: (args: readonly string[]) => ChildProgram;
  /** Sends the parent a heartbeat; absent if this process is no child. */
  readonly tellParent?: ((stalled: string) => void) | undefined;
}

/** 0: done. 1: failed. 2: wrong usage or configuration. 130, 143: interrupted by SIGINT, by SIGTERM. */
export type ExitCode = 0 | 1 | 2 | 130 | 143;

/** Ends a command with a message for its user and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
