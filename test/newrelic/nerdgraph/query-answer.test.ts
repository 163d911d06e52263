import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { Query, QueryGauge } from '../../../src/model/config.ts';
import type { QueryReading } from '../../../src/model/snapshot.ts';
import { hourMs, minuteMs } from '../../../src/model/time.ts';
import { queryReadingOf } from '../../../src/newrelic/nerdgraph/query-answer.ts';
import { aGauge, aQuery } from '../../support/builders.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const asked = { fromMs: 1_788_256_320_000, toMs: 1_788_256_620_000 };
const timeWindow = { begin: asked.fromMs, end: asked.toMs };
const [x, y] = [aGauge('x'), aGauge('y')];

interface Asked {
  readonly gauges?: readonly QueryGauge[];
  readonly facets?: readonly string[];
  readonly expressions?: readonly string[];
  readonly maxSeries?: number;
  /** What the answer says of itself; what is left out is as it was asked for. */
  readonly stated?: Readonly<Record<string, unknown>>;
  readonly window?: typeof asked;
}

function queryOf({ gauges = [x], facets = [], expressions = [], maxSeries = 1000 }: Asked): Query {
  const facet = (isAttribute: boolean) => (name: string) => ({
    name,
    label: `label_${name}`,
    isAttribute,
  });
  return {
    ...aQuery,
    gauges,
    facets: [...facets.map(facet(true)), ...expressions.map(facet(false))],
    maxSeries,
  };
}

function read(results: unknown, how: Asked = {}): QueryReading & { readonly invalid: string[] } {
  const invalid: string[] = [];
  const { facets = [], expressions = [], window = asked, stated } = how;
  const all = [...facets, ...expressions];
  const metadata = {
    facets: all.length === 0 ? null : all,
    messages: [],
    timeWindow: { begin: window.fromMs, end: window.toMs },
    ...stated,
  };
  const reading = queryReadingOf({ results, metadata }, queryOf(how), {
    purpose: { operation: 'query', accountId: 1 },
    window,
    unexpected: createRecordingUnexpectedAnswers(),
    onInvalid: (reason) => invalid.push(reason),
  });
  return { ...reading, invalid };
}

