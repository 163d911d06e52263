import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Query, QueryGauge } from '../../../src/model/config.ts';
import type { QueryReading } from '../../../src/model/snapshot.ts';
import { dayMs, hourMs, minuteMs } from '../../../src/model/time.ts';
import { aGauge, aQuery } from '../../support/builders.ts';
import { aJob } from '../../support/calls-at-once.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aNerdGraphSource } from './a-nerdgraph-source.ts';

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

/** JSON has no endless numbers, but texts that are read as them. */
function endlessIn(document: unknown): string {
  const text = JSON.stringify(document, (_, value: unknown) =>
    value === Number.POSITIVE_INFINITY ? 'ENDLESS' : value,
  );
  return text.replaceAll('"ENDLESS"', '1e999');
}

type Read = QueryReading & { readonly invalid: readonly string[] };

function facetsOf({ facets = [], expressions = [], cases = [] }: Asked): Query['facets'] {
  const facet = (name: string) => ({ name, label: `label_${name}` });
  return [
    ...facets.map((name) => ({ ...facet(name), isAttribute: true, isCases: false })),
    ...expressions.map((name) => ({ ...facet(name), isAttribute: false, isCases: false })),
    ...cases.map((name) => ({ ...facet(name), isAttribute: false, isCases: true })),
  ];
}

/** The answer, and what was asked. */
function answeredQuery(results: unknown, how: Asked): { body: string; query: Query } {
  const { gauges = [x], maxSeries = 1000, window = asked } = how;
  const facets = facetsOf(how);
  const metadata = {
    facets: facets.length === 0 ? null : facets.map(({ name }) => name),
    messages: [],
    timeWindow: { begin: window.fromMs, end: window.toMs },
    ...how.stated,
  };
  const nrql = { results, metadata, ...how.sums };
  const body = endlessIn({ data: { actor: { account: { nrql } } } });
  const lengthMs = window.toMs - window.fromMs;
  const poll = { ...aQuery.poll, window: { kind: 'range', lengthMs } } as const;
  return { body, query: { ...aQuery, gauges, facets, maxSeries, poll } };
}

/** What a poll of a query reads in this answer, or the message of its failure. */
async function read(results: unknown, how: Asked = {}): Promise<Read | string> {
  const { body, query } = answeredQuery(results, how);
  const { source, failures } = aNerdGraphSource(async () => answerOf(body));
  const options = { job: aJob, signal: neverAborted };
  for await (const one of source.poll(() => [{ kind: 'query', query }], options)) {
    if (one.kind !== 'query') continue;
    const { reading, error } = one.outcome;
    const invalid = failures.map((text) => text.replace('sample ', ''));
    return reading === undefined ? `${error?.message}` : { ...reading, invalid };
  }
  throw new Error('the poll had no outcome');
}

/** The same of an answer that is believed. */
async function readingOf(...reading: Parameters<typeof read>): Promise<Read> {
  const found = await read(...reading);
  if (typeof found === 'string') throw new Error(found);
  return found;
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
  ])('is read: %s', async (_, gauge, value, series, invalid = []) => {
    const found = await readingOf([{ x: value }], { gauges: [gauge] });
    const unusable = [...found.unusable.values()].reduce((sum, one) => sum + one, 0);

    expect([shown(found), found.invalid]).toEqual([series, invalid]);
    expect(unusable).toBe(invalid.length);
  });

  it.each(['another', '', ' 50 ', '0x32', '101'])(
    'is no value with the percentile %j, which nobody asked for',
    async (key) => {
      expect(await read([{ x: { [key]: 1 } }], { gauges: [p95] })).toMatch(/percentiles/u);
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
  ])('are labels: %s', async (_, how, row, labels) => {
    expect(shown(await readingOf([row], how))).toEqual([`0 ${labels} 1`]);
  });

  it('are no labels if there are none', async () => {
    expect(shown(await readingOf([{ x: 1 }]))).toEqual(['0 1']);
  });

  it('are cut where they are read, and stay apart', async () => {
    const rows = [1, 2].map((number) => ({ facet: `${'s'.repeat(4000)}${number}`, x: number }));
    const { series } = await readingOf(rows, ofOne);
    const texts = series.map(({ labels }) => labels[0]?.[1]);

    expect(new Set(texts).size).toBe(2);
    expect(texts.map((text) => text?.length)).toEqual([256, 256]);
  });
});

const two = [
  { facet: 'r', x: 1 },
  { facet: 's', x: 2 },
];
const about = (begin: unknown, end: unknown) => ({
  ...ofOne,
  stated: { timeWindow: { begin, end } },
});
const stating = (facets: unknown, how: Asked = ofOne): Asked => ({ ...how, stated: { facets } });

