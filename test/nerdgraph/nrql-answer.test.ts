import { describe, expect, it } from 'vitest';
import type { InvalidSampleReason, UnexpectedAnswer } from '../../src/model/telemetry.ts';
import type { TimeWindow } from '../../src/model/window.ts';
import {
  type NrqlAnswer,
  type NrqlReading,
  nrqlAnswerOf,
} from '../../src/nerdgraph/nrql-answer.ts';
import { accountId, type Json, nrqlPart } from './answers.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const purpose = { operation: 'host_metrics', applications: 2, accountId } as const;
const hourMs = 3_600_000;
const window = { fromMs: 10 * hourMs, toMs: 10 * hourMs + 300_000 };
const asked = { messages: [], timeWindow: { begin: window.fromMs, end: window.toMs } };

interface Read {
  readonly answer: NrqlAnswer;
  readonly kinds: readonly UnexpectedAnswer[];
  readonly invalid: readonly InvalidSampleReason[];
  readonly details: readonly Json[];
}

function read(part: unknown, options: Partial<NrqlReading> = {}): Read {
  const unexpected = createRecordingUnexpectedAnswers();
  const invalid: InvalidSampleReason[] = [];
  const onInvalid = (reason: InvalidSampleReason): void => {
    invalid.push(reason);
  };
  const answer = nrqlAnswerOf(part, { purpose, window, unexpected, onInvalid, ...options });
  return {
    answer,
    invalid,
    kinds: unexpected.kinds(),
    details: unexpected.seen.map(({ detail }) => detail),
  };
}

/** An answer for the window that was asked for. */
function answerWith(rows: readonly unknown[], overrides: Json = {}): Json {
  return nrqlPart(rows, { metadata: asked, ...overrides });
}

const row = {
  facet: ['1', 'web-1', 'HttpDispatcher'],
  appId: '1',
  host: 'web-1',
  metricTimesliceName: 'HttpDispatcher',
  calls: 7,
};
const good = {
  applicationId: '1',
  host: 'web-1',
  metric: 'HttpDispatcher',
  calls: 7,
  isLive: undefined,
  cells: [],
};

describe('the rows of an answer', () => {
  it.each([
    { what: 'a row', of: row, is: good },
    { what: 'an id that is a number', of: { ...row, appId: 1 }, is: good },
    { what: 'an id only in the facets', of: { ...row, appId: undefined }, is: good },
    {
      what: 'an id that is the only facet',
      of: { facet: '9', calls: 1 },
      is: { applicationId: '9', calls: 1, cells: [] },
    },
    {
      what: 'an id beyond 2^53, as a text',
      of: { ...row, appId: '9007199254740993' },
      is: { ...good, applicationId: '9007199254740993' },
    },
    { what: 'a number as a text', of: { ...row, calls: '7' }, is: good },
    { what: 'a fraction as a text', of: { ...row, calls: '1.5' }, is: { ...good, calls: 1.5 } },
    { what: 'an exponent in a text', of: { ...row, calls: '2e3' }, is: { ...good, calls: 2000 } },
    { what: 'no calls', of: { ...row, calls: 0 }, is: { ...good, calls: 0 } },
    {
      what: 'a row without a host',
      of: { appId: '1', metricTimesliceName: 'x', calls: 1 },
      is: { applicationId: '1', metric: 'x', calls: 1, cells: [] },
    },
  ])('have $what', ({ of, is }) => {
    const { answer, kinds } = read(answerWith([of]));

    expect(answer.rows).toEqual([is]);
    expect(kinds).toEqual([]);
  });

  it.each([
    { what: 'null', of: null, shape: 'object' },
    { what: 'a text', of: 'x', shape: 'string' },
    { what: 'a row without an id', of: { calls: 1 }, shape: 'calls: number' },
    {
      what: 'an id that is no number',
      of: { appId: 'shop', calls: 1 },
      shape: 'appId: string, calls: number',
    },
    {
      what: 'an id that was rounded',
      of: { appId: 2 ** 60, calls: 1 },
      shape: 'appId: number, calls: number',
    },
    { what: 'no calls', of: { appId: '1' }, shape: 'appId: string' },
    {
      what: 'calls that are null',
      of: { appId: '1', calls: null },
      shape: 'appId: string, calls: null',
    },
    {
      what: 'a text as calls',
      of: { appId: '1', calls: 'many' },
      shape: 'appId: string, calls: string',
    },
    {
      what: 'hexadecimal calls',
      of: { appId: '1', calls: '0x10' },
      shape: 'appId: string, calls: string',
    },
    {
      what: 'negative calls',
      of: { appId: '1', calls: -1 },
      shape: 'appId: string, calls: number',
    },
    {
      what: 'endless calls',
      of: { appId: '1', calls: Infinity },
      shape: 'appId: string, calls: number',
    },
  ])('leave out $what, and keep the others', ({ of, shape }) => {
    const { answer, kinds, details } = read(answerWith([of, row]));

    expect(answer.rows).toEqual([good]);
    expect(kinds).toEqual(['row']);
    expect(details).toEqual([{ row: shape }]);
  });

  it('tell only the types of a row that cannot be read, and of the first members', () => {
    const members = Array.from({ length: 20 }, (_, index) => [
      `secret-${index}`.repeat(9),
      'NRAK-1',
    ]);
    const { details } = read(answerWith([Object.fromEntries(members)]));

    expect(JSON.stringify(details)).not.toContain('NRAK');
    expect(String(details[0]?.['row']).length).toBeLessThan(600);
  });

  it.each([[null], ['']])('leave out the host %j, which is no host', (host) => {
    const { answer, kinds, details } = read(answerWith([{ ...row, host }]));

    expect(answer.rows).toEqual([]);
    expect(kinds).toEqual(['host_null']);
    expect(details).toEqual([{ app_id: '1' }]);
  });

  it.each([
    { what: 'nothing', part: undefined },
    { what: 'a list', part: [] },
    { what: 'no results', part: { otherResult: null } },
    { what: 'results that are an object', part: { results: {} } },
  ])('must be there: not $what', ({ part }) => {
    expect(() => read(part)).toThrow(
      expect.objectContaining({
        reason: 'schema',
        message:
          'host_metrics of 2 applications: the answer has no list of results. Check that base_url is the address of New Relic.',
      }),
    );
  });
});

