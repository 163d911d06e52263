import type { Logger } from '../model/telemetry.ts';
import { createLogger } from '../telemetry/create-logger.ts';
import { createRedactor, type Redactor } from '../telemetry/redactor.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';

export interface Logging {
  readonly logger: Logger;
  readonly redactor: Redactor;
}

/** The log of a command, on standard error: standard output is for what the command is asked for. */
export async function createLogging(
  { logLevel, logFormat }: Pick<Flags, 'logLevel' | 'logFormat'>,
  { stderr, clock, env }: Machine,
): Promise<Logging> {
  const redactor = createRedactor();
  const logger = await createLogger(
    { level: logLevel, format: logFormat },
    { stream: stderr, redactor, clock, env },
  );
  return { logger, redactor };
}
