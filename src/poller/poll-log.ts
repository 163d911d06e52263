import { ApiError } from '../model/api-error.ts';
import type { AppEntry } from '../model/config.ts';
import { selectorText } from '../model/selector.ts';
import type { Discovery } from '../model/source.ts';
import type { Logger } from '../model/telemetry.ts';
import type { AppState } from './app-state.ts';
import type { PollOutcome } from './poll-outcome.ts';

/** Writes one line for each change of state, not for each poll. */
export interface PollLog {
  discovered(discovery: Discovery, selected: number, missing: readonly AppEntry[]): void;
  polled(before: AppState, after: AppState, outcome: PollOutcome): void;
  demand(perMinute: number, budgetPerMinute: number, stretch: number): void;
}

/** A name may be of any length; the id tells the rest. */
const longestName = 256;

export function createPollLog(account: string, { logger }: { readonly logger: Logger }): PollLog {
  const missingLog = createMissingLog(account, logger);
  const namesLog = createNamesLog(logger);
  let wasUp: boolean | undefined;
  let lastReason: string | undefined;

  return {
    discovered: ({ complete, error, applications }, selected, missing) => {
      const reason = error instanceof ApiError ? error.reason : undefined;
      if (complete && wasUp !== true) {
        const message = wasUp === undefined ? 'account discovered' : 'discovery works again';
        logger.info({ account, listed: applications.length, selected }, message);
      }
      if (!complete && (wasUp !== false || reason !== lastReason)) {
        logger.error({ account, error }, 'discovery failed');
      }
      wasUp = complete;
      lastReason = reason;
      if (complete) missingLog(missing);
    },
    polled: (before, after, outcome) => {
      const { id, name } = after.selected.application;
      const fields = { account, app_id: id, app_name: name.slice(0, longestName) };
      if (after.gone !== before.gone) {
        logger.info(fields, after.gone ? 'application is gone' : 'application is back');
      }
      if (after.failedFor !== undefined && after.failedFor !== before.failedFor) {
        const { error, failed, plannedCalls } = outcome;
        logger.warn({ ...fields, failed: failed.size, calls: plannedCalls, error }, 'poll failed');
      }
      if (after.pollSucceeded === true && before.pollSucceeded === false) {
        logger.info(fields, 'poll works again');
      }
      namesLog(fields, outcome);
    },
    demand: createDemandLog(account, logger),
  };
}

function createMissingLog(account: string, logger: Logger): (missing: readonly AppEntry[]) => void {
  const remedy = 'correct the entry under apps, or use a key of the account that has it';
  let lastMissing: ReadonlySet<string> = new Set();
  return (missing) => {
    const nowMissing = new Set(missing.map((entry) => selectorText(entry.selector)));
    for (const selector of nowMissing) {
      if (lastMissing.has(selector)) continue;
      logger.warn({ account, selector, remedy }, 'configured application not found');
    }
    for (const selector of lastMissing) {
      if (nowMissing.has(selector)) continue;
      logger.info({ account, selector }, 'configured application found');
    }
    lastMissing = nowMissing;
  };
}

/** Host names fail alike for all applications, if they fail: one line for the account. */
function createNamesLog(
  logger: Logger,
): (fields: Readonly<Record<string, unknown>>, outcome: PollOutcome) => void {
  let isFailing = false;
  return (fields, { hostNames, hostNamesError }) => {
    if (hostNamesError !== undefined && !isFailing) {
      const remedy =
        'hosts are shown by their id until it works; host_names: false switches it off';
      logger.warn({ ...fields, error: hostNamesError, remedy }, 'host names not available');
    }
    if (hostNames !== undefined && isFailing) logger.info(fields, 'host names available again');
    if (hostNamesError !== undefined || hostNames !== undefined) {
      isFailing = hostNamesError !== undefined;
    }
  };
}

function createDemandLog(account: string, logger: Logger): PollLog['demand'] {
  let wasStretched = false;
  return (perMinute, budgetPerMinute, stretch) => {
    const isStretched = stretch > 1;
    if (isStretched === wasStretched) return;
    wasStretched = isStretched;
    const fields = {
      account,
      demand_per_minute: Math.ceil(perMinute),
      budget_per_minute: budgetPerMinute,
      interval_factor: Number(stretch.toFixed(2)),
    };
    if (isStretched) logger.warn(fields, 'demand exceeds the budget: intervals are stretched');
    else logger.info(fields, 'demand fits the budget again');
  };
}
