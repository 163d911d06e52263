import type { AccountStatus } from '../model/telemetry.ts';
import { type Answer, textAnswer } from './send.ts';

type Phase = 'discovering' | 'polling' | 'ready';

function phaseOf(account: AccountStatus): Phase {
  if (account.firstCycleEnded) return 'ready';
  return account.up === true || account.applications > 0 ? 'polling' : 'discovering';
}

/** Answers the readiness probe. */
export interface Readiness {
  answer(accounts: readonly AccountStatus[]): Answer;
  /** From now on the answer is no. */
  endService(): void;
}

/**
 * Ready once the first cycle of every account has ended, well or badly, and from then on: an account
 * that a reload adds must not take the others' series away from Prometheus.
 */
export function createReadiness(): Readiness {
  let hasBeenReady = false;
  let isEnding = false;

  return {
    answer: (accounts) => {
      hasBeenReady ||= accounts.every(({ firstCycleEnded }) => firstCycleEnded);
      const isReady = hasBeenReady && !isEnding;
      const progress = {
        ready: isReady,
        shutting_down: isEnding,
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
