import type { Logger } from '../model/telemetry.ts';
import { createLogger } from '../telemetry/create-logger.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';

/** The log of a command, on standard error: standard output is for what the command is asked for. */
export async function createLogging(
  { logLevel, logFormat }: Pick<Flags, 'logLevel' | 'logFormat'>,
  { stderr, clock, env, redactor }: Machine,
): Promise<Logger> {
  return createLogger(
    { level: logLevel, format: logFormat },
    { stream: stderr, redactor, clock, env },
  );
}
