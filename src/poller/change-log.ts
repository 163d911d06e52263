import { type BurstLogOptions, createBurstLog } from './burst-log.ts';
import type { ChangeLog, ChangeLogDependencies } from './change.ts';
import { createFlapGuard } from './flap-guard.ts';

export interface ChangeLogOptions extends BurstLogOptions {
  /** The line about subjects that change too often to be logged each time. */
  readonly flapMessage: string;
}

export function createChangeLog(
  { account, inFull, countField, flapMessage }: ChangeLogOptions,
  { logger, clock }: ChangeLogDependencies,
): ChangeLog {
  const bursts = createBurstLog({ account, inFull, countField }, { logger, clock });
  const guard = createFlapGuard({
    clock,
    flapping: ({ subjects, changes, failing, examples }) => {
      const fields = { account, [countField]: subjects, changes, failing, examples };
      logger.warn(fields, flapMessage);
    },
  });
  return {
    write: (change) => {
      if (guard.admits(change)) bursts.write(change);
    },
    stop: () => {
      bursts.stop();
      guard.stop();
    },
  };
}
