import { describe, expect, it } from 'vitest';
import { type CustomMetric, type PolledSeries, seriesOf } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import type { ValueName } from '../../src/model/vendor-value.ts';
import { createCallGroups, type SeriesGroup } from '../../src/rest/call-groups.ts';

function aSeries(
  metric: string,
  value: ValueName = 'call_count',
  scope: CustomMetric['scope'] = 'both',
): PolledSeries {
  const choice = { metric, value, as: 'x', scale: 1, help: undefined, labels: {}, scope };
  const [series] = seriesOf([choice], []);
  if (series === undefined) throw new Error('a metric without a series');
  return series;
}

const callGroupsOf = createCallGroups();

function textOf(groups: readonly SeriesGroup[]): readonly string[] {
  return groups.map(({ series, places }) => {
    const metrics = series.map(({ metric, value }) => `${metric} ${value}`).join(', ');
    return places === undefined ? metrics : `${metrics} at ${places.join()}`;
  });
}

describe('the calls for the series of an entry', () => {
  it('are one for all presets, with the values in their order', () => {
    const series = seriesOf(presetNames, ['web', 'other']);

    const { applications, hosts } = callGroupsOf(series, true);

    expect(applications).toMatchObject([{ series, places: undefined, calls: 1 }]);
    expect(hosts).toEqual(applications);
  });

  it('ask for what is read of applications and of hosts each', () => {
    const series = [
      aSeries('a', 'call_count', 'hosts'),
      aSeries('b'),
      aSeries('c', 'call_count', 'applications'),
    ];

    const { applications, hosts } = callGroupsOf(series, true);

    expect(textOf(applications)).toEqual(['b call_count, c call_count at 1,2']);
    expect(textOf(hosts)).toEqual(['a call_count, b call_count at 0,1']);
  });

  it('are several for what one URL cannot hold, and no value loses its place', () => {
    const [long, longer] = ['a'.repeat(2000), 'b'.repeat(2000)];
    const series = [aSeries(long), aSeries('c'), aSeries(longer), aSeries(long, 'score')];

    const { applications } = callGroupsOf(series, true);

    expect(textOf(applications)).toEqual([
      `${long} call_count, ${long} score, c call_count at 0,3,1`,
      `${longer} call_count at 2`,
    ]);
  });

  it('are one for each kind of metric if answers are not whole: those with the same values together', () => {
    const series = [
      aSeries('a'),
      aSeries('b', 'score'),
      aSeries('c', 'percent'),
      aSeries('b', 'call_count'),
      aSeries('d'),
    ];

    const { hosts } = callGroupsOf(series, false);

    expect(textOf(hosts)).toEqual([
      'a call_count, d call_count at 0,4',
      'b score, b call_count at 1,3',
      'c percent at 2',
    ]);
    expect(hosts.map(({ calls }) => calls)).toEqual([3, 3, 3]);
  });

  it.each([
    { what: 'all metrics have the same values', series: [aSeries('a'), aSeries('b')] },
    { what: 'there is only one', series: [aSeries('b', 'score')] },
    {
      what: 'the others are not read of it',
      series: [aSeries('b'), aSeries('a', 'score', 'hosts')],
    },
  ])('are never more than one if $what', ({ series }) => {
    const { applications } = callGroupsOf(series, false);

    expect(applications).toHaveLength(1);
  });
});
