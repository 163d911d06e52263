import { describe, expect, it } from 'vitest';
import type { InvalidSampleReason } from '../../../src/model/telemetry.ts';
import { minuteMs } from '../../../src/model/time.ts';
import { applicationFacets, hostFacets } from '../../../src/newrelic/nerdgraph/nrql.ts';
import { type NrqlReading, nrqlAnswerOf } from '../../../src/newrelic/nerdgraph/nrql-answer.ts';
import { accountId, type Json, nrqlPart } from './answers.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const purpose = { operation: 'host_metrics', applications: 2, accountId } as const;
const window = { fromMs: 600 * minuteMs, toMs: 605 * minuteMs };
const timeWindow = { begin: window.fromMs, end: window.toMs };
const metadata = { facets: hostFacets, messages: [], timeWindow };

function read(part: unknown, options: Partial<NrqlReading> = {}) {
  const unexpected = createRecordingUnexpectedAnswers();
  const invalid: InvalidSampleReason[] = [];
  const reading: NrqlReading = {
    purpose,
    window,
    facets: hostFacets,
    applicationIds: ['1', '2', '9007199254740993'],
    asksFor: (host) => host !== 'another',
    mayBeAbout: () => true,
    columns: [],
    unexpected,
    onInvalid: (reason) => invalid.push(reason),
    ...options,
  };
  /** What came of it, or why it is not believed. */
  const told = (): unknown => {
    try {
      return nrqlAnswerOf(part, reading);
    } catch (error) {
      return error;
    }
  };
  const answer = told();
  return { answer, invalid, kinds: unexpected.kinds(), seen: unexpected.seen };
}

/** A whole answer for the window that was asked for. */
function answerWith(rows: readonly unknown[], overrides: Json = {}): Json {
  return nrqlPart(rows, { metadata, ...overrides });
}

const row = { facet: ['1', 'web-1'], appId: '1', host: 'web-1', calls: 7, live: 0 };
const good = { applicationId: '1', host: 'web-1', calls: 7, isLive: false, cells: [] };

function notWhole(detail: string): unknown {
  return expect.objectContaining({
    reason: 'schema',
    message: expect.stringContaining(`host_metrics of 2 applications: ${detail}`),
  });
}

it('fails if the answer is about another time than others of the poll', () => {
  const { answer } = read(answerWith([row]), { mayBeAbout: () => false });

  expect(answer).toEqual(notWhole('the answer is about another time than others of this poll'));
});

describe('a row of an answer', () => {
  it.each([
    { what: 'as documented', of: row, is: good },
    { what: 'with ids that are numbers', of: { ...row, facet: [1, 'web-1'], appId: 1 }, is: good },
    {
      what: 'without members of its own',
      of: { facet: ['1', 'web-1'], calls: 7, live: 0 },
      is: good,
    },
    {
      what: 'with an id beyond 2^53, as a text',
      of: { facet: ['9007199254740993', 'web-1'], calls: 7, live: 0 },
      is: { ...good, applicationId: '9007199254740993' },
    },
    { what: 'with a number as a text', of: { ...row, calls: '7' }, is: good },
    { what: 'with a fraction', of: { ...row, calls: '1.5' }, is: { ...good, calls: 1.5 } },
    { what: 'with an exponent', of: { ...row, calls: '2e3' }, is: { ...good, calls: 2000 } },
    { what: 'without calls', of: { ...row, calls: 0 }, is: { ...good, calls: 0 } },
  ])('$what is read', ({ of, is }) => {
    expect(read(answerWith([of]))).toMatchObject({ answer: { rows: [is], window }, kinds: [] });
  });

  it.each([
    { what: 'a text', facet: '1' },
    { what: 'a list', facet: ['1'] },
  ])('of an application as a whole has its only facet as $what', ({ facet }) => {
    const part = answerWith([{ facet, appId: '1', calls: 7 }], {
      metadata: { ...metadata, facets: applicationFacets },
    });

    expect(read(part, { facets: applicationFacets }).answer).toMatchObject({
      rows: [{ ...good, host: undefined }],
    });
  });

  it.each([
    { what: 'null', of: null, shape: 'object' },
    { what: 'a text', of: 'x', shape: 'string' },
    { what: 'without facets', of: { appId: '1', calls: 1 } },
    { what: 'with fewer facets', of: { ...row, facet: ['1'] } },
    { what: 'with more facets', of: { ...row, facet: ['1', 'web-1', 'x'] } },
    { what: 'with another id of its own', of: { ...row, appId: '2' } },
    { what: 'with another host of its own', of: { ...row, host: 'web-2' } },
    { what: 'with an id that is no number', of: { facet: ['shop', 'web-1'], calls: 1 } },
    { what: 'with an id that was rounded', of: { facet: [2 ** 60, 'web-1'], calls: 1 } },
    { what: 'with no calls', of: { ...row, calls: undefined } },
    { what: 'with calls that are null', of: { ...row, calls: null } },
    { what: 'with a text as calls', of: { ...row, calls: 'many' } },
    { what: 'with hexadecimal calls', of: { ...row, calls: '0x10' } },
    { what: 'with negative calls', of: { ...row, calls: -1 } },
    { what: 'with endless calls', of: { ...row, calls: Infinity }, shape: 'calls: number' },
  ])('$what fails the answer', ({ of, shape = '' }) => {
    const { answer } = read(answerWith([{ ...row, facet: ['2', 'b'], appId: '2', host: 'b' }, of]));

    expect(answer).toEqual(notWhole('the answer has a row that cannot be read ('));
    expect(String(answer)).toContain(shape);
  });

  it.each([[null], ['']])('with the host %j, which is none, counts in the sums only', (host) => {
    const nobody = { facet: ['2', host], appId: '2', host, calls: 5, live: 0 };
    const { answer, seen } = read(answerWith([row, nobody]));

    expect(answer).toMatchObject({ rows: [good] });
    expect(seen).toEqual([{ kind: 'host_null', detail: { app_id: '2' } }]);
  });
});