/** What `ask` gives, or the message of the failure of New Relic; any other error is a fault. */
function outcomeOf<Value>(ask: () => Value): Value | string {
  try {
    return ask();
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/** Each series as `gauge label=text ... value`. */
function shown({ series }: QueryReading): readonly string[] {
  return series.map(({ gauge, labels, value }) =>
    [gauge, ...labels.map(([name, text]) => `${name}=${text}`), value].join(' '),
  );
}

const percentiles = aGauge('x', { gives: 'percentiles', percentages: [50, 95, 99.9] });
const p95 = aGauge('x', { gives: 'percentiles', percentages: [95] });
const apdex = aGauge('x', { gives: 'apdex' });

describe('the value of a function', () => {
  it.each<[string, QueryGauge, unknown, readonly string[], readonly string[]]>([
    ['a number', x, 1.5, ['0 1.5'], []],
    ['a negative one', x, -2, ['0 -2'], []],
    ['zero', x, 0, ['0 0'], []],
    ['a huge one', x, -1e308, ['0 -1e+308'], []],
    ['null', x, null, [], ['absent']],
    ['nothing', x, undefined, [], ['absent']],
    ['a text', x, '1', [], ['not_a_number']],
    ['a list', x, ['a'], [], ['not_a_number']],
    ['a truth', x, true, [], ['not_a_number']],
    ['infinity', x, Number.POSITIVE_INFINITY, [], ['not_finite']],
    ['a histogram', x, { 0: 5, 0.5: 31, 1: 12 }, [], ['not_a_number']],
    ['an Apdex that nobody asked for', x, { score: 0.9 }, [], ['not_a_number']],
    ['an Apdex', apdex, { score: 0.9, s: 9, t: 0, f: 1 }, ['0 0.9'], []],
    ['an Apdex without a score', apdex, { s: 9 }, [], ['absent']],
    ['an Apdex as a number', apdex, 0.5, ['0 0.5'], []],
    [
      'percentiles',
      percentiles,
      { 50: 1, 95: 2, 99.9: 3 },
      ['0 quantile=0.5 1', '0 quantile=0.95 2', '0 quantile=0.999 3'],
      [],
    ],
    [
      'one that is missing',
      percentiles,
      { 50: 1, 95: null },
      ['0 quantile=0.5 1'],
      ['absent', 'absent'],
    ],
    ['one percentile as a number', p95, 2, ['0 quantile=0.95 2'], []],
    ['several percentiles as a number', percentiles, 2, ['0 2'], []],
    ['percentiles that are null', p95, null, [], ['absent']],
  ])('is read: %s', (_, gauge, value, series, invalid) => {
    const found = read([{ x: value }], { gauges: [gauge] });

    expect(shown(found)).toEqual(series);
    expect(found.invalid).toEqual(invalid);
    expect([...found.unusable.values()].reduce((sum, one) => sum + one, 0)).toBe(invalid.length);
  });

  it.each([['another'], [''], [' 50 '], ['0x32'], ['101']])(
    'is no value with the percentile %j, which nobody asked for',
    (key) => {
      expect(() => read([{ x: { [key]: 1 } }], { gauges: [p95] })).toThrow(/percentiles/u);
    },
  );
});

const ofTwo = { facets: ['a', 'b'] };

describe('the facets of a row', () => {
  it.each<[string, Asked, unknown, readonly string[]]>([
    ['one', { facets: ['a'] }, { facet: 's', x: 1 }, ['0 label_a=s 1']],
    [
      'one with a member of its own',
      { facets: ['a'] },
      { facet: 's', a: 's', x: 1 },
      ['0 label_a=s 1'],
    ],
    ['only a member of its own', { facets: ['a'] }, { a: 's', x: 1 }, ['0 label_a=s 1']],
    ['null', { facets: ['a'] }, { facet: null, x: 1 }, ['0 label_a= 1']],
    [
      'a number, in its member as a text',
      { facets: ['a'] },
      { facet: 5, a: '5', x: 1 },
      ['0 label_a=5 1'],
    ],
    ['two', ofTwo, { facet: ['s', 5], a: 's', b: 5, x: 1 }, ['0 label_a=s label_b=5 1']],
    ['a bucket', { expressions: ['a'] }, { facet: [0, 40], x: 1 }, ['0 label_a=[0,40] 1']],
    ['a truth', { facets: ['a'] }, { facet: true, x: 1 }, ['0 label_a=true 1']],
    ['an object', { facets: ['a'] }, { facet: { b: 1 }, x: 1 }, ['0 label_a={"b":1} 1']],
    [
      'an expression, whatever its name',
      { expressions: ['a'], stated: { facets: ['CASES'] } },
      {
        facet: 's',
        CASES: 't',
        x: 1,
      },
      ['0 label_a=s 1'],
    ],
    ['none', {}, { x: 1 }, ['0 1']],
    [
      'the names of every object',
      { facets: ['constructor'] },
      { facet: 's', x: 1 },
      ['0 label_constructor=s 1'],
    ],
  ])('are labels: %s', (_, how, row, series) => {
    expect(shown(read([row], how))).toEqual(series);
  });

  it('are cut where they are read, and stay apart', () => {
    const long = 's'.repeat(4000);
    const { series } = read(
      [
        { facet: `${long}1`, x: 1 },
        { facet: `${long}2`, x: 2 },
      ],
      { facets: ['a'] },
    );

    expect(series).toHaveLength(2);
    for (const { labels } of series) expect(labels[0]?.[1]).toHaveLength(256);
  });
});

const two = [
  { facet: 'r', x: 1 },
  { facet: 's', x: 2 },
];

describe('11.1 an answer to another question is no value', () => {
  it.each<[string, unknown, Asked]>([
    ['without results', undefined, {}],
    ['with a text for results', 'none', {}],
    ['with a row that is a text', ['row'], {}],
    ['with a row that is null', [null], {}],
    ['grouped by something else', two, { facets: ['a'], stated: { facets: ['b'] } }],
    ['grouped by less', two, { facets: ['a'], stated: { facets: null } }],
    ['grouped by more', two, { facets: ['a'], stated: { facets: ['a', 'b'] } }],
    ['grouped though nobody asked for it', [{ x: 1 }], { stated: { facets: ['a'] } }],
    [
      'grouped in another order',
      [{ facet: ['1', '2'], x: 1 }],
      {
        ...ofTwo,
        stated: { facets: ['b', 'a'] },
      },
    ],
    ['with a row without facet', [{ x: 1 }], { facets: ['a'] }],
    ['with a row with a facet too few', [{ facet: ['1'], x: 1 }], ofTwo],
    ['with a row with a facet too many', [{ facet: ['1', '2', '3'], x: 1 }], ofTwo],
    ['with one text for two facets', [{ facet: '1', x: 1 }], ofTwo],
    ['with a row about one of many', [{ facet: 's', x: 1 }], {}],
    ['with several rows for a total', [{ x: 1 }, { x: 2 }], {}],
    [
      'whose row says twice what it is about, not alike',
      [{ facet: 's', a: 't', x: 1 }],
      {
        facets: ['a'],
      },
    ],
    [
      'with two rows for one facet',
      [
        { facet: 's', x: 1 },
        { facet: 's', x: 2 },
      ],
      {
        facets: ['a'],
      },
    ],
    ['without a window', two, { facets: ['a'], stated: { timeWindow: null } }],
    [
      'about another time',
      two,
      {
        facets: ['a'],
        stated: { timeWindow: { begin: timeWindow.begin - hourMs, end: timeWindow.end - hourMs } },
      },
    ],
    [
      'about half a minute later',
      two,
      {
        facets: ['a'],
        stated: { timeWindow: { begin: timeWindow.begin + 30_000, end: timeWindow.end + 30_000 } },
      },
    ],
  ])('%s', (_, results, how) => {
    expect(() => read(results, how)).toThrow(ApiError);
  });
});

const rate = { gauges: [x] };
const count = { gauges: [aGauge('x', { growsWithWindow: true })] };
const month = { fromMs: asked.toMs - 31 * 24 * hourMs, toMs: asked.toMs };
const day = { fromMs: asked.toMs - 24 * hourMs, toMs: asked.toMs };
const sixHours = { fromMs: asked.toMs - 6 * hourMs, toMs: asked.toMs };
const week = { fromMs: asked.toMs - 7 * 24 * hourMs, toMs: asked.toMs };

describe('a window that New Relic has moved', () => {
  it.each<[string, Asked, readonly [fromBy: number, toBy: number], boolean]>([
    ['both ends by 5 minutes', rate, [-5, -5], true],
    ['one end by 5 minutes, of what does not grow', rate, [-5, 0], true],
    ['both ends alike, of a count', count, [-3, -3], true],
    ['to twice its length, of a count', count, [-5, 0], false],
    ['to a fifth of it, of a count', count, [4, 0], false],
    ['by more than a step', rate, [-6, -6], false],
    ['by 10 minutes, of a day', { ...rate, window: day }, [-10, -10], true],
    ['by more than 10 minutes, of a day', { ...rate, window: day }, [-11, -11], false],
    ['by more than 5 minutes, of 6 hours', { ...rate, window: sixHours }, [-6, -6], false],
    ['by an hour, of a week', { ...rate, window: week }, [-60, -60], true],
    ['by an hour on one side, of a week of calls', { ...count, window: week }, [-60, 0], false],
    ['by more than an hour, of a week', { ...rate, window: week }, [-61, -61], false],
    ['by three hours, of a month', { ...rate, window: month }, [-180, 0], true],
    [
      'by three hours at both ends, of a month of calls',
      { ...count, window: month },
      [-180, -180],
      true,
    ],
    [
      'by three hours on one side, of a month of calls',
      { ...count, window: month },
      [-180, 0],
      false,
    ],
    ['by more than three hours, of a month', { ...rate, window: month }, [-181, -181], false],
  ])('%s', (_, how, [fromBy, toBy], isTaken) => {
    const { window = asked } = how;
    const stated = {
      begin: window.fromMs + fromBy * minuteMs,
      end: window.toMs + toBy * minuteMs,
    };
    const [answered, wanted] = [stated.begin, window.fromMs].map((ms) =>
      new Date(ms).toISOString(),
    );
    const moved = { ...how, stated: { timeWindow: stated } };
    const refusal: unknown = expect.stringMatching(`${answered}.*${wanted}`);
    const taken: unknown = expect.objectContaining({ windowEndMs: stated.end });

    expect(outcomeOf(() => read([{ x: 1 }], moved))).toEqual(isTaken ? taken : refusal);
  });
});

describe('rows that look alike', () => {
  const alike = [
    { facet: '', x: 1 },
    { facet: null, x: 2 },
    { facet: '12', x: 3 },
    { facet: 12, x: 4 },
  ];

  it.each([[alike], [alike.toReversed()]])('the first by type and text is shown', (rows) => {
    const found = read(rows, { facets: ['a'] });

    expect(shown(found)).toEqual(['0 label_a= 2', '0 label_a=12 4']);
    expect(found.invalid).toEqual(['duplicate', 'duplicate']);
    expect(found.rows).toBe(4);
  });
});

describe('more series than max_series', () => {
  const rowOf = (facet: string, value: number) => ({ facet, x: value, y: value });
  const rows = [rowOf('d', 9), rowOf('b', 5), rowOf('c', 5), rowOf('a', 1)];
  const how = { facets: ['a'], gauges: [x, y], maxSeries: 5 };

  it('leaves out whole rows: the first in the order of New Relic stay, ties by labels', () => {
    const tied = [rows[0], rows[2], rows[1], rows[3]];
    const found = read(rows, how);

    expect(shown(found)).toEqual([
      '0 label_a=b 5',
      '1 label_a=b 5',
      '0 label_a=d 9',
      '1 label_a=d 9',
    ]);
    expect(found.leftOut).toBe(4);
    expect(read(tied, how).series).toEqual(found.series);
  });

  it('leaves out everything if one row is too large', () => {
    expect(read(rows, { ...how, maxSeries: 1 })).toMatchObject({ series: [], leftOut: 8 });
  });
});

const member = fc.oneof(
  fc.jsonValue(),
  fc.double(),
  fc.dictionary(fc.constantFrom('50', '95', '99.9', '101', 'score'), fc.double()),
);
const anyRow = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue() },
  {
    weight: 20,
    arbitrary: fc.record(
      {
        facet: fc.oneof(fc.jsonValue(), fc.array(fc.string(), { maxLength: 3 })),
        a: fc.oneof(fc.string(), fc.integer()),
        x: member,
        y: member,
      },
      { requiredKeys: [] },
    ),
  },
);

describe('11.1 rows of any shape', () => {
  it('become valid series, each once, or are counted, or fail the query', () => {
    fc.assert(
      fc.property(
        fc.array(anyRow, { maxLength: 5 }),
        fc.subarray(['a', 'b']),
        fc.constantFrom(x, percentiles, apdex),
        fc.integer({ min: 1, max: 5 }),
        (rows, facets, gauge, maxSeries) => {
          const found = outcomeOf(() => read(rows, { facets, gauges: [gauge, y], maxSeries }));
          if (typeof found === 'string') return;
          const { series, leftOut, invalid } = found;
          const keys = series.map(({ gauge: index, labels }) => JSON.stringify([index, labels]));

          expect(new Set(keys).size).toBe(keys.length);
          expect(series.every(({ value }) => Number.isFinite(value))).toBe(true);
          expect(series.every(({ labels }) => labels.length >= facets.length)).toBe(true);
          expect(series.length).toBeLessThanOrEqual(maxSeries);
          expect(series.length + leftOut + invalid.length).toBeGreaterThanOrEqual(rows.length);
        },
      ),
      { numRuns: 500 },
    );
  });
});
