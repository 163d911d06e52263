import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryResultOf } from '../../src/nerdgraph/query-answer.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

function resultOf(
  rows: readonly unknown[],
  { facets = ['host'], maxSeries = 1000 }: { facets?: readonly string[]; maxSeries?: number } = {},
) {
  const invalid: string[] = [];
  const query = {
    gauges: [
      { name: 'x', member: 'x', unit: '' },
      { name: 'y', member: 'y', unit: '' },
    ],
    facets: facets.map((name) => ({ name, label: `label_${name}` })),
    maxSeries,
  };
  const result = queryResultOf(rows, query, {
    unexpected: createRecordingUnexpectedAnswers(),
    onInvalid: (reason) => invalid.push(reason),
  });
  return { ...result, invalid };
}

describe('the rows of a query', () => {
  it.each([
    ['a number', { x: 1.5, y: -2 }, ['0 1.5', '1 -2'], []],
    ['zero', { x: 0, y: 0 }, ['0 0', '1 0'], []],
    ['null', { x: null, y: 1 }, ['1 1'], ['absent']],
    ['no member', { y: 1 }, ['1 1'], ['absent']],
    ['a text', { x: '1', y: 1 }, ['1 1'], ['not_a_number']],
    ['a list', { x: ['a'], y: 1 }, ['1 1'], ['not_a_number']],
    ['a truth', { x: true, y: 1 }, ['1 1'], ['not_a_number']],
    ['infinity', { x: Number.POSITIVE_INFINITY, y: 1 }, ['1 1'], ['not_finite']],
    ['an Apdex', { x: { score: 0.9, s: 9, t: 0, f: 1 }, y: 1 }, ['0 0.9', '1 1'], []],
    ['a huge number', { x: 1e308, y: -1e308 }, ['0 1e+308', '1 -1e+308'], []],
    ['NaN as text', { x: 'NaN', y: 1 }, ['1 1'], ['not_a_number']],
    ['one percentile', { x: { '95': 2 }, y: 1 }, ['0 2', '1 1'], []],
    ['another map', { x: { a: 1 }, y: 1 }, ['1 1'], ['not_a_number']],
  ])('have %s', (_, row, series, invalid) => {
    const found = resultOf([row], { facets: [] });

    expect(found.series.map(({ gauge, value }) => `${gauge} ${value}`)).toEqual(series);
    expect(found.invalid).toEqual(invalid);
  });

  it('have a quantile for each percentile', () => {
    const { series } = resultOf([{ facet: 'a', x: { '50': 1, '99.9': 3, '95': null }, y: 1 }]);

    expect(series.map(({ labels, value }) => [...labels.map(([, text]) => text), value])).toEqual([
      ['a', '0.5', 1],
      ['a', '0.999', 3],
      ['a', 1],
    ]);
  });

  it('beyond the limit are left out, the same ones in any order', () => {
    const rows = ['d', 'b', 'c', 'a'].map((facet) => ({ facet, x: 1, y: 2 }));
    const first = resultOf(rows, { maxSeries: 3 });

    expect(first.leftOut).toBe(5);
    expect(resultOf(rows.toReversed(), { maxSeries: 3 }).series).toEqual(first.series);
    expect(first.series.map(({ labels: [label] }) => label?.[1])).toEqual(['a', 'a', 'b']);
  });

  it.each([
    ['one facet', ['host'], { facet: null }, ['']],
    ['a facet of texts and numbers', ['a', 'b'], { facet: ['x', 5] }, ['x', '5']],
    ['members of their own', ['a', 'b'], { a: 'x', b: 5 }, ['x', '5']],
    ['a member of its own', ['a'], { a: 'x' }, ['x']],
    ['a bucket', ['a'], { facet: [0, 40] }, ['[0,40]']],
  ])('are told apart by %s', (_, facets, row, labels) => {
    const { series } = resultOf([{ x: 1, y: 1, ...row }], { facets });

    expect(series[0]?.labels.map(([, text]) => text)).toEqual(labels);
  });

  it('of any shape become valid series, each once, or are counted', () => {
    const member = fc.oneof(
      fc.jsonValue(),
      fc.double(),
      fc.dictionary(
        fc.constantFrom('50', '95', '101', 'score'),
        fc.oneof(fc.double(), fc.string()),
      ),
    );
    const row = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          facet: fc.oneof(fc.jsonValue(), fc.array(fc.string(), { maxLength: 3 })),
          x: member,
          y: member,
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(
        fc.array(row),
        fc.subarray(['a', 'b', 'c']),
        fc.integer({ min: 1, max: 5 }),
        (rows, facets, maxSeries) => {
          const { series, leftOut, unusable } = resultOf(rows, { facets, maxSeries });
          const keys = series.map(({ gauge, labels }) => JSON.stringify([gauge, labels]));

          expect(new Set(keys).size).toBe(keys.length);
          expect(series.every(({ value }) => Number.isFinite(value))).toBe(true);
          expect(series.every(({ labels }) => labels.length >= facets.length)).toBe(true);
          expect(series.length).toBeLessThanOrEqual(maxSeries);
          expect(series.length + leftOut + unusable).toBeGreaterThanOrEqual(rows.length);
        },
      ),
      { numRuns: 300 },
    );
  });
});
