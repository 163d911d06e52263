/** 0: done. 1: failed. 2: wrong usage or configuration. */
export type ExitCode = 0 | 1 | 2;

/** Ends a command with a message for its user and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
