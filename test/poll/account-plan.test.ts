import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/model/source.ts';
import { minuteMs } from '../../src/model/time.ts';
import { restCosts } from '../../src/newrelic/rest/rest-source.ts';
import {
  AccountPlanner,
  capacityOf,
  demandOf,
  isCovered,
  loadOf,
} from '../../src/poll/account-plan.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { aContext, aSilentSource } from '../support/a-context.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

describe('demandOf', () => {
  it('adds the polls of each application, at its own interval, to the discovery', () => {
    const subjects = [
      aSelected({ id: '1', hostIds: ['11', '12'] }),
      aSelected({ id: '2', hostIds: ['21'] }, { poll: { intervalMs: 300_000 } }),
    ].map((selected) => ({ kind: 'application', selected }) as const);

    const demand = demandOf({ subjects, cost: restCosts.cost }, { calls: 2, intervalMs: 120_000 });

    expect(demand.polls).toBeCloseTo(3 + 2 / 5, 10);
    expect(demand.discovery).toBe(1);
  });
});

describe('loadOf', () => {
  it.each([
    { polls: 394, discovery: 0, budget: 800, load: 0.5 },
    { polls: 344, discovery: 358, budget: 800, load: 0.8 },
    { polls: 788, discovery: 0, budget: 800, load: 1 },
    { polls: 1576, discovery: 0, budget: 800, load: 2 },
    { polls: 20, discovery: 4.85, budget: 10, load: 4 },
    { polls: 20, discovery: 100, budget: 10, load: 20 },
  ])('is $load for $polls polls and $discovery lists on a budget of $budget', (row) => {
    expect(loadOf(row, row.budget)).toBeCloseTo(row.load, 10);
  });
});

describe('isCovered', () => {
  it.each([
    { polls: 788, discovery: 0, budget: 800, covered: true },
    { polls: 787, discovery: 1.5, budget: 800, covered: false },
  ])('is $covered for $polls and $discovery of $budget', ({ covered, ...row }) => {
    expect(isCovered(row, row.budget)).toBe(covered);
  });
});

describe('capacityOf', () => {
  it.each([
    { what: 'the limit of the key', limit: 800, carried: 4800, expected: 800 },
    { what: 'nine tenths of what the connections carry', limit: 800, carried: 240, expected: 216 },
    {
      what: 'the limit before any call was answered',
      limit: 800,
      carried: Infinity,
      expected: 800,
    },
    { what: 'the limit when both are the same', limit: 720, carried: 800, expected: 720 },
    {
      what: 'nine tenths of what is carried, though that is the limit',
      limit: 800,
      carried: 800,
      expected: 720,
    },
  ])('is $what', ({ limit, carried, expected }) => {
    expect(capacityOf(limit, carried)).toBe(expected);
  });
});

interface Bench {
  readonly clock: FakeClock;
  readonly planner: AccountPlanner;
  /** What the account can do. A test may change it. */
  readonly now: { limitPerMinute: number; carriedPerMinute: number; costChanges: number };
}

function aPlanner(): Bench {
  const clock = createFakeClock();
  const now = { limitPerMinute: 800, carriedPerMinute: Infinity, costChanges: 0 };
  const source = aSilentSource({ ...restCosts, costChanges: () => now.costChanges });
  const calls = Object.assign(accountCalls(clock), {
    limitPerMinute: () => now.limitPerMinute,
    carriedPerMinute: () => now.carriedPerMinute,
  });
  const planner = new AccountPlanner(minuteMs, aContext({ clock, source, calls }));
  return { clock, planner, now };
}

/** An application that takes this many calls a minute. */
function taking(perMinute: number): readonly Question[] {
  const hostIds = Array.from({ length: perMinute - 1 }, (_, index) => `${index}`);
  return [{ kind: 'application', selected: aSelected({ id: '1', hostIds }) }];
}

describe('what a plan leaves for what has failed', () => {
  it.each([
    { what: 'what the demand leaves', taken: 100, free: 700 },
    { what: 'what is kept back, if that is more', taken: 795, free: 12 },
    { what: 'what is kept back where the budget does not suffice', taken: 2000, free: 12 },
  ])('is $what', ({ taken, free }) => {
    const { planner } = aPlanner();

    planner.replan(taking(taken));

    expect(planner.plan.freePerMinute).toBeCloseTo(free, 9);
  });
});

describe('a plan is outdated', () => {
  it.each([
    { what: 'when a call more may be sent', change: { limitPerMinute: 801 }, outdated: true },
    { what: 'when a call less may be sent', change: { limitPerMinute: 799 }, outdated: true },
    { what: 'when polls cost something else', change: { costChanges: 1 }, outdated: true },
    { what: 'after ten seconds', change: {}, afterMs: 10_000, outdated: true },
    { what: 'not before, if nothing has changed', change: {}, afterMs: 9999, outdated: false },
  ])('$what', async ({ change, afterMs = 0, outdated }) => {
    const { planner, now, clock } = aPlanner();
    planner.replan(taking(100));

    Object.assign(now, change);
    await clock.advance(afterMs);

    expect(planner.isOutdated()).toBe(outdated);
    planner.replan(taking(100));
    expect(planner.isOutdated()).toBe(false);
  });
});

describe('the capacity of a plan', () => {
  it.each([
    { what: 'stays while the vendor is a tenth slower', carried: 450.1, capacity: 450 },
    { what: 'follows when it is still slower', carried: 440, capacity: 396 },
    { what: 'stays while the vendor is a tenth faster', carried: 549.9, capacity: 450 },
    { what: 'follows when it is still faster', carried: 600, capacity: 540 },
    { what: 'follows another limit at once', carried: 510, limit: 700, capacity: 459 },
  ])('$what', ({ carried, limit = 800, capacity }) => {
    const { planner, now } = aPlanner();
    now.carriedPerMinute = 500;
    planner.replan(taking(100));

    now.carriedPerMinute = carried;
    now.limitPerMinute = limit;
    planner.replan(taking(100));

    expect(planner.plan.capacityPerMinute).toBeCloseTo(capacity, 9);
  });

  it.each([
    { what: 'stays a little too small while the vendor', carried: 888, isWhole: false },
    { what: 'is the whole limit again when the vendor', carried: 889, isWhole: true },
  ])('$what carries $carried calls of 800', ({ carried, isWhole }) => {
    const { planner, now } = aPlanner();
    for (const carriedPerMinute of [700, 850, carried]) {
      now.carriedPerMinute = carriedPerMinute;
      planner.replan(taking(800));
    }

    expect(planner.plan.capacityPerMinute === 800).toBe(isWhole);
  });
});
