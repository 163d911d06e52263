import { describe, expect, it } from 'vitest';
import {
  callsPerPoll,
  demandOf,
  discoveryIntervalOf,
  slackOf,
  stretchOf,
} from '../../src/poller/demand.ts';
import { aPollConfig, aSelected } from '../support/builders.ts';

describe('callsPerPoll', () => {
  it.each([
    { what: 'an application without hosts', selected: aSelected(), calls: 1 },
    { what: 'each host', selected: aSelected({ hostIds: ['1', '2', '3'] }), calls: 4 },
    { what: 'a host listed twice', selected: aSelected({ hostIds: ['1', '1'] }), calls: 2 },
    {
      what: 'no host when the entry wants none',
      selected: aSelected({ hostIds: ['1'] }, { hosts: false }),
      calls: 1,
    },
    {
      what: 'nothing when the application was silent for the whole window',
      selected: aSelected({ reporting: false }),
      calls: 0,
    },
    {
      what: 'a silent application whose window reaches further back',
      selected: aSelected(
        { reporting: false },
        { poll: { window: { kind: 'range', lengthMs: 3_600_000 } } },
      ),
      calls: 1,
    },
    {
      what: "a silent application with the vendor's own window of 30 minutes",
      selected: aSelected({ reporting: false }, { poll: { window: { kind: 'vendor_default' } } }),
      calls: 1,
    },
  ])('counts $what', ({ selected, calls }) => {
    expect(callsPerPoll(selected)).toBe(calls);
  });
});

describe('demandOf', () => {
  it('adds the polls of every application at its own interval to the discovery', () => {
    const applications = [
      aSelected({ id: '1', hostIds: ['11', '12'] }),
      aSelected({ id: '2', hostIds: ['21'] }, { poll: { intervalMs: 300_000 } }),
    ];

    const demand = demandOf(applications, 2, 120_000);

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
    expect(stretchOf(row, row.budget)).toBeCloseTo(row.stretch, 10);
  });
});

describe('slackOf', () => {
  it.each([
    { polls: 10, discovery: 0, budget: 800, slack: 0.5 },
    { polls: 630.4, discovery: 0, budget: 800, slack: 0.2 },
    { polls: 344, discovery: 358, budget: 800, slack: 0.2 },
    { polls: 788, discovery: 0, budget: 800, slack: 0 },
    { polls: 2000, discovery: 0, budget: 800, slack: 0 },
  ])('is $slack for $polls polls and $discovery lists on a budget of $budget', (row) => {
    expect(slackOf(row, row.budget)).toBeCloseTo(row.slack, 10);
  });
});

describe('discoveryIntervalOf', () => {
  it('is the shortest that any entry asks for', () => {
    const polls = [300_000, 60_000, 90_000].map((discoveryIntervalMs) =>
      aPollConfig({ discoveryIntervalMs }),
    );

    expect(discoveryIntervalOf(polls)).toBe(60_000);
  });
});
