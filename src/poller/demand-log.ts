import type { AccountPlan } from './account-plan.ts';
import type { ChangeLogDependencies } from './change-log.ts';

/** Demand and budget may cross again and again: only what lasts is a relief. */
const reliefMs = 10 * 60_000;

const messages = {
  budget: 'demand exceeds the budget: intervals are stretched',
  speed: 'the vendor answers too slowly for the demand: intervals are stretched',
} as const;

/** Tells when and why intervals are stretched, and when they have not been stretched for a while. */
export function createDemandLog(
  account: string,
  { logger, clock }: ChangeLogDependencies,
): (plan: AccountPlan) => void {
  let told: keyof typeof messages | undefined;
  let fitsSinceMs: number | undefined;
  return ({ demandPerMinute, budgetPerMinute, capacityPerMinute, stretch }) => {
    const nowMs = clock.monotonicMs();
    const limit = capacityPerMinute < budgetPerMinute ? 'speed' : 'budget';
    const fields = {
      account,
      demand_per_minute: Math.ceil(demandPerMinute),
      budget_per_minute: budgetPerMinute,
      ...(limit === 'speed' ? { capacity_per_minute: Math.floor(capacityPerMinute) } : {}),
      interval_factor: Number(stretch.toFixed(2)),
    };
    if (stretch > 1) {
      fitsSinceMs = undefined;
      if (told === undefined || (told === 'speed' && limit === 'budget')) {
        const remedy = limit === 'speed' ? { remedy: 'raise concurrency, or poll less' } : {};
        logger.warn({ ...fields, ...remedy }, messages[limit]);
        told = limit;
      }
      return;
    }
    fitsSinceMs ??= nowMs;
    if (told === undefined || nowMs - fitsSinceMs < reliefMs) return;
    told = undefined;
    logger.info(fields, 'demand fits the budget again');
  };
}
