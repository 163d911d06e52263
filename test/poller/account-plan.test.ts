import { describe, expect, it } from 'vitest';
import { restCosts } from '../../src/newrelic/rest-source.ts';
import { accountPlanOf, concurrencyFor, plannedCapacityOf } from '../../src/poller/account-plan.ts';
import { aSelected } from '../support/builders.ts';

const hostIds = Array.from({ length: 99 }, (_, index) => `${index}`);
/** A hundred calls a minute. */
const polled = { applications: [aSelected({ id: '1', hostIds })], costs: restCosts };
const discovery = { calls: 2, intervalMs: 120_000 };

describe('plannedCapacityOf', () => {
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
    const capacity = { limitPerMinute: limit, carriedPerMinute: carried };

    expect(plannedCapacityOf(capacity)).toBe(expected);
  });
});

describe('accountPlanOf', () => {
  it('counts polls, discoveries and what else was sent', () => {
    const capacity = { limitPerMinute: 800, carriedPerMinute: Infinity };

    const plan = accountPlanOf(polled, { ...discovery, otherPerMinute: 7 }, capacity);

    expect(plan).toMatchObject({
      demandPerMinute: 108,
      budgetPerMinute: 800,
      capacityPerMinute: 800,
      hosts: 99,
      stretch: 1,
      headroom: 0.5,
    });
  });

  it('stretches for a slow vendor as it does for a small budget of the same capacity', () => {
    const slow = accountPlanOf(polled, discovery, { limitPerMinute: 800, carriedPerMinute: 50 });
    const small = accountPlanOf(polled, discovery, { limitPerMinute: 45, carriedPerMinute: 800 });

    expect(slow).toEqual({ ...small, budgetPerMinute: 800 });
    expect(slow.capacityPerMinute).toBe(45);
    expect(slow.stretch).toBeCloseTo(100 / (45 * 0.985 - 1), 10);
    expect(slow.headroom).toBe(0);
  });
});

describe('concurrencyFor', () => {
  it.each([
    { perMinute: 216, callMs: 2000, calls: 8 },
    { perMinute: 217, callMs: 2000, calls: 9 },
    { perMinute: 800, callMs: 250, calls: 4 },
  ])('is $calls calls at a time for $perMinute of $callMs ms', ({ perMinute, callMs, calls }) => {
    const carriedPerMinute = (calls * 60_000) / callMs;

    expect(concurrencyFor(perMinute, callMs)).toBe(calls);
    expect(plannedCapacityOf({ limitPerMinute: 1e9, carriedPerMinute })).toBeGreaterThanOrEqual(
      perMinute,
    );
  });
});