describe('an answer to another question', () => {
  const groupedBy = (facets: unknown): Json =>
    answerWith([row], { metadata: { ...metadata, facets } });

  it.each([
    { what: 'grouped by applications', facets: ['appId'] },
    { what: 'grouped the other way round', facets: ['host', 'appId'] },
    { what: 'grouped by more', facets: ['appId', 'host', 'x'] },
    { what: 'that does not say how it is grouped', facets: null },
    { what: 'grouped by a text', facets: 'appId' },
  ])('$what is not believed', ({ facets }) => {
    expect(read(groupedBy(facets)).answer).toEqual(
      notWhole('the answer is grouped by something else than was asked for'),
    );
  });

  it.each([
    { what: 'another application', of: { facet: ['3', 'a'], calls: 1 } },
    { what: 'a host of another part', of: { facet: ['1', 'another'], calls: 1 } },
  ])('with a row of $what is not believed', ({ of }) => {
    expect(read(answerWith([row, of])).answer).toEqual(
      notWhole('the answer has a row that was not asked for'),
    );
  });

  it('with two rows for the same is not believed', () => {
    expect(read(answerWith([row, { ...row, calls: 1 }])).answer).toEqual(
      notWhole('the answer has two rows for the same'),
    );
  });

  it.each([
    { what: 'nothing', part: undefined },
    { what: 'a list', part: [] },
    { what: 'no results', part: { otherResult: null } },
    { what: 'results that are an object', part: { results: {} } },
  ])('is $what', ({ part }) => {
    expect(read(part).answer).toEqual(
      notWhole(
        'the answer has no list of results. Check that base_url is the address of New Relic.',
      ),
    );
  });
});

describe('the sums of an answer', () => {
  const missing = (of: string): unknown => notWhole(`parts of the answer are missing: ${of}`);
  const unsaid = notWhole('the answer does not say what it adds up to');
  const tooLarge = expect.objectContaining({ reason: 'too_large' });
  const rows = (count: number): readonly Json[] =>
    Array.from({ length: count }, (_, index) => ({ facet: ['1', `h${index}`], calls: 7 }));
  const whole = expect.objectContaining({ rows: expect.any(Array) });

  it.each([
    { what: 'agree', rows: [row], is: whole },
    { what: 'agree as a text', rows: [row], sums: { totalResult: { calls: '7' } }, is: whole },
    { what: 'agree without others', rows: [row], sums: { otherResult: null }, is: whole },
    { what: 'have others of null', rows: [row], sums: { otherResult: { calls: null } }, is: whole },
    { what: 'are nothing of nothing', rows: [], sums: { totalResult: null }, is: whole },
    { what: 'are null of nothing', rows: [], sums: { totalResult: { calls: null } }, is: whole },
    {
      what: 'are less than all',
      rows: [row],
      sums: { totalResult: { calls: 8 } },
      is: missing('it adds up to 7 of 8'),
    },
    {
      what: 'are more than all',
      rows: [row],
      sums: { totalResult: { calls: 6 } },
      is: missing(''),
    },
    { what: 'are nothing of some', rows: [], sums: { totalResult: { calls: 9 } }, is: missing('') },
    { what: 'are not said', rows: [row], sums: { totalResult: null }, is: unsaid },
    { what: 'are null', rows: [row], sums: { totalResult: { calls: null } }, is: unsaid },
    { what: 'are a list', rows: [row], sums: { totalResult: [{ calls: 7 }] }, is: unsaid },
    {
      what: 'have calls that are in no row',
      rows: [row],
      sums: { otherResult: { calls: '1' }, totalResult: { calls: 8 } },
      is: tooLarge,
    },
    {
      what: 'do not agree with the calls that are in no row',
      rows: [row],
      sums: { otherResult: { calls: 1 }, totalResult: { calls: 9 } },
      is: missing(''),
    },
    { what: 'are of almost the maximum of rows', rows: rows(4999), is: whole },
    { what: 'are of the maximum of rows', rows: rows(5000), is: tooLarge },
  ])('$what', ({ rows: results, sums = {}, is }) => {
    expect(read(answerWith(results, sums)).answer).toEqual(is);
  });

  it('say how many rows there are if there are more', () => {
    const part = answerWith([row], { otherResult: { calls: 1 }, totalResult: { calls: 8 } });

    expect(String(read(part).answer)).toContain(
      'host_metrics of 2 applications: the answer has 1 rows, and there are more. The query takes too long or returns too much',
    );
  });
});

