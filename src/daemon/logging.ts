import type { Logger } from '../model/telemetry.ts';
import { createLogger, type LogFormat, type LogLevel } from '../telemetry/logger.ts';
import type { Platform } from './platform.ts';

export interface LoggingOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** The log of a command, on standard error: standard output is for what the command is asked for. */
export async function createLogging(
  { logLevel, logFormat }: LoggingOptions,
  { stderr, clock, env, redactor }: Platform,
): Promise<Logger> {
  return createLogger(
    { level: logLevel, format: logFormat },
    { stream: stderr, redactor, clock, env },
  );
}
