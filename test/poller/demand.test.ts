import { describe, expect, it } from 'vitest';
import {
  callsPerPoll,
  demandPerMinute,
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

describe('demandPerMinute', () => {
  it('adds the polls of every application at its own interval to the discovery', () => {
    const applications = [
      aSelected({ id: '1', hostIds: ['11', '12'] }),
      aSelected({ id: '2', hostIds: ['21'] }, { poll: { intervalMs: 300_000 } }),
    ];

    const demand = demandPerMinute(applications, 2, 120_000);

    expect(demand).toBeCloseTo(3 + 2 / 5 + 1, 10);
  });
});

describe('stretchOf', () => {
  it.each([
    { demand: 10, budget: 800, stretch: 1 },
    { demand: 788, budget: 800, stretch: 1 },
    { demand: 1576, budget: 800, stretch: 2 },
  ])('is $stretch for $demand calls a minute on a budget of $budget', (row) => {
    expect(stretchOf(row.demand, row.budget)).toBeCloseTo(row.stretch, 10);
  });
});

describe('slackOf', () => {
  it.each([
    { demand: 10, budget: 800, slack: 0.5 },
    { demand: 630.4, budget: 800, slack: 0.2 },
    { demand: 788, budget: 800, slack: 0 },
    { demand: 2000, budget: 800, slack: 0 },
  ])('is $slack for $demand calls a minute on a budget of $budget', (row) => {
    expect(slackOf(row.demand, row.budget)).toBeCloseTo(row.slack, 10);
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
