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
