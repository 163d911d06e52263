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

/** What comes of a document, or why it is not believed, and what it reports. */
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
    needsLength: false,
    unexpected,
    onInvalid: (reason) => invalid.push(reason),
    ...options,
  };
  const reported = { invalid, kinds: unexpected.kinds(), seen: unexpected.seen };
  try {
    const { rows, window: about } = nrqlAnswerOf(part, reading);
    return { ...reported, kinds: unexpected.kinds(), rows, window: about, error: undefined };
  } catch (error) {
    return { ...reported, error };
  }
}

/** A whole answer for the window that was asked for. */
function answerWith(rows: readonly unknown[], overrides: Json = {}): Json {
  return nrqlPart(rows, { metadata, ...overrides });
}

const row = { facet: ['1', 'web-1'], appId: '1', host: 'web-1', calls: 7, live: 0 };
const good = { applicationId: '1', host: 'web-1', calls: 7, isLive: false, cells: [] };
const bare = { facet: ['1', 'web-1'], calls: 7, live: 0 };
const long = { ...bare, facet: ['9007199254740993', 'web-1'] };

function failing(detail: string, reason = 'schema') {
  const message: unknown = expect.stringContaining(`host_metrics of 2 applications: ${detail}`);
  return { error: expect.objectContaining({ reason, message }) as unknown };
}

describe('a row of an answer', () => {
  it.each<[string, unknown, Json?]>([
    ['as documented', row],
    ['with ids that are numbers', { ...row, facet: [1, 'web-1'], appId: 1 }],
    ['without members of its own', bare],
    ['with an id beyond 2^53, as a text', long, { applicationId: '9007199254740993' }],
    ['with a number as a text', { ...row, calls: '7' }],
    ['with a fraction', { ...row, calls: '1.5' }, { calls: 1.5 }],
    ['with an exponent', { ...row, calls: '2e3' }, { calls: 2000 }],
    ['without calls', { ...row, calls: 0 }, { calls: 0 }],
  ])('%s is read', (_, of, is) => {
    const rows = [{ ...good, ...is }];

    expect(read(answerWith([of]))).toMatchObject({ rows, window, kinds: [] });
  });

  it.each([['1'], [['1']]])('of an application as a whole has the facet %j', (facet) => {
    const ofApplications = { metadata: { ...metadata, facets: applicationFacets } };
    const part = answerWith([{ facet, appId: '1', calls: 7 }], ofApplications);

    expect(read(part, { facets: applicationFacets })).toMatchObject({
      rows: [{ ...good, host: undefined }],
    });
  });

  it.each<[string, unknown, string?]>([
    ['null', null, 'object'],
    ['a text', 'x', 'string'],
    ['without facets', { appId: '1', calls: 1 }],
    ['with fewer facets', { ...row, facet: ['1'] }],
    ['with more facets', { ...row, facet: ['1', 'web-1', 'x'] }],
    ['with another id of its own', { ...row, appId: '2' }],
    ['with another host of its own', { ...row, host: 'web-2' }],
    ['with an id that is no number', { facet: ['shop', 'web-1'], calls: 1 }],
    ['with an id that was rounded', { facet: [2 ** 60, 'web-1'], calls: 1 }],
    ['with no calls', { ...row, calls: undefined }],
    ['with calls that are null', { ...row, calls: null }],
    ['with a text as calls', { ...row, calls: 'many' }],
    ['with hexadecimal calls', { ...row, calls: '0x10' }],
    ['with negative calls', { ...row, calls: -1 }],
    ['with endless calls', { ...row, calls: Infinity }, 'calls: number'],
  ])('%s fails the answer', (_, of, shape = '') => {
    const found = read(answerWith([{ ...row, facet: ['2', 'b'], appId: '2', host: 'b' }, of]));

    expect(found).toMatchObject(failing('the answer has a row that cannot be read ('));
    expect(String(found.error)).toContain(shape);
  });

  it.each([[null], ['']])('with the host %j, which is none, counts in the sums only', (host) => {
    const nobody = { facet: ['2', host], appId: '2', host, calls: 5, live: 0 };
    const seen = [{ kind: 'host_null', detail: { app_id: '2' } }];

    expect(read(answerWith([row, nobody]))).toMatchObject({ rows: [good], seen });
  });
});

it('an answer about a host of another part is not believed', () => {
  const part = answerWith([row, { facet: ['1', 'another'], calls: 1 }]);

  expect(read(part)).toMatchObject(failing('the answer has a row that was not asked for'));
});

describe('the sums of an answer', () => {
  const rows = (count: number): readonly Json[] =>
    Array.from({ length: count }, (_, index) => ({ facet: ['1', `h${index}`], calls: 7 }));
  const whole = { error: undefined };

  it.each<[string, readonly unknown[], Json, object]>([
    ['agree as a text', [row], { totalResult: { calls: '7' } }, whole],
    ['agree without others', [row], { otherResult: null }, whole],
    ['have others of null', [row], { otherResult: { calls: null } }, whole],
    ['are nothing of nothing', [], { totalResult: null }, whole],
    ['are of almost the maximum of rows', rows(4999), {}, whole],
    [
      'are of the maximum of rows',
      rows(5000),
      {},
      failing('the answer has 5000 rows, and there are more', 'too_large'),
    ],
  ])('%s', (_, results, sums, is) => {
    const { error } = read(answerWith(results, sums));

    expect({ error }).toEqual(is);
  });
});

describe('the columns of a row', () => {
  const columns = ['c1', 'c2'].map((name) => ({ name, metric: name, of: 'count' }) as const);

  it.each<[string, Json, boolean, readonly unknown[], { kinds?: string[]; invalid?: string[] }?]>([
    ['numbers', { live: 5, c1: 1.5, c2: 0 }, true, [1.5, 0]],
    ['numbers as texts', { live: '5', c1: '1.5', c2: '-2e-3' }, true, [1.5, -0.002]],
    ['null where nothing was recorded', { live: 0, c1: null, c2: 2 }, false, [null, 2]],
    ['a heartbeat that is null', { live: null, c1: 1, c2: -2 }, false, [1, -2]],
    ['a text', { live: 1, c1: 'many', c2: 2 }, true, [undefined, 2], { invalid: ['not_a_number'] }],
    ['an object', { live: 1, c1: {}, c2: 2 }, true, [undefined, 2], { invalid: ['not_a_number'] }],
    ['a yes', { live: 1, c1: true, c2: 2 }, true, [undefined, 2], { invalid: ['not_a_number'] }],
    ['no end', { live: 1, c1: Infinity, c2: 2 }, true, [undefined, 2], { invalid: ['not_finite'] }],
    ['a column less', { live: 1, c2: 2 }, true, [undefined, 2], { kinds: ['row'] }],
    ['no heartbeat', { live: undefined, c1: 1, c2: 2 }, false, [1, 2], { kinds: ['row'] }],
  ])('are read, without what makes no sense: %s', (_, of, isLive, cells, reported = {}) => {
    const rows = [{ ...good, isLive, cells }];
    const found = read(answerWith([{ ...row, ...of }]), { columns });

    expect(found).toMatchObject({ rows, kinds: [], invalid: [], ...reported });
  });
});
