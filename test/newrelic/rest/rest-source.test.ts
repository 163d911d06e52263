import { describe, expect, it } from 'vitest';
import { type MetricScope, type PolledSeries, seriesOf } from '../../../src/model/polled-series.ts';
import { restCosts } from '../../../src/newrelic/rest/rest-source.ts';
import { aSelected } from '../../support/builders.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { aRestSource } from './a-rest-source.ts';

/** Some metrics with long names. */
function readOf(scope: MetricScope, count: number = 1): readonly PolledSeries[] {
  const metrics = Array.from({ length: count }, (_, index) => ({
    metric: `Custom/${index}/`.padEnd(255, 'x'),
    value: 'average_value' as const,
    as: `custom_${index}`,
    scale: 1,
    help: undefined,
    labels: {},
    scope,
  }));
  return seriesOf(metrics, []);
}

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
    {
      what: 'each host, and nothing for an application of which nothing is read',
      selected: aSelected({ hostIds: ['1', '2', '3'] }, { series: readOf('hosts') }),
      calls: 3,
    },
    {
      what: 'an application, and nothing for hosts of which nothing is read',
      selected: aSelected({ hostIds: ['1', '2', '3'] }, { series: readOf('applications') }),
      calls: 1,
    },
    {
      what: 'nothing for the host of this process, if nothing is read of hosts',
      selected: aSelected(
        { hostIds: ['1'] },
        { series: readOf('applications'), hosts: { kind: 'self', names: ['a'] } },
      ),
      calls: 1,
    },
    {
      what: 'all calls for more metrics than one can ask for',
      selected: aSelected({ hostIds: ['1', '2', '3'] }, { series: readOf('both', 20) }),
      calls: 2 + 2 * 3,
    },
  ])('counts $what', ({ selected, calls }) => {
    const subject = { kind: 'application', selected } as const;
    const { application_metrics: own, host_metrics: hosts, ...lists } = restCosts.cost([subject]);

    expect(own + hosts).toBe(calls);
    expect(lists).toEqual({ list_applications: 0, list_hosts: 0, query: 0 });
  });
});

describe('a value that New Relic writes as an integer of many digits', () => {
  it('is published, unlike an id that long', async () => {
    const body = `{"metric_data":{"metrics_found":["Custom/0"],"metrics_not_found":[],"metrics":[{"name":"Custom/0","timeslices":[{"from":"2026-09-01T10:00:00+00:00","to":"2026-09-01T10:04:59+00:00","values":{"average_value":1767225600000000000}}]}]}}`;
    const { client, signal, invalidSamples } = aRestSource(async () => answerOf(body));
    const custom = { metric: 'Custom/0', value: 'average_value', as: 'bytes', scale: 1 } as const;
    const series = seriesOf([{ ...custom, help: undefined, labels: {}, scope: 'both' }], []);
    const fromMs = Date.UTC(2026, 8, 1, 10);
    const question = { window: { fromMs, toMs: fromMs + 300_000 }, series, raw: true };

    const { values } = await client.metrics('1', undefined, question, { signal });

    expect(values).toEqual([1_767_225_600_000_000_000]);
    expect(invalidSamples).toEqual([]);
  });
});
