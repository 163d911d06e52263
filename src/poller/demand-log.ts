import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { AccountPlan } from './account-plan.ts';

export interface DemandReportDependencies {
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * Demand and budget may cross again and again. Relief is reported only when it has lasted this
 * long.
 */
const reliefMs = 10 * 60_000;

/** Tells whether the demand of an account fits what it may send. */
export function createDemandReport(
  account: string,
  { logger, clock }: DemandReportDependencies,
): (plan: AccountPlan) => void {
  let told: 'budget' | 'speed' | undefined;
  let fitsSinceMs: number | undefined;
  return ({ demandPerMinute, budgetPerMinute, capacityPerMinute, stretch }) => {
    const nowMs = clock.monotonicMs();
    const limit = capacityPerMinute < budgetPerMinute ? 'speed' : 'budget';
    fitsSinceMs = stretch > 1 ? undefined : (fitsSinceMs ?? nowMs);
    const before = told;
    if (fitsSinceMs === undefined) told = told === 'budget' ? told : limit;
    else if (nowMs - fitsSinceMs >= reliefMs) told = undefined;
    if (told === before) return;
    const fields = {
      account,
      demand_per_minute: Math.ceil(demandPerMinute),
      budget_per_minute: budgetPerMinute,
      interval_factor: Number(stretch.toFixed(2)),
    };
    if (told === undefined) {
      logger.info(fields, 'demand fits the budget again');
    } else if (told === 'budget') {
      logger.warn(fields, 'demand exceeds the budget: intervals are stretched');
    } else {
      logger.warn(
        {
          ...fields,
          capacity_per_minute: Math.floor(capacityPerMinute),
          remedy: 'raise concurrency, or poll less',
        },
        'the vendor answers too slowly for the demand: intervals are stretched',
      );
    }
  };
}
