import type { Logger, PollObserver } from '../model/telemetry.ts';

export interface BudgetWatchDependencies {
  readonly observer: PollObserver;
  /** Calls a minute that may be sent at present. */
  readonly allowedPerMinute: () => number;
  readonly changed: () => void;
  readonly logger: Logger;
}

/**
 * Looks after each poll whether 429s have changed what may be sent: what is planned and shown has to
 * follow.
 */
export function watchingBudget(
  account: { readonly name: string; readonly requestsPerMinute: number },
  { observer, allowedPerMinute, changed, logger }: BudgetWatchDependencies,
): PollObserver {
  let known = account.requestsPerMinute;
  return {
    ...observer,
    polled: (durationSeconds, succeeded) => {
      observer.polled(durationSeconds, succeeded);
      const allowed = allowedPerMinute();
      if (allowed === known) return;
      known = allowed;
      changed();
      const fields = {
        account: account.name,
        sent_per_minute: allowed,
        budget_per_minute: account.requestsPerMinute,
      };
      if (allowed < account.requestsPerMinute) {
        logger.warn(fields, 'others use the key: less than the budget is sent');
      } else logger.info(fields, 'the whole budget is tried again');
    },
  };
}
