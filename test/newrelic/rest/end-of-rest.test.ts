import { describe, expect, it } from 'vitest';
import { endOfRestAt } from '../../../src/newrelic/rest/end-of-rest.ts';

describe('endOfRestAt', () => {
  it.each([
    { at: '2026-11-22T00:00:00Z', isUrgent: false, hasEnded: false },
    { at: '2027-01-31T23:59:59.999Z', isUrgent: false, hasEnded: false },
    { at: '2027-02-01T00:00:00Z', isUrgent: true, hasEnded: false },
    { at: '2027-07-31T23:59:59.999Z', isUrgent: true, hasEnded: false },
    { at: '2027-08-01T00:00:00Z', isUrgent: true, hasEnded: true },
  ])('says at $at: urgent $isUrgent, ended $hasEnded', ({ at, isUrgent, hasEnded }) => {
    expect(endOfRestAt(Date.parse(at))).toMatchObject({ isUrgent, hasEnded });
  });

  it.each([
    {
      at: '2027-07-31T23:59:59.999Z',
      message: '"source: rest" asks the REST API v2, which New Relic ends on 2027-07-31',
      remedy:
        'change to "source: nerdgraph" before then: newrelic-exporter compare shows whether the values agree; see https://github.com/newrelic-exporter/newrelic-exporter/blob/main/docs/nerdgraph.md',
    },
    {
      at: '2027-08-01T00:00:00Z',
      message: '"source: rest" asks the REST API v2, which New Relic ended on 2027-07-31',
      remedy:
        'change to "source: nerdgraph" now: newrelic-exporter compare shows whether the values agree; see https://github.com/newrelic-exporter/newrelic-exporter/blob/main/docs/nerdgraph.md',
    },
  ])('words it for $at', ({ at, message, remedy }) => {
    expect(endOfRestAt(Date.parse(at))).toMatchObject({ message, remedy });
  });
});
