import type { Application } from '../model/application.ts';
import { hostsScope, type PollOutcome } from '../model/poll-outcome.ts';
import { shortName } from './application-name.ts';
import { type ChangeLogDependencies, createFlapGuard } from './change-log.ts';

type NamesOutcome = Pick<PollOutcome, 'hostNames' | 'hostNamesError' | 'failed'>;

/** Tells whether host names can be had. They mostly fail alike for all: one line for the account. */
export interface NamesLog {
  asked(application: Application, outcome: NamesOutcome): void;
  /** Forgets the applications that are no longer there. */
  keepOnly(known: { has(id: string): boolean }): void;
  stop(): void;
}

export function createNamesLog(
  account: string,
  { logger, clock }: ChangeLogDependencies,
): NamesLog {
  const remedy = 'hosts are shown by their id until it works; host_names: false switches it off';
  const guard = createFlapGuard({
    clock,
    flapping: ({ changes, failing }) => {
      const fields = { account, changes, works: failing === 0 };
      logger.warn(fields, 'host names keep failing and recovering');
    },
  });
  const failing = new Set<string>();
  const mayLog = (): boolean =>
    guard.admits({ id: account, name: account, isFailing: failing.size > 0 });

  return {
    asked: (application, { hostNames, hostNamesError, failed }) => {
      // Where the poll failed for want of them, its failure is told.
      if (failed.has(hostsScope)) return;
      const { id } = application;
      const fields = { account, app_id: id, app_name: shortName(application) };
      if (hostNamesError !== undefined) {
        const wasFailing = failing.size > 0;
        failing.add(id);
        if (wasFailing || !mayLog()) return;
        logger.warn({ ...fields, error: hostNamesError, remedy }, 'host names not available');
      } else if (hostNames !== undefined && failing.delete(id) && failing.size === 0 && mayLog()) {
        logger.info(fields, 'host names available again');
      }
    },
    keepOnly: (known) => {
      for (const id of failing) if (!known.has(id)) failing.delete(id);
    },
    stop: () => {
      guard.stop();
    },
  };
}