describe('11.1 an answer to another question is no value', () => {
  it.each<[string, unknown, Asked]>([
    ['with a text for results', 'none', {}],
    ['with a row that is null', [null], {}],
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
    ['about half a minute later', two, about(asked.fromMs + 30_000, asked.toMs + 30_000)],
    ['about a time that ends in words', two, about('1 hour ago', 'now')],
    ['about a time without an end', two, about(asked.fromMs, null)],
    ['about a time that ends before it begins', two, about(asked.toMs, asked.fromMs)],
    ['about half a minute more', two, about(asked.fromMs - 30_000, asked.toMs)],
  ])('%s', async (_, results, how) => {
    expect(await read(results, how)).toMatch(/^query: the answer /u);
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
  ])(
    '%s is taken if it is within its step, and not longer if calls are counted',
    async (...row) => {
      const [, how, fromBy, toBy, isTaken] = row;
      const { window = asked } = how;
      const begin = window.fromMs + fromBy * minuteMs;
      const timeWindow = { begin, end: window.toMs + toBy * minuteMs };
      const [answered, wanted] = [begin, window.fromMs].map((ms) => new Date(ms).toISOString());
      const found = await read([{ x: 1 }], { ...how, stated: { timeWindow } });
      const refusal: unknown = expect.stringMatching(`${answered}.*${wanted}`);
      const taken: unknown = expect.objectContaining({ windowEndMs: timeWindow.end });

      expect(found).toEqual(isTaken ? taken : refusal);
    },
  );
});

describe('rows that look alike', () => {
  const alike = ['', null, '12', 12].map((facet, at) => ({ facet, x: at + 1 }));

  it.each([[alike], [alike.toReversed()]])('the first by type and text is shown', async (rows) => {
    const found = await readingOf(rows, ofOne);

    expect(shown(found)).toEqual(['0 label_a= 2', '0 label_a=12 4']);
    expect([found.invalid, found.rows]).toEqual([['duplicate', 'duplicate'], 4]);
  });
});

describe('more series than max_series', () => {
  const rowOf = (facet: string, value: number) => ({ facet, x: value, y: value });
  const rows = [rowOf('d', 9), rowOf('b', 5), rowOf('c', 5), rowOf('a', 1)];
  const how = { ...ofOne, gauges: [x, y], maxSeries: 5 };

  it('leave out whole rows: the first in the order of New Relic stay, ties by labels', async () => {
    const found = await readingOf(rows, how);
    const series = ['0 label_a=b 5', '1 label_a=b 5', '0 label_a=d 9', '1 label_a=d 9'];

    expect([shown(found), found.leftOut]).toEqual([series, 4]);
    expect(shown(await readingOf(rows, { ...how, maxSeries: 4 }))).toEqual(series);
    const otherwise = await readingOf([rows[0], rows[2], rows[1], rows[3]], how);
    expect(otherwise.series).toEqual(found.series);
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
  ])('%s', async (_, rows, how, is) => {
    const found = await read(rows, { ...ofOne, ...how });

    expect(typeof found === 'string' ? found : 'whole').toContain(is);
  });

  it.each<[string, Asked, facet: unknown]>([
    ['cases, of which one thing may have several', { facets: [], cases: ['a'] }, 'slow'],
    ['lists, of which one thing may be in several', { ...ofOne }, [['red', 'blue']]],
  ])('are not those of %s', async (_, how, facet) => {
    const rows = [{ facet, x: 7 }];

    expect(await read(rows, { ...how, gauges: [counted], ...total(5) })).toMatchObject({ rows: 1 });
  });

  it.each([
    ['count', 'the answer has no row'],
    ['uniqueCount', 'the answer has no row'],
    ['sum', 'whole'],
    [undefined, 'whole'],
  ] as const)('of no FACET: no row of the function %s: %s', async (lone, is) => {
    const found = await read([], { gauges: [aGauge('x', { lone })] });

    expect(typeof found === 'string' ? found : 'whole').toContain(is);
  });
});

it.each([[['red']], [['red', 'blue']], [[]]])('reads a facet that is a list: %j', async (list) => {
  const found = await readingOf([{ facet: list, a: list, x: 5 }], ofOne);

  expect(found.series.map(({ labels }) => labels)).toEqual([[['label_a', JSON.stringify(list)]]]);
});

describe('a facet that is written in two ways', () => {
  it.each([
    ['1.0', 1, '1.0'],
    ['1e3', 1000, '1e3'],
    [200, '200', '200'],
    ['true', true, 'true'],
  ])('%j and %j, is shown as the list has it', async (facet, own, label) => {
    expect(shown(await readingOf([{ facet, a: own, x: 5 }], ofOne))).toEqual([
      `0 label_a=${label} 5`,
    ]);
  });

  it.each([
    ['1.0', 2],
    ['1.0', 'x'],
    ['', 0],
  ])('%j and %j, is another one', async (facet, own) => {
    expect(await read([{ facet, a: own, x: 5 }], ofOne)).toContain('other facets than were asked');
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
  it('become valid series, each once, or are counted, or fail the query', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 5 }), anyHow, async (rows, how) => {
        const found = await read(rows, how);
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
