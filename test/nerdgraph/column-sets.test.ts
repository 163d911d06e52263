import { describe, expect, it } from 'vitest';
import { type PolledSeries, seriesOf } from '../../src/model/polled-series.ts';
import { presetNames } from '../../src/model/presets.ts';
import type { ValueName } from '../../src/model/vendor-value.ts';
import { columnsOf } from '../../src/nerdgraph/column-sets.ts';

const all = seriesOf(presetNames, ['web', 'other']);

function aSeries(
  metric: string,
  value: ValueName,
  overrides: Partial<PolledSeries> = {},
): PolledSeries {
  const [first] = all;
  if (first === undefined) throw new Error('there are presets');
  return { ...first, metric, value, ...overrides };
}

/** Such as `count of HttpDispatcher`, set by set. */
function textsOf(
  series: readonly PolledSeries[],
  subject: 'applications' | 'hosts' = 'hosts',
): readonly (readonly string[])[] {
  return columnsOf(series)[subject].map(({ columns }) =>
    columns.map(({ of, metric }) => `${of} of ${metric}`),
  );
}

describe('the columns of a query', () => {
  it('are a function of a metric for each value', () => {
    expect(textsOf(seriesOf(['throughput'], ['web', 'other']))).toEqual([
      ['count of HttpDispatcher', 'count of OtherTransaction/all'],
    ]);
  });

  it('are asked for once, however many values are calculated from them', () => {
    expect(textsOf(seriesOf(['throughput', 'response_time'], ['web']))).toEqual([
      ['average of HttpDispatcher', 'count of HttpDispatcher'],
    ]);
  });

  it('are the same in any order of the series', () => {
    expect(textsOf(all.toReversed())).toEqual(textsOf(all));
  });

  it('are 17 in one query with all presets', () => {
    expect(textsOf(all).map((columns) => columns.length)).toEqual([17]);
  });

  it('have short names, which no two of a query share', () => {
    const [only] = columnsOf(all).hosts;
    const names = only?.columns.map(({ name }) => name) ?? [];

    expect(names[0]).toBe('c1');
    expect(new Set(names).size).toBe(17);
  });

  it('are only for what is read of the subject', () => {
    const series = [
      aSeries('A', 'count', { scope: 'applications' }),
      aSeries('B', 'count', { scope: 'hosts' }),
      aSeries('C', 'count'),
    ];

    expect(textsOf(series, 'applications')).toEqual([['count of A', 'count of C']]);
    expect(textsOf(series, 'hosts')).toEqual([['count of B', 'count of C']]);
    expect(textsOf(series.slice(1, 2), 'applications')).toEqual([]);
  });

  it.each([
    { what: 'short names', count: 100, length: 3, sets: [28, 28, 28, 16] },
    { what: 'long names', count: 20, length: 250, sets: [4, 4, 4, 4, 4] },
    { what: 'long names that have to be escaped', count: 6, length: 250, by: "'", sets: [2, 2, 2] },
    { what: 'a name that is too long for any query', count: 2, length: 9000, sets: [1, 1] },
  ])('are in $sets with $what', ({ count, length, by = 'x', sets }) => {
    const series = Array.from({ length: count }, (_, index) =>
      aSeries(`${index + 100}`.padEnd(length, by), 'count'),
    );

    expect(textsOf(series).map((columns) => columns.length)).toEqual(sets);
  });

  it('are all in one query for one value', () => {
    const fillers = Array.from({ length: 27 }, (_, index) => aSeries(`A${index + 10}`, 'count'));

    expect(textsOf([...fillers, aSeries('Apdex', 'score')])[1]).toEqual([
      'count of Apdex',
      'sum of Apdex',
      'exclusive_sum of Apdex',
    ]);
  });
});
