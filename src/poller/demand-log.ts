import type { ChangeLogDependencies } from './change.ts';

/** Demand and budget may cross again and again: only what lasts is a relief. */
const reliefMs = 10 * 60_000;

/** Tells when the intervals begin to stretch, and when they have not been stretched for a while. */
export function createDemandLog(
  account: string,
  { logger, clock }: ChangeLogDependencies,
): (perMinute: number, budgetPerMinute: number, stretch: number) => void {
  let isTold = false;
  let fitsSinceMs: number | undefined;
  return (perMinute, budgetPerMinute, stretch) => {
    const nowMs = clock.monotonicMs();
    const fields = {
      account,
      demand_per_minute: Math.ceil(perMinute),
      budget_per_minute: budgetPerMinute,
      interval_factor: Number(stretch.toFixed(2)),
    };
    if (stretch > 1) {
      fitsSinceMs = undefined;
      if (!isTold) logger.warn(fields, 'demand exceeds the budget: intervals are stretched');
      isTold = true;
      return;
    }
    fitsSinceMs ??= nowMs;
    if (!isTold || nowMs - fitsSinceMs < reliefMs) return;
    isTold = false;
    logger.info(fields, 'demand fits the budget again');
  };
}
