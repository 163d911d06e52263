import { describe, expect, it } from 'vitest';
import { restCosts } from '../../src/newrelic/rest/rest-source.ts';
import {
  demandOf,
  discoveryIntervalOf,
  headroomOf,
  isCovered,
  stretchOf,
} from '../../src/poll/demand.ts';
import { aPollConfig, aSelected } from '../support/builders.ts';

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

describe('stretchOf', () => {
  it.each([
    { polls: 10, discovery: 0, budget: 800, stretch: 1 },
    { polls: 788, discovery: 0, budget: 800, stretch: 1 },
    { polls: 1576, discovery: 0, budget: 800, stretch: 2 },
    { polls: 20, discovery: 4.85, budget: 10, stretch: 4 },
    { polls: 20, discovery: 100, budget: 10, stretch: 20 },
  ])('is $stretch for $polls polls and $discovery lists on a budget of $budget', (row) => {
    expect(stretchOf({ ...row, other: 0 }, row.budget)).toBeCloseTo(row.stretch, 10);
  });
});

describe('other calls, such as for host names and retries', () => {
  it.each([
    { what: 'are paid from what is kept back', other: 12, stretch: 1 },
    { what: 'stretch the intervals by what is more than that', other: 12 + 394, stretch: 2 },
  ])('$what', ({ other, stretch }) => {
    expect(stretchOf({ polls: 788, discovery: 0, other }, 800)).toBeCloseTo(stretch, 10);
  });
});

describe('isCovered', () => {
  it.each([
    { polls: 788, discovery: 0, budget: 800, covered: true },
    { polls: 787, discovery: 1.5, budget: 800, covered: false },
  ])('is $covered for $polls and $discovery of $budget', ({ covered, ...row }) => {
    expect(isCovered({ ...row, other: 0 }, row.budget)).toBe(covered);
  });
});

describe('headroomOf', () => {
  it.each([
    { polls: 10, discovery: 0, budget: 800, headroom: 0.5 },
    { polls: 630.4, discovery: 0, budget: 800, headroom: 0.2 },
    { polls: 344, discovery: 358, budget: 800, headroom: 0.2 },
    { polls: 788, discovery: 0, budget: 800, headroom: 0 },
    { polls: 2000, discovery: 0, budget: 800, headroom: 0 },
  ])('is $headroom for $polls polls and $discovery lists on a budget of $budget', (row) => {
    expect(headroomOf({ ...row, other: 0 }, row.budget)).toBeCloseTo(row.headroom, 10);
  });
});

describe('discoveryIntervalOf', () => {
  it('is the shortest that any entry wants', () => {
    const polls = [300_000, 60_000, 90_000].map((discoveryIntervalMs) =>
      aPollConfig({ discoveryIntervalMs }),
    );

    expect(discoveryIntervalOf(polls)).toBe(60_000);
  });
});
