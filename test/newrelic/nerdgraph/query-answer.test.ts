import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { Query, QueryGauge } from '../../../src/model/config.ts';
import type { QueryReading } from '../../../src/model/snapshot.ts';
import { dayMs, hourMs, minuteMs } from '../../../src/model/time.ts';
import { queryReadingOf } from '../../../src/newrelic/nerdgraph/query-answer.ts';
import { aGauge, aQuery } from '../../support/builders.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const toMs = 1_788_256_620_000;
const lasting = (lengthMs: number) => ({ fromMs: toMs - lengthMs, toMs });
const asked = lasting(5 * minuteMs);
const [x, y] = [aGauge('x'), aGauge('y')];

interface Asked {
  readonly gauges?: readonly QueryGauge[];
  readonly facets?: readonly string[];
  readonly expressions?: readonly string[];
  readonly maxSeries?: number;
  /** Facets that are CASES. */
  readonly cases?: readonly string[];
  /** The total and the others. */
  readonly sums?: Readonly<Record<string, unknown>>;
  /** What the answer says of itself; what is left out is as it was asked for. */
  readonly stated?: Readonly<Record<string, unknown>>;
  readonly window?: typeof asked;
}

function read(results: unknown, how: Asked = {}): QueryReading & { readonly invalid: string[] } {
  const { gauges = [x], facets = [], expressions = [], cases = [], maxSeries = 1000 } = how;
  const { window = asked, stated, sums = {} } = how;
  const invalid: string[] = [];
  const all = [
    ...facets.map((name) => ({ name, label: `label_${name}`, isAttribute: true, isCases: false })),
    ...expressions.map((name) => ({
      name,
      label: `label_${name}`,
      isAttribute: false,
      isCases: false,
    })),
    ...cases.map((name) => ({ name, label: `label_${name}`, isAttribute: false, isCases: true })),
  ];
  const metadata = {
    facets: all.length === 0 ? null : all.map(({ name }) => name),
    messages: [],
    timeWindow: { begin: window.fromMs, end: window.toMs },
    ...stated,
  };
  const query: Query = { ...aQuery, gauges, facets: all, maxSeries };
  const reading = queryReadingOf({ results, metadata, ...sums }, query, {
    purpose: { operation: 'query', accountId: 1 },
    window,
    unexpected: createRecordingUnexpectedAnswers(),
    onInvalid: (reason) => invalid.push(reason),
  });
  return { ...reading, invalid };
}

