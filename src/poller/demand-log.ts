import type { Clock } from '../model/clock.ts';
import type { AccountPlan } from './account-plan.ts';
import type { ChangeLog, StateLines } from './change-log.ts';

const demandLines = {
  budget: {
    level: 'warn',
    fails: ['demand exceeds the budget: intervals are stretched'],
    works: ['demand fits the budget again'],
  },
  speed: {
    level: 'warn',
    fails: ['the vendor answers too slowly for the demand: intervals are stretched'],
    works: ['demand fits the budget again'],
    remedy: 'raise concurrency, or poll less',
  },
} satisfies Record<string, StateLines>;

/**
 * Demand and budget may cross again and again. Relief is reported only when it has lasted this
 * long, which bounds the number of lines.
 */
const reliefMs = 10 * 60_000;

/** Tells whether the demand of an account fits what it may send. */
export function createDemandReport(
  account: string,
  log: ChangeLog,
  clock: Clock,
): (plan: AccountPlan) => void {
  let told: keyof typeof demandLines | undefined;
  let fitsSinceMs: number | undefined;
  return ({ demandPerMinute, budgetPerMinute, capacityPerMinute, stretch }: AccountPlan): void => {
    const nowMs = clock.monotonicMs();
    const limit = capacityPerMinute < budgetPerMinute ? 'speed' : 'budget';
    fitsSinceMs = stretch > 1 ? undefined : (fitsSinceMs ?? nowMs);
    const before = { isFailing: told !== undefined, reason: told };
    if (fitsSinceMs === undefined) told = told === 'budget' ? told : limit;
    else if (nowMs - fitsSinceMs >= reliefMs) told = undefined;
    const after = { isFailing: told !== undefined, reason: told };
    const fields = {
      demand_per_minute: Math.ceil(demandPerMinute),
      budget_per_minute: budgetPerMinute,
      ...(limit === 'speed' ? { capacity_per_minute: Math.floor(capacityPerMinute) } : {}),
      interval_factor: Number(stretch.toFixed(2)),
    };
    const lines = demandLines[limit];
    log.write([{ id: account, name: account, lines, before, after, fields }]);
  };
}