describe('the columns of a row', () => {
  const columns = ['c1', 'c2'];

  it.each([
    { what: 'numbers', of: { live: 5, c1: 1.5, c2: 0 }, isLive: true, cells: [1.5, 0] },
    {
      what: 'numbers as texts',
      of: { live: '5', c1: '1.5', c2: '-2e-3' },
      isLive: true,
      cells: [1.5, -0.002],
    },
    {
      what: 'null where nothing was recorded',
      of: { live: 0, c1: null, c2: 2 },
      isLive: false,
      cells: [null, 2],
    },
    {
      what: 'a heartbeat that is null',
      of: { live: null, c1: 1, c2: -2 },
      isLive: false,
      cells: [1, -2],
    },
  ])('are $what', ({ of, isLive, cells }) => {
    const { answer, kinds, invalid } = read(answerWith([{ ...row, ...of }]), { columns });

    expect(answer.rows).toEqual([{ ...good, isLive, cells }]);
    expect([kinds, invalid]).toEqual([[], []]);
  });

  it.each([
    { what: 'a text', c1: 'many', reason: 'not_a_number' },
    { what: 'an object', c1: { count: 1 }, reason: 'not_a_number' },
    { what: 'a yes', c1: true, reason: 'not_a_number' },
    { what: 'an endless number', c1: Infinity, reason: 'not_finite' },
  ])('leave out $what, and keep the others', ({ c1, reason }) => {
    const part = answerWith([{ ...row, live: 1, c1, c2: 2 }]);
    const { answer, kinds, invalid } = read(part, { columns });

    expect(answer.rows).toEqual([{ ...good, isLive: true, cells: [undefined, 2] }]);
    expect([kinds, invalid]).toEqual([[], [reason]]);
  });

  it.each([
    { what: 'a column', of: { live: 1, c2: 2 }, isLive: true, cells: [undefined, 2] },
    { what: 'the heartbeat', of: { c1: 1, c2: 2 }, isLive: false, cells: [1, 2] },
  ])('say so if $what is missing', ({ of, isLive, cells }) => {
    const { answer, kinds, invalid } = read(answerWith([{ ...row, ...of }]), { columns });

    expect(answer.rows).toEqual([{ ...good, isLive, cells }]);
    expect([kinds, invalid]).toEqual([['row'], []]);
  });
});

