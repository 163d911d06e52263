import { describe, expect, it } from 'vitest';
import { watchingBudget } from '../../src/cli/budget-watch.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

describe('watchingBudget', () => {
  it('tells once after each change, and passes everything on', () => {
    const logger = createFakeLogger();
    const polled: boolean[] = [];
    const skipped: number[] = [];
    let allowed = 800;
    let changes = 0;
    const observer = watchingBudget(
      { name: 'production', requestsPerMinute: 800 },
      {
        observer: {
          polled: (_durationSeconds, succeeded) => polled.push(succeeded),
          skipped: (count) => skipped.push(count),
        },
        allowedPerMinute: () => allowed,
        changed: () => {
          changes += 1;
        },
        logger,
      },
    );

    for (const next of [800, 600, 600, 800]) {
      allowed = next;
      observer.polled(1, true);
    }
    observer.skipped(3);

    expect(changes).toBe(2);
    expect(polled).toEqual([true, true, true, true]);
    expect(skipped).toEqual([3]);
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        message: 'others use the key: less than the budget is sent',
        fields: { account: 'production', sent_per_minute: 600, budget_per_minute: 800 },
      },
      {
        level: 'info',
        message: 'the whole budget is tried again',
        fields: { account: 'production', sent_per_minute: 800, budget_per_minute: 800 },
      },
    ]);
  });
});