/** What `read` gives, or the message of the failure of New Relic; any other error is a fault. */
function outcomeOf(...reading: Parameters<typeof read>): ReturnType<typeof read> | string {
  try {
    return read(...reading);
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
const three = ['0 quantile=0.5 1', '0 quantile=0.95 2', '0 quantile=0.999 3'];

describe('the value of a function', () => {
  it.each<[string, QueryGauge, unknown, readonly string[], invalid?: readonly string[]]>([
    ['a number', x, 1.5, ['0 1.5']],
    ['a negative one', x, -2, ['0 -2']],
    ['zero', x, 0, ['0 0']],
    ['a huge one', x, -1e308, ['0 -1e+308']],
    ['null', x, null, [], ['absent']],
    ['nothing', x, undefined, [], ['absent']],
    ['a text', x, '1', [], ['not_a_number']],
    ['a list', x, ['a'], [], ['not_a_number']],
    ['a truth', x, true, [], ['not_a_number']],
    ['infinity', x, Number.POSITIVE_INFINITY, [], ['not_finite']],
    ['a histogram', x, { 0: 5, 0.5: 31, 1: 12 }, [], ['not_a_number']],
    ['an Apdex that nobody asked for', x, { score: 0.9 }, [], ['not_a_number']],
    ['an Apdex', apdex, { score: 0.9, s: 9, t: 0, f: 1 }, ['0 0.9']],
    ['an Apdex without a score', apdex, { s: 9 }, [], ['absent']],
    ['an Apdex as a number', apdex, 0.5, ['0 0.5']],
    ['percentiles', percentiles, { 50: 1, 95: 2, 99.9: 3 }, three],
    ['one of them', percentiles, { 50: 1, 95: null }, three.slice(0, 1), ['absent', 'absent']],
    ['one percentile as a number', p95, 2, ['0 quantile=0.95 2']],
    ['several percentiles as a number', percentiles, 2, ['0 2']],
    ['percentiles that are null', p95, null, [], ['absent']],
  ])('is read: %s', (_, gauge, value, series, invalid = []) => {
    const found = read([{ x: value }], { gauges: [gauge] });
    const unusable = [...found.unusable.values()].reduce((sum, one) => sum + one, 0);

    expect([shown(found), found.invalid]).toEqual([series, invalid]);
    expect(unusable).toBe(invalid.length);
  });

  it.each(['another', '', ' 50 ', '0x32', '101'])(
    'is no value with the percentile %j, which nobody asked for',
    (key) => {
      expect(() => read([{ x: { [key]: 1 } }], { gauges: [p95] })).toThrow(/percentiles/u);
    },
  );
});

const ofOne = { facets: ['a'] };
const ofTwo = { facets: ['a', 'b'] };
const ofBucket = { expressions: ['a'] };
const ofCases = { ...ofBucket, stated: { facets: ['CASES'] } };

describe('the facets of a row', () => {
  it.each<[string, Asked, unknown, string]>([
    ['one', ofOne, { facet: 's', x: 1 }, 'label_a=s'],
    ['one with a member of its own', ofOne, { facet: 's', a: 's', x: 1 }, 'label_a=s'],
    ['only a member of its own', ofOne, { a: 's', x: 1 }, 'label_a=s'],
    ['null', ofOne, { facet: null, x: 1 }, 'label_a='],
    ['a number, in its member as a text', ofOne, { facet: 5, a: '5', x: 1 }, 'label_a=5'],
    ['two', ofTwo, { facet: ['s', 5], a: 's', b: 5, x: 1 }, 'label_a=s label_b=5'],
    ['a bucket', ofBucket, { facet: [0, 40], x: 1 }, 'label_a=[0,40]'],
    ['a truth', ofOne, { facet: true, x: 1 }, 'label_a=true'],
    ['an object', ofOne, { facet: { b: 1 }, x: 1 }, 'label_a={"b":1}'],
    ['an expression of any name', ofCases, { facet: 's', CASES: 't', x: 1 }, 'label_a=s'],
    [
      'that of any object',
      { facets: ['constructor'] },
      { facet: 's', x: 1 },
      'label_constructor=s',
    ],
  ])('are labels: %s', (_, how, row, labels) => {
    expect(shown(read([row], how))).toEqual([`0 ${labels} 1`]);
  });

  it('are no labels if there are none', () => {
    expect(shown(read([{ x: 1 }]))).toEqual(['0 1']);
  });

  it('are cut where they are read, and stay apart', () => {
    const rows = [1, 2].map((number) => ({ facet: `${'s'.repeat(4000)}${number}`, x: number }));
    const texts = read(rows, ofOne).series.map(({ labels }) => labels[0]?.[1]);

    expect(new Set(texts).size).toBe(2);
    expect(texts.map((text) => text?.length)).toEqual([256, 256]);
  });
});

const two = [
  { facet: 'r', x: 1 },
  { facet: 's', x: 2 },
];
const moved = (byMs: number) => ({
  ...ofOne,
  stated: { timeWindow: { begin: asked.fromMs + byMs, end: asked.toMs + byMs } },
});
const stating = (facets: unknown, how: Asked = ofOne): Asked => ({ ...how, stated: { facets } });

describe('11.1 an answer to another question is no value', () => {
  it.each<[string, unknown, Asked]>([
    ['without results', undefined, {}],
    ['with a text for results', 'none', {}],
    ['with a row that is a text', ['row'], {}],
    ['with a row that is null', [null], {}],
    ['grouped by something else', two, stating(['b'])],
    ['grouped by less', two, stating(null)],
    ['grouped by more', two, stating(['a', 'b'])],
    ['grouped though nobody asked for it', [{ x: 1 }], stating(['a'], {})],
    ['grouped in another order', [{ facet: ['1', '2'], x: 1 }], stating(['b', 'a'], ofTwo)],
    ['with a row without facet', [{ x: 1 }], ofOne],
    ['with a row with a facet too few', [{ facet: ['1'], x: 1 }], ofTwo],
    ['with a row with a facet too many', [{ facet: ['1', '2', '3'], x: 1 }], ofTwo],
    ['with one text for two facets', [{ facet: '1', x: 1 }], ofTwo],
    ['with a row about one of many', [{ facet: 's', x: 1 }], {}],
    ['with several rows for a total', [{ x: 1 }, { x: 2 }], {}],
    ['whose row says twice what it is about, not alike', [{ facet: 's', a: 't', x: 1 }], ofOne],
    [
      'with two rows for one facet',
      [
        { facet: 's', x: 1 },
        { facet: 's', x: 2 },
      ],
      ofOne,
    ],
    ['without a window', two, { ...ofOne, stated: { timeWindow: null } }],
    ['about another time', two, moved(-hourMs)],
    ['about half a minute later', two, moved(30_000)],
  ])('%s', (_, results, how) => {
    expect(() => read(results, how)).toThrow(ApiError);
  });
});

const rate = { gauges: [x] };
const count = { gauges: [aGauge('x', { growsWithWindow: true })] };
const [day, sixHours] = [lasting(dayMs), lasting(6 * hourMs)];
const [week, month] = [lasting(7 * dayMs), lasting(31 * dayMs)];

describe('a window that New Relic has moved', () => {
  it.each<[string, Asked, number, number, boolean]>([
    ['of 5 minutes', rate, -5, -5, true],
    ['of 5 minutes', rate, -5, 0, true],
    ['of 5 minutes of calls', count, -3, -3, true],
    ['of 5 minutes of calls', count, -5, 0, false],
    ['of 5 minutes of calls', count, 4, 0, false],
    ['of 5 minutes', rate, -6, -6, false],
    ['of a day', { ...rate, window: day }, -10, -10, true],
    ['of a day', { ...rate, window: day }, -11, -11, false],
    ['of 6 hours', { ...rate, window: sixHours }, -6, -6, false],
    ['of a week', { ...rate, window: week }, -60, -60, true],
    ['of a week', { ...rate, window: week }, -61, -61, false],
    ['of a week of calls', { ...count, window: week }, -60, 0, false],
    ['of a month', { ...rate, window: month }, -180, 0, true],
    ['of a month', { ...rate, window: month }, -181, -181, false],
    ['of a month of calls', { ...count, window: month }, -180, -180, true],
    ['of a month of calls', { ...count, window: month }, -180, 0, false],
  ])('%s is taken if it is within its step, and not longer if calls are counted', (...row) => {
    const [, how, fromBy, toBy, isTaken] = row;
    const { window = asked } = how;
    const begin = window.fromMs + fromBy * minuteMs;
    const timeWindow = { begin, end: window.toMs + toBy * minuteMs };
    const [answered, wanted] = [begin, window.fromMs].map((ms) => new Date(ms).toISOString());
    const found = outcomeOf([{ x: 1 }], { ...how, stated: { timeWindow } });
    const refusal: unknown = expect.stringMatching(`${answered}.*${wanted}`);
    const taken: unknown = expect.objectContaining({ windowEndMs: timeWindow.end });

    expect(found).toEqual(isTaken ? taken : refusal);
  });
});

describe('rows that look alike', () => {
  const alike = ['', null, '12', 12].map((facet, at) => ({ facet, x: at + 1 }));

  it.each([[alike], [alike.toReversed()]])('the first by type and text is shown', (rows) => {
    const found = read(rows, ofOne);

    expect(shown(found)).toEqual(['0 label_a= 2', '0 label_a=12 4']);
    expect([found.invalid, found.rows]).toEqual([['duplicate', 'duplicate'], 4]);
  });
});

describe('more series than max_series', () => {
  const rowOf = (facet: string, value: number) => ({ facet, x: value, y: value });
  const rows = [rowOf('d', 9), rowOf('b', 5), rowOf('c', 5), rowOf('a', 1)];
  const how = { ...ofOne, gauges: [x, y], maxSeries: 5 };

  it('leave out whole rows: the first in the order of New Relic stay, ties by labels', () => {
    const found = read(rows, how);
    const series = ['0 label_a=b 5', '1 label_a=b 5', '0 label_a=d 9', '1 label_a=d 9'];

    expect([shown(found), found.leftOut]).toEqual([series, 4]);
    expect(shown(read(rows, { ...how, maxSeries: 4 }))).toEqual(series);
    expect(read([rows[0], rows[2], rows[1], rows[3]], how).series).toEqual(found.series);
  });
});

describe('11.1 the sums of a query', () => {
  const counted = aGauge('x', { lone: 'count' });
  const summed = aGauge('x', { lone: 'sum' });
  const of = (...values: readonly unknown[]) =>
    values.map((value, at) => ({ facet: `f${at}`, a: `f${at}`, x: value }));
  const total = (sum: unknown, others: unknown = 0) => ({
    sums: { totalResult: { x: sum }, otherResult: { x: others } },
  });
  const asksFor = 'add WHERE a IS NOT NULL, or ask without FACET';

  it.each<[string, readonly unknown[], Asked, is: string]>([
    ['of a count agree', of(2, 3), { gauges: [counted], ...total(5) }, 'whole'],
    ['of a count agree with others', of(2, 3), { gauges: [counted], ...total(9, 4) }, 'whole'],
    ['of a count lack one', of(2, 3), { gauges: [counted], ...total(6) }, 'adds up to 5 of 6'],
    ['of a count lack all', [], { gauges: [counted], ...total(6) }, 'adds up to 0 of 6'],
    ['of a count have too much', of(2, 3), { gauges: [counted], ...total(4) }, 'too much'],
    ['say what mends it', of(2), { gauges: [counted], ...total(6) }, asksFor],
    ['of a count are not said', of(2), { gauges: [counted] }, 'does not say what it adds up to'],
    ['of nothing need no total', [], { gauges: [counted] }, 'whole'],
    [
      'of a sum differ in the last digits',
      of(0.1, 0.2),
      { gauges: [summed], ...total(0.3) },
      'whole',
    ],
    ['of a sum that cancels out', of(1e9, -1e9), { gauges: [summed], ...total(100) }, 'whole'],
    ['of a sum differ', of(0.1, 0.2), { gauges: [summed], ...total(0.31) }, 'adds up to'],
    ['of a sum of nothing', of(null, 2), { gauges: [summed], ...total(2) }, 'whole'],
    ['of another function', of(2, 3), { ...total(17) }, 'whole'],
    ['of the second gauge', of(2, 3), { gauges: [y, counted], ...total(6) }, 'adds up to 5 of 6'],
  ])('%s', (_, rows, how, is) => {
    const found = outcomeOf(rows, { ...ofOne, ...how });

    expect(typeof found === 'string' ? found : 'whole').toContain(is);
  });

  it.each<[string, Asked, facet: unknown]>([
    ['cases, of which one thing may have several', { facets: [], cases: ['a'] }, 'slow'],
    ['lists, of which one thing may be in several', { ...ofOne }, [['red', 'blue']]],
  ])('are not those of %s', (_, how, facet) => {
    const rows = [{ facet, x: 7 }];

    expect(outcomeOf(rows, { ...how, gauges: [counted], ...total(5) })).toMatchObject({ rows: 1 });
  });

  it.each([
    ['count', 'the answer has no row'],
    ['uniqueCount', 'the answer has no row'],
    ['sum', 'whole'],
    [undefined, 'whole'],
  ] as const)('of no FACET: no row of the function %s: %s', (lone, is) => {
    const found = outcomeOf([], { gauges: [aGauge('x', { lone })] });

    expect(typeof found === 'string' ? found : 'whole').toContain(is);
  });
});

it.each([[['red']], [['red', 'blue']], [[]]])('reads a facet that is a list: %j', (list) => {
  const found = read([{ facet: list, a: list, x: 5 }], ofOne);

  expect(found.series.map(({ labels }) => labels)).toEqual([[['label_a', JSON.stringify(list)]]]);
});

describe('a facet that is written in two ways', () => {
  it.each([
    ['1.0', 1, '1.0'],
    ['1e3', 1000, '1e3'],
    [200, '200', '200'],
    ['true', true, 'true'],
  ])('%j and %j, is shown as the list has it', (facet, own, label) => {
    expect(shown(read([{ facet, a: own, x: 5 }], ofOne))).toEqual([`0 label_a=${label} 5`]);
  });

  it.each([
    ['1.0', 2],
    ['1.0', 'x'],
    ['', 0],
  ])('%j and %j, is another one', (facet, own) => {
    expect(outcomeOf([{ facet, a: own, x: 5 }], ofOne)).toContain('other facets than were asked');
  });
});

const member = fc.oneof(
  fc.jsonValue(),
  fc.double(),
  fc.dictionary(fc.constantFrom('50', '95', '99.9', '101', 'score'), fc.double()),
);
const facet = fc.oneof(fc.jsonValue(), fc.array(fc.string(), { maxLength: 3 }));
const members = { facet, a: fc.oneof(fc.string(), fc.integer()), x: member, y: member };
const anyRow = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 20, arbitrary: fc.record(members, { requiredKeys: [] }) },
);
const anyHow = fc.record({
  facets: fc.subarray(['a', 'b']),
  gauges: fc.constantFrom(x, percentiles, apdex).map((gauge) => [gauge, y]),
  maxSeries: fc.integer({ min: 1, max: 5 }),
});

describe('11.1 rows of any shape', () => {
  it('become valid series, each once, or are counted, or fail the query', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 5 }), anyHow, (rows, how) => {
        const found = outcomeOf(rows, how);
        if (typeof found === 'string') return;
        const { series, leftOut, invalid } = found;
        const keys = series.map(({ gauge, labels }) => JSON.stringify([gauge, labels]));

        expect(new Set(keys).size).toBe(keys.length);
        expect(series.every(({ value }) => Number.isFinite(value))).toBe(true);
        expect(series.every(({ labels }) => labels.length >= how.facets.length)).toBe(true);
        expect(series.length).toBeLessThanOrEqual(how.maxSeries);
        expect(series.length + leftOut + invalid.length).toBeGreaterThanOrEqual(rows.length);
      }),
      { numRuns: 500 },
    );
  });
});
