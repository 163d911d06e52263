import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Query } from '../../../src/model/config.ts';
import { isCovered, loadOf, plannableOf } from '../../../src/poll/account-plan.ts';
import {
  budgetFor,
  intervalFactorFor,
  planCalls,
  vendorFacts,
} from '../../../src/tools/survey/call-plan.ts';
import { anAccount, aSelected } from '../../support/builders.ts';

const discovery = { calls: 1, intervalMs: 60_000 };
const queries: readonly Query[] = [];
const { cost } = vendorFacts.rest;

function hosts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index}`);
}

describe('planCalls', () => {
  it.each([
    { what: 'a page of them', poll: { hostNames: true }, count: 200, calls: 1 },
    { what: 'more than a page', poll: { hostNames: true }, count: 201, calls: 2 },
    { what: 'no hosts', poll: { hostNames: true }, count: 0, calls: 0 },
    { what: 'hosts whose names are not wanted', poll: { hostNames: false }, count: 3, calls: 0 },
  ])('counts $calls calls for the host names of $what', ({ poll, count, calls }) => {
    const applications = [aSelected({ hostIds: hosts(count) }, { poll })];

    expect(
      planCalls({ cost, account: anAccount(), applications, queries, discovery }).host_name_calls,
    ).toBe(calls);
  });

  it.each([
    { what: 'the discovery alone', count: 0, hostCount: 0, seconds: 0.4 },
    { what: 'calls in flight', count: 2, hostCount: 31, seconds: 0.4 + 8 * 0.4 },
    { what: 'the budget of two minutes', count: 10, hostCount: 99, seconds: 60.4 + 25 * 0.4 },
  ])(
    'gives the time until everything has been polled once: $what',
    ({ count, hostCount, seconds }) => {
      const applications = Array.from({ length: count }, (_, index) =>
        aSelected({ id: `${index}`, hostIds: hosts(hostCount) }, { poll: { intervalMs: 300_000 } }),
      );

      const plan = planCalls({
        cost,
        account: anAccount(),
        applications,
        queries,
        discovery,
      });

      expect(plan.first_full_set_seconds).toBeCloseTo(seconds, 6);
    },
  );

  it.each([
    { hostCount: 1700, concurrency: 8 },
    { hostCount: 1701, concurrency: 9 },
  ])('asks for $concurrency calls in flight of 250 ms each', ({ hostCount, concurrency }) => {
    const plan = planCalls({
      cost,
      account: anAccount({ concurrency: 1, requestsPerMinute: 5000 }),
      applications: [aSelected({ hostIds: hosts(hostCount) })],
      queries,
      discovery,
    });

    expect(plan.to_fit?.concurrency).toBe(concurrency);
  });

  it('finds no interval that is long enough when discovery alone takes the whole budget', () => {
    const plan = planCalls({
      cost,
      account: anAccount({ requestsPerMinute: 5 }),
      applications: [aSelected()],
      queries,
      discovery: { calls: 6, intervalMs: 60_000 },
    });

    expect(plan.fits).toBe(false);
    expect(plan.to_fit).toEqual({
      requests_per_minute: 8,
      concurrency: null,
      interval_factor: null,
    });
  });
});

describe('what would make an account fit', () => {
  const demands = fc.record({
    polls: fc.double({ min: 0, max: 1e5, noNaN: true }),
    discovery: fc.double({ min: 0, max: 1e3, noNaN: true }),
    other: fc.constant(0),
  });

  it('is the smallest budget that covers the demand', () => {
    fc.assert(
      fc.property(demands, (demand) => {
        const budget = budgetFor(demand);

        expect(isCovered(demand, budget)).toBe(true);
        expect(budget === 1 || !isCovered(demand, budget - 1)).toBe(true);
        expect(loadOf(demand, budget)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('is a factor for the intervals, just long enough', () => {
    fc.assert(
      fc.property(demands, fc.integer({ min: 1, max: 1000 }), (demand, budget) => {
        const factor = intervalFactorFor(demand, budget);

        const withFactor = (by: number): boolean =>
          isCovered({ ...demand, polls: demand.polls / by }, budget);
        expect(factor === undefined).toBe(demand.discovery >= plannableOf(budget));
        expect(factor === undefined || withFactor(factor * 1.000_001)).toBe(true);
        expect(factor === undefined || factor === 1 || !withFactor(factor * 0.999)).toBe(true);
      }),
    );
  });
});
