import { ApiError } from '../model/api-error.ts';
import type { Discovery } from '../model/source.ts';
import { type ChangeLogDependencies, createFlapGuard } from './change-log.ts';

/** Tells how the discoveries of one account fare. */
export interface DiscoveryLog {
  ended(discovery: Discovery, selected: number): void;
  stop(): void;
}

export function createDiscoveryLog(
  account: string,
  { logger, clock }: ChangeLogDependencies,
): DiscoveryLog {
  const guard = createFlapGuard({
    clock,
    flapping: ({ changes, failing }) => {
      const fields = { account, changes, works: failing === 0 };
      logger.warn(fields, 'discovery keeps failing and recovering');
    },
  });
  let wasUp: boolean | undefined;
  let lastReason: string | undefined;

  return {
    ended: ({ complete, error, applications }, selected) => {
      const reason = error instanceof ApiError ? error.reason : undefined;
      const isFirst = wasUp === undefined;
      const isChanged = wasUp !== complete || (!complete && reason !== lastReason);
      wasUp = complete;
      lastReason = reason;
      if (!isChanged || !guard.admits({ id: account, name: account, isFailing: !complete })) return;
      if (complete) {
        const message = isFirst ? 'account discovered' : 'discovery works again';
        logger.info({ account, listed: applications.length, selected }, message);
      } else {
        logger.error({ account, error }, 'discovery failed');
      }
    },
    stop: () => {
      guard.stop();
    },
  };
}
