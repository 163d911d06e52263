import { describe, expect, it } from 'vitest';
import { restCosts } from '../../src/rest/rest-source.ts';
import { aSelected } from '../support/builders.ts';

describe('the costs of a poll by the REST API', () => {
  it.each([
    { what: 'an application without hosts', selected: aSelected(), calls: 1 },
    { what: 'each host', selected: aSelected({ hostIds: ['1', '2', '3'] }), calls: 4 },
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
    const {
      application_throughput: own,
      host_throughput: hosts,
      ...lists
    } = restCosts.polls([selected]);

    expect(own + hosts).toBe(calls);
    expect(lists).toEqual({ list_applications: 0, list_hosts: 0 });
  });
});