describe('an answer is truncated', () => {
  const rows = (count: number): readonly unknown[] =>
    Array.from({ length: count }, (_, index) => ({ ...row, host: `h${index}` }));

  it.each([
    { what: 'few rows', part: answerWith(rows(3)), is: false },
    { what: 'one row less than the maximum', part: answerWith(rows(4999)), is: false },
    { what: 'the maximum of rows', part: answerWith(rows(5000)), is: true },
    { what: 'more rows than the maximum', part: answerWith(rows(5001)), is: true },
    {
      what: 'calls that are in no row',
      part: answerWith([row], { otherResult: { calls: 1 } }),
      is: true,
    },
    {
      what: 'such calls as a text',
      part: answerWith([row], { otherResult: { calls: '1' } }),
      is: true,
    },
    {
      what: 'such calls in a list',
      part: answerWith([row], { otherResult: [{ calls: 0 }, { calls: 2 }] }),
      is: true,
    },
    {
      what: 'a list without such calls',
      part: answerWith([row], { otherResult: [{ calls: 0 }] }),
      is: false,
    },
    { what: 'no other result', part: answerWith([row], { otherResult: null }), is: false },
    {
      what: 'other calls that are null',
      part: answerWith([row], { otherResult: { calls: null } }),
      is: false,
    },
  ])('with $what: $is', ({ part, is }) => {
    const { answer, kinds } = read(part);

    expect(answer.isTruncated).toBe(is);
    expect(kinds).toEqual(is ? ['truncated'] : []);
  });

  it('and its rows are not even read', () => {
    const { answer, kinds } = read(answerWith(Array.from({ length: 5000 }, () => 'no row')));

    expect(answer.rows).toEqual([]);
    expect(kinds).toEqual(['truncated']);
  });
});

describe('the window of an answer', () => {
  const withWindow = (begin: unknown, end: unknown): Json =>
    answerWith([row], { metadata: { timeWindow: { begin, end } } });
  const shifted = { fromMs: window.fromMs - 60_000, toMs: window.toMs + 60_000 };

  it.each([
    {
      what: 'the one that was asked for',
      part: withWindow(window.fromMs, window.toMs),
      is: window,
      seen: [],
    },
    {
      what: 'the same as texts',
      part: withWindow(`${window.fromMs}`, `${window.toMs}`),
      is: window,
      seen: [],
    },
    {
      what: 'one a little off',
      part: withWindow(shifted.fromMs, shifted.toMs),
      is: shifted,
      seen: ['window'],
    },
    {
      what: 'an hour off',
      part: withWindow(window.fromMs - hourMs, window.toMs - hourMs),
      is: { fromMs: window.fromMs - hourMs, toMs: window.toMs - hourMs },
      seen: ['window'],
    },
    { what: 'none', part: answerWith([row], { metadata: {} }), is: window, seen: ['no_window'] },
    {
      what: 'no metadata',
      part: answerWith([row], { metadata: null }),
      is: window,
      seen: ['no_window'],
    },
    {
      what: 'half a window',
      part: withWindow(window.fromMs, null),
      is: window,
      seen: ['no_window'],
    },
  ] satisfies readonly { what: string; part: Json; is: TimeWindow; seen: UnexpectedAnswer[] }[])(
    'is $what',
    ({ part, is, seen }) => {
      const { answer, kinds } = read(part);

      expect(answer.window).toEqual(is);
      expect(kinds).toEqual(seen);
    },
  );

  it('may be shifted where that does not matter', () => {
    const { answer, kinds } = read(withWindow(shifted.fromMs, shifted.toMs), { mayShift: true });

    expect(answer.window).toEqual(shifted);
    expect(kinds).toEqual([]);
  });

  it.each([
    { what: 'begins too early', begin: window.fromMs - hourMs - 1, end: window.toMs },
    { what: 'ends too late', begin: window.fromMs, end: window.toMs + hourMs + 1 },
    { what: 'is empty', begin: window.fromMs, end: window.fromMs },
    { what: 'ends before it begins', begin: window.toMs, end: window.fromMs },
  ])('must not be another time: it $what', ({ begin, end }) => {
    expect(() => read(withWindow(begin, end))).toThrow('the answer is about another time');
  });
});
