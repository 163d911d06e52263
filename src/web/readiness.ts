import type { AccountDetails, ReloadStatus } from '../model/status.ts';
import { type Answer, textAnswer } from './answer.ts';

function phaseOf(account: AccountDetails): 'discovering' | 'polling' | 'ready' {
  if (account.firstCycleEnded) return 'ready';
  return account.up === true || account.applications > 0 ? 'polling' : 'discovering';
}

/** What was last tried with the configuration. Without an active one there are no accounts. */
export type ConfigStatus = Pick<ReloadStatus, 'inForceSinceMs' | 'problem'>;

/** Why nothing is polled yet, or why the old configuration is still active. */
function configProblem({ inForceSinceMs, problem }: ConfigStatus): string | undefined {
  return problem ?? (inForceSinceMs === undefined ? 'the configuration is being read' : undefined);
}

export interface Readiness {
  answer(accounts: readonly AccountDetails[], config: ConfigStatus): Answer;
  /** From now on the answer is 503. */
  endService(): void;
}

/**
 * Ready once the first cycle of every account has ended, well or badly, and ever after: an account
 * that a reload adds must not take the others' series away from Prometheus.
 */
export function createReadiness(): Readiness {
  let hasBeenReady = false;
  let isEnding = false;

  return {
    answer: (accounts, config) => {
      hasBeenReady ||=
        config.inForceSinceMs !== undefined &&
        accounts.every(({ firstCycleEnded }) => firstCycleEnded);
      const isReady = hasBeenReady && !isEnding;
      const progress = {
        ready: isReady,
        shutting_down: isEnding,
        config: configProblem(config) ?? null,
        accounts: accounts.map((account) => ({
          name: account.name,
          phase: phaseOf(account),
          up: account.up ?? null,
          applications: account.applications,
          polled: account.polledApplications,
          hosts: account.hosts,
          error: account.error ?? null,
        })),
      };
      return textAnswer(isReady ? 200 : 503, 'application/json', `${JSON.stringify(progress)}\n`);
    },
    endService: () => {
      isEnding = true;
    },
  };
}
