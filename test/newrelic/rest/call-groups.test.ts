import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MetricScope, type PolledSeries, seriesOf } from '../../../src/model/polled-series.ts';
import { presetNames } from '../../../src/model/presets.ts';
import { type ValueName, valueNames } from '../../../src/model/vendor-value.ts';
import { createCallGroups } from '../../../src/newrelic/rest/call-groups.ts';
import { queryLengthOf } from '../../../src/newrelic/rest/requests.ts';
import { aMetric } from '../../support/builders.ts';

/** Such as `a call_count`. Of applications and hosts unless it is said. */
function aSeries(
  metric: string,
  value: ValueName = 'call_count',
  scope: MetricScope = 'both',
): PolledSeries {
  const [series] = seriesOf([aMetric(metric, { value, scope })], []);
  if (series === undefined) throw new Error('a metric without a series');
  return series;
}

const callGroupsOf = createCallGroups();

/** The calls for an application and for a host: each with its series, by kind. */
function callsOf(series: readonly PolledSeries[]) {
  const { applications, hosts } = callGroupsOf(series);
  const [own, ofHosts] = [applications, hosts].map((groups) =>
    groups.map(({ series: all, kinds }) => {
      expect(new Set(kinds.flat())).toEqual(new Set(all));
      const texts = kinds.map((kind) =>
        kind.map(({ metric, value }) => `${metric.slice(0, 3)} ${value}`).join(', '),
      );
      return texts.join(' | ');
    }),
  );
  return { applications: own, hosts: ofHosts };
}

const anySeries = fc
  .tuple(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('Apdex', 'CPU/User Time', '💾'.repeat(99)) },
      fc.string({ minLength: 1, maxLength: 255 }),
    ),
    fc.constantFrom(...valueNames),
  )
  .map(([metric, value]) => aSeries(metric, value));

describe('the calls for the series of an entry', () => {
  // "names%5B%5D=" and "&" are 13 characters, "values%5B%5D=call_count&" are 24.
  const room = 3500 - 24 - 13;
  it.each([
    { what: 'metrics that just fit', names: ['a'.repeat(1000), 'b'.repeat(room - 1013)], calls: 1 },
    { what: 'one more character', names: ['a'.repeat(1000), 'b'.repeat(room - 1012)], calls: 2 },
    { what: 'longer ones when sent', names: ['あ'.repeat(255), 'い'.repeat(255)], calls: 2 },
  ])('are $calls for $what', ({ names, calls }) => {
    expect(callsOf(names.map((name) => aSeries(name))).applications).toHaveLength(calls);
  });

  it('ask for each series once, in queries that fit, and are no more than needed', () => {
    fc.assert(
      fc.property(fc.array(anySeries, { minLength: 1, maxLength: 60 }), (series) => {
        const calls = callGroupsOf(series).applications.map((group) => group.series);

        expect(calls.flat()).toEqual(series);
        for (const [index, call] of calls.entries()) {
          expect(queryLengthOf(call)).toBeLessThanOrEqual(3500);
          const next = calls[index + 1]?.[0];
          const longer = next === undefined ? Infinity : queryLengthOf([...call, next]);
          expect(longer).toBeGreaterThan(3500);
        }
      }),
    );
  });

  it('are one for all presets, with the values in their order', () => {
    const series = seriesOf(presetNames, ['web', 'other']);
    const { applications, hosts } = callGroupsOf(series);

    expect(applications).toMatchObject([{ series }]);
    expect(hosts).toEqual(applications);
  });

  const [long, longer] = ['a'.repeat(2000), 'b'.repeat(2000)];
  it.each([
    {
      what: 'what is read of applications and of hosts each',
      series: [aSeries('a', 's', 'hosts'), aSeries('b'), aSeries('c', 't', 'applications')],
      applications: ['b call_count | c t'],
      hosts: ['a s | b call_count'],
    },
    {
      what: 'what one URL cannot hold, in several',
      series: [aSeries(long), aSeries('c'), aSeries(longer), aSeries(long, 'score')],
      applications: ['aaa call_count, c call_count', 'bbb call_count', 'aaa score'],
    },
    {
      what: 'metrics with the same values as one kind',
      series: ['a', 'b score', 'c percent', 'b', 'd'].map((text) => {
        const [metric = '', value = 'call_count'] = text.split(' ');
        return aSeries(metric, value as ValueName);
      }),
      applications: ['a call_count, d call_count | b score, b call_count | c percent'],
    },
  ])('ask for $what', ({ series, applications, hosts = applications }) => {
    expect(callsOf(series)).toEqual({ applications, hosts });
  });
});