describe('a message in an answer', () => {
  it('is counted with its text, and fails nothing that is whole', () => {
    const messages = ['Query results are incomplete', 'and more'];
    const { answer, seen } = read(answerWith([row], { metadata: { ...metadata, messages } }));

    expect(answer).toMatchObject({ rows: [good] });
    expect(seen).toEqual([{ kind: 'partial', detail: { message: messages[0] } }]);
  });
});

describe('the columns of a row', () => {
  const columns = ['c1', 'c2'].map((name) => ({ name, metric: name, of: 'count' }) as const);

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
    expect(read(answerWith([{ ...row, ...of }]), { columns })).toMatchObject({
      answer: { rows: [{ ...good, isLive, cells }] },
      kinds: [],
      invalid: [],
    });
  });

  it.each([
    { what: 'a text', c1: 'many', reason: 'not_a_number' },
    { what: 'an object', c1: { count: 1 }, reason: 'not_a_number' },
    { what: 'a yes', c1: true, reason: 'not_a_number' },
    { what: 'an endless number', c1: Infinity, reason: 'not_finite' },
  ])('leave out $what, and keep the others', ({ c1, reason }) => {
    expect(read(answerWith([{ ...row, live: 1, c1, c2: 2 }]), { columns })).toMatchObject({
      answer: { rows: [{ ...good, isLive: true, cells: [undefined, 2] }] },
      kinds: [],
      invalid: [reason],
    });
  });

  it.each([
    { what: 'a column', of: { live: 1, c2: 2 }, isLive: true, cells: [undefined, 2] },
    { what: 'the heartbeat', of: { live: undefined, c1: 1, c2: 2 }, isLive: false, cells: [1, 2] },
  ])('say so if $what is missing', ({ of, isLive, cells }) => {
    expect(read(answerWith([{ ...row, ...of }]), { columns })).toMatchObject({
      answer: { rows: [{ ...good, isLive, cells }] },
      kinds: ['row'],
      invalid: [],
    });
  });
});

describe('the window of an answer', () => {
  const stating = (stated: unknown): Json =>
    answerWith([row], { metadata: { ...metadata, timeWindow: stated } });

  it.each([
    { begin: -1, end: 0 },
    { begin: 0, end: 1 },
    { begin: -5, end: 5 },
    { begin: -3, end: -3 },
    { begin: 4, end: 0 },
  ])('may begin $begin and end $end minutes later than asked, which is counted', (moved) => {
    const fromMs = window.fromMs + moved.begin * minuteMs;
    const toMs = window.toMs + moved.end * minuteMs;
    const { answer, seen } = read(stating({ begin: fromMs, end: toMs }));

    expect(answer).toMatchObject({ window: { fromMs, toMs } });
    expect(seen).toEqual([
      { kind: 'window', detail: { asked: window, answered: { fromMs, toMs } } },
    ]);
  });

  it.each([
    { what: 'begins 6 minutes early', begin: -6, end: 0 },
    { what: 'ends 6 minutes late', begin: 0, end: 6 },
    { what: 'begins half a minute late', begin: 0.5, end: 0 },
    { what: 'ends half a minute early', begin: 0, end: -0.5 },
    { what: 'is empty', begin: 5, end: 0 },
    { what: 'ends before it begins', begin: 5, end: -5 },
  ])('is not believed if it $what', ({ begin, end }) => {
    const part = stating({
      begin: window.fromMs + begin * minuteMs,
      end: window.toMs + end * minuteMs,
    });

    expect(read(part).answer).toEqual(notWhole('the answer is about another time'));
  });

  it.each([
    { what: 'no metadata but its facets', stated: undefined },
    { what: 'null', stated: null },
    { what: 'half of one', stated: { begin: window.fromMs, end: null } },
    { what: 'words', stated: { begin: '1 hour ago', end: 'now' } },
  ])('must be stated, and is not by $what', ({ stated }) => {
    expect(read(stating(stated)).answer).toEqual(
      notWhole('the answer does not say which time it is about'),
    );
  });
});
