import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metricGroupsOf } from '../../src/model/metric-groups.ts';
import { type PolledSeries, seriesOf } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import { countedBy, type ValueName, valueNames } from '../../src/model/vendor-value.ts';

function aSeries(metric: string, value: ValueName = 'call_count'): PolledSeries {
  const [series] = seriesOf(
    [{ metric, value, as: 'x', scale: 1, help: undefined, labels: {}, scope: 'both' }],
    [],
  );
  if (series === undefined) throw new Error('a metric without a series');
  return series;
}

function pairsOf(groups: readonly (readonly PolledSeries[])[]): readonly (readonly string[])[] {
  return groups.map((group) => group.map(({ metric, value }) => `${metric} ${value}`));
}

/** The part of the query that asks for the series. */
function queryOf(series: readonly PolledSeries[]): string {
  const values = series.flatMap(({ value }) => [value, countedBy[value] ?? value]);
  const part = (key: string, members: readonly string[]): readonly string[] =>
    [...new Set(members)].map((one) => `${encodeURIComponent(key)}=${encodeURIComponent(one)}`);
  const names = series.map(({ metric }) => metric);
  return [...part('names[]', names), ...part('values[]', values)].join('&');
}

const anySeries = fc
  .tuple(
    fc.oneof(
      {
        weight: 2,
        arbitrary: fc.constantFrom('Apdex', 'Errors/all', 'CPU/User Time', '💾'.repeat(99)),
      },
      fc.string({ minLength: 1, maxLength: 255 }),
    ),
    fc.constantFrom(...valueNames),
  )
  .map(([metric, value]) => aSeries(metric, value));

describe('metricGroupsOf', () => {
  it('asks for nothing in no call', () => {
    expect(metricGroupsOf([])).toEqual([]);
  });

  it('asks for all presets in one call, in their order', () => {
    const series = seriesOf(presetNames, ['web', 'other']);

    expect(series).toHaveLength(15);
    expect(queryOf(series).length).toBeLessThan(700);
    expect(metricGroupsOf(series).map((group) => group.length)).toEqual([15]);
  });

  it('puts the series of one metric behind the first of them', () => {
    const series = [aSeries('a'), aSeries('b'), aSeries('a', 'score')];

    expect(pairsOf(metricGroupsOf(series))).toEqual([['a call_count', 'a score', 'b call_count']]);
  });

  // "names%5B%5D=" and "&" are 13 bytes, "values%5B%5D=call_count&" are 24.
  it.each([
    { what: 'just fit', length: 3500 - 24 - 13 - 1000 - 13, groups: 1 },
    { what: 'are one byte too many', length: 3500 - 24 - 13 - 1000 - 13 + 1, groups: 2 },
  ])('asks for two metrics in $groups calls if they $what', ({ length, groups }) => {
    const series = [aSeries('a'.repeat(1000)), aSeries('b'.repeat(length))];

    expect(metricGroupsOf(series)).toHaveLength(groups);
  });

  it('counts the value that is asked for besides a time', () => {
    const length = 3500 - 24 - 13 - 1000 - 13;
    const names = ['a'.repeat(1000), 'b'.repeat(length)] as const;
    const [shorter, longer] = [names[0].slice(11), names[1]];

    // "average_time" is 2 bytes longer than "call_count", and "requests_per_minute" is asked for too.
    expect(metricGroupsOf([aSeries(shorter), aSeries(longer)])).toHaveLength(1);
    expect(metricGroupsOf([aSeries(shorter), aSeries(longer, 'average_time')])).toHaveLength(2);
  });

  it('counts bytes as they are sent', () => {
    expect(metricGroupsOf([aSeries('a'.repeat(255)), aSeries('b'.repeat(255))])).toHaveLength(1);
    expect(metricGroupsOf([aSeries('あ'.repeat(255)), aSeries('い'.repeat(255))])).toHaveLength(2);
  });

  it('asks for a metric whose values do not fit one call in several', () => {
    const name = 'a'.repeat(3450);

    expect(metricGroupsOf([aSeries(name), aSeries(name, 'score'), aSeries('b')])).toHaveLength(3);
  });

  it('has each series in one group, and groups that fit, not more of them than needed', () => {
    fc.assert(
      fc.property(fc.array(anySeries, { maxLength: 60 }), (series) => {
        const groups = metricGroupsOf(series);

        const grouped = groups.flat();
        expect(grouped).toHaveLength(series.length);
        expect(new Set(grouped)).toEqual(new Set(series));
        for (const [index, group] of groups.entries()) {
          expect(queryOf(group).length).toBeLessThan(3500);
          const next = groups[index + 1]?.[0];
          if (next === undefined) continue;
          const sameMetric = series.filter(({ metric }) => metric === next.metric);
          expect(queryOf([...group, ...sameMetric]).length).toBeGreaterThanOrEqual(3500);
        }
        const firsts = groups.map((group) => new Set(group.map(({ metric }) => metric)).size);
        expect(firsts.reduce((sum, size) => sum + size, 0)).toBe(
          new Set(series.map(({ metric }) => metric)).size,
        );
      }),
    );
  });
});
