import { describe, expect, it } from 'vitest';
import { type MetricScope, type PolledSeries, seriesOf } from '../../../src/model/polled-series.ts';
import { restCosts } from '../../../src/newrelic/rest/rest-source.ts';
import { aMetric, aSelected } from '../../support/builders.ts';

/** Some metrics with long names. */
function readOf(scope: MetricScope, count: number = 1): readonly PolledSeries[] {
  const metrics = Array.from({ length: count }, (_, index) =>
    aMetric(`Custom/${index}/`.padEnd(255, 'x'), { as: `custom_${index}`, scope }),
  );
  return seriesOf(metrics, []);
}

const three = { hostIds: ['1', '2', '3'] };
const silent = { reporting: false };
const hour = { poll: { window: { kind: 'range', lengthMs: 3_600_000 } } } as const;
const halfHour = { poll: { window: { kind: 'vendor_default' } } } as const;
const ofApplications = readOf('applications');
const self = { kind: 'self', names: ['a'] } as const;

describe('the costs of a poll by the REST API', () => {
  it.each<[string, number, ...Parameters<typeof aSelected>]>([
    ['an application without hosts', 1],
    ['each host', 4, three],
    ['no host when the entry wants none', 1, three, { hosts: false }],
    ['nothing when the application was silent for the whole window', 0, silent],
    ['a silent application whose window reaches further back', 1, silent, hour],
    ["a silent application with the vendor's own window of 30 minutes", 1, silent, halfHour],
    ['each host, and nothing for the application', 3, three, { series: readOf('hosts') }],
    ['an application, and nothing for hosts', 1, three, { series: ofApplications }],
    ['not the host of this process, either', 1, three, { series: ofApplications, hosts: self }],
    ['all calls for many metrics', 2 + 2 * 3, three, { series: readOf('both', 20) }],
  ])('counts %s', (_, calls, ...selected) => {
    const subject = { kind: 'application', selected: aSelected(...selected) } as const;
    const { application_metrics: own, host_metrics: hosts, ...lists } = restCosts.cost([subject]);

    expect(own + hosts).toBe(calls);
    expect(lists).toEqual({ list_applications: 0, list_hosts: 0, query: 0 });
  });
});
