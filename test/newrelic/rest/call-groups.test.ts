import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CustomMetric,
  type PolledSeries,
  seriesOf,
} from '../../../src/model/polled-series.ts';
import { presetNames } from '../../../src/model/presets.ts';
import { type ValueName, valueNames } from '../../../src/model/vendor-value.ts';
import { createCallGroups, type SeriesGroup } from '../../../src/newrelic/rest/call-groups.ts';
import { metricsRequest } from '../../../src/newrelic/rest/requests.ts';

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
    return `${metrics} at ${places.join()}`;
  });
}

/** The series of each call for an application. */
function callsFor(series: readonly PolledSeries[]): readonly (readonly PolledSeries[])[] {
  return callGroupsOf(series, true).applications.map((group) => group.series);
}

/** The part of the query that asks for the series. */
function queryOf(series: readonly PolledSeries[]): string {
  const query = { series, window: undefined, raw: false };
  const { target } = metricsRequest('1', undefined, query);
  return target.slice(target.indexOf('?') + 1, target.indexOf('&summarize'));
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
    {
      what: 'one character too many',
      names: ['a'.repeat(1000), 'b'.repeat(room - 1012)],
      calls: 2,
    },
    { what: 'characters that are longer when they are sent', names: ['あ', 'い'], calls: 2 },
  ])('are $calls for $what', ({ names, calls }) => {
    const series = names.map((name) => aSeries(name.length === 1 ? name.repeat(255) : name));

    expect(callsFor(series)).toHaveLength(calls);
  });

  it('are several for one metric whose values do not fit one call', () => {
    const name = 'a'.repeat(3450);

    expect(callsFor([aSeries(name), aSeries(name, 'score'), aSeries('b')])).toHaveLength(3);
  });

  it('ask for each series once, in queries that fit, and are no more than needed', () => {
    fc.assert(
      fc.property(fc.array(anySeries, { minLength: 1, maxLength: 60 }), (series) => {
        const calls = callsFor(series);

        expect(calls.flat()).toEqual(series);
        for (const [index, call] of calls.entries()) {
          expect(queryOf(call).length).toBeLessThan(3500);
          const next = calls[index + 1]?.[0];
          if (next === undefined) continue;
          expect(queryOf([...call, next]).length).toBeGreaterThanOrEqual(3500);
        }
      }),
    );
  });

  it('are one for all presets, with the values in their order', () => {
    const series = seriesOf(presetNames, ['web', 'other']);

    const { applications, hosts } = callGroupsOf(series, true);

    expect(applications).toMatchObject([{ series, places: [...series.keys()] }]);
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
      `${long} call_count, c call_count at 0,1`,
      `${longer} call_count at 2`,
      `${long} score at 3`,
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
