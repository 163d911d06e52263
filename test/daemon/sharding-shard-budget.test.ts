import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createShardBudget, type ShardBudget } from '../../src/daemon/sharding.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const minuteMs = 60_000;
const intervalMs = minuteMs;

function aBudget(ordinal: number, total: number): { budget: ShardBudget; clock: FakeClock } {
  const clock = createFakeClock();
  return { clock, budget: createShardBudget({ ordinal, total }, { clock }) };
}

describe('createShardBudget', () => {
  it('leaves the whole budget to a process that is alone', () => {
    expect(aBudget(0, 1).budget.shareOf(800)).toBe(800);
  });

  it('begins with an even part, less two in a hundred', () => {
    expect([0, 1, 2].map((ordinal) => aBudget(ordinal, 3).budget.shareOf(300))).toEqual([
      98, 98, 98,
    ]);
  });

  it('gives up at once what others need, and takes more only when they have given it up', async () => {
    const large = aBudget(0, 2);
    const small = aBudget(1, 2);
    const demands = { polls: [1000, 10], discovery: 1 };

    small.budget.discovered(demands, intervalMs);
    const given = small.budget.shareOf(100);
    const taken: number[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      large.budget.discovered(demands, intervalMs);
      taken.push(large.budget.shareOf(100));
      await large.clock.advance(intervalMs);
    }

    expect(given).toBe(1);
    expect(taken).toEqual([49, 49, 49, 96, 96]);
  });

  it('stays even where accounts share the key, whatever is found', async () => {
    const { budget } = aBudget(0, 2);
    budget.discovered({ polls: [10, 1000], discovery: 1 }, intervalMs);

    expect([budget.shareOf(100, true), budget.shareOf(100, false)]).toEqual([49, 1]);
  });

  it('follows another budget at once', async () => {
    const { budget } = aBudget(0, 2);
    budget.discovered({ polls: [50, 950], discovery: 0 }, intervalMs);

    expect([budget.shareOf(100), budget.shareOf(1000)]).toEqual([5, 49]);
  });

  it('never uses more than the budget together, in whatever order shards see a change', async () => {
    const world = fc.record({
      polls: fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 3, maxLength: 3 }),
      discovery: fc.constant(1),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(world, { minLength: 1, maxLength: 6 }),
        fc.array(fc.integer({ min: 0, max: intervalMs - 1 }), { minLength: 3, maxLength: 3 }),
        async (worlds, phases) => {
          const clock = createFakeClock();
          const budgets = phases.map((_, ordinal) =>
            createShardBudget({ ordinal, total: 3 }, { clock }),
          );
          const budget = 600;
          for (const demands of worlds) {
            // Each change is seen by all before the next one comes.
            const order = phases.map((phase, ordinal) => ({ phase, ordinal }));
            const steps = order.toSorted((left, right) => left.phase - right.phase);
            for (let round = 0; round < 5; round += 1) {
              for (const { ordinal } of steps) {
                budgets[ordinal]?.discovered(demands, intervalMs);
                const shares = budgets.map((one) => one.shareOf(budget));
                expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(budget);
              }
              await clock.advance(intervalMs);
            }
          }
          const shares = budgets.map((one) => one.shareOf(budget));
          // In the end each has its part: what is lost are parts of a call and the reserve.
          expect(shares.reduce((sum, share) => sum + share, 0)).toBeGreaterThan(0.97 * budget - 4);
        },
      ),
      { numRuns: 60 },
    );
  });
});
