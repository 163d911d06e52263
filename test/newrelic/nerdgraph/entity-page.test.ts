import { describe, expect, it } from 'vitest';
import { entityPageOf } from '../../../src/newrelic/nerdgraph/entity-page.ts';
import { accountId, anEntity, type Json } from './answers.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const purpose = { operation: 'list_applications', accountId } as const;

function read(part: unknown, tags: readonly string[] = []) {
  const invalid: string[] = [];
  const unexpected = createRecordingUnexpectedAnswers();
  const onInvalid = (reason: string): unknown => invalid.push(reason);
  const page = entityPageOf(part, { purpose, unexpected, onInvalid, tags });
  return { ...page, ids: page.applications.map(({ id }) => id), invalid, seen: unexpected.seen };
}

function pageOf(entities: readonly unknown[], nextCursor?: unknown): unknown {
  return { count: entities.length, results: { entities, nextCursor } };
}

const inBaseUnits = {
  id: '7',
  name: 'app 7',
  language: 'java',
  healthStatus: 'green',
  reporting: true,
  lastReportedAtMs: undefined,
  summary: {
    requestsPerMinute: 812.4,
    responseTimeSeconds: 0.041,
    errorRatio: undefined,
    apdexScore: 0.98,
    apdexTargetSeconds: 0.5,
  },
  hostIds: undefined,
  hostCount: 2,
  instances: 4,
};
const absent = {
  summary: undefined,
  instances: undefined,
  language: undefined,
  hostCount: undefined,
};
const withoutSense = { throughput: -1, responseTimeAverage: '0.1', apdexScore: 0.9, hostCount: 3 };
const severity = (alertSeverity: unknown, reporting: unknown = true): Json => ({
  alertSeverity,
  reporting,
});

describe('an entity', () => {
  it.each<[string, Json, Json, string[]?]>([
    ['as documented, in base units', {}, inBaseUnits],
    ['with open critical incidents', severity('CRITICAL'), { healthStatus: 'red' }],
    ['with open warnings', severity('WARNING'), { healthStatus: 'orange' }],
    ['without incidents', severity('NOT_ALERTING'), { healthStatus: 'green' }],
    ['without alerts', severity('NOT_CONFIGURED'), { healthStatus: 'unknown' }],
    ['without a severity', severity(null), { healthStatus: 'unknown' }],
    ['with a new severity', severity('NEW', null), { healthStatus: 'unknown' }],
    ['with a number for a severity', severity(5), { healthStatus: 'unknown' }],
    ['that does not report', severity('CRITICAL', false), { healthStatus: 'gray' }],
    [
      'that is silent, which is no mistake',
      { reporting: false, apmSummary: null, settings: null, language: null },
      { reporting: false, ...absent },
    ],
    [
      'with values that cannot be true, without these',
      { apmSummary: withoutSense },
      { summary: { apdexScore: 0.9, apdexTargetSeconds: 0.5 }, hostCount: 3 },
      ['negative', 'not_a_number'],
    ],
    ['with an id that is a text', { applicationId: '98765432' }, { id: '98765432' }],
    ['with an id beyond 2^53', { applicationId: '9007199254740993' }, { id: '9007199254740993' }],
    ['with an empty name', { name: '' }, { name: '' }],
    ['with a name in any script', { name: '検索 API' }, { name: '検索 API' }],
  ])('%s is an application', (_, overrides, is, invalid = []) => {
    const found = read(pageOf([anEntity(7, overrides)]));

    expect(found.applications).toMatchObject([is]);
    expect(found.invalid.toSorted()).toEqual(invalid);
  });

  it.each([
    [['b', 'a', 'b'], ['c']],
    [
      ['c', 'a'],
      ['b', 'a'],
    ],
  ])('has the values of a wanted tag in one order, however they come: %j, %j', (some, others) => {
    const tags = [some, others].map((values) => ({ key: 'team', values }));
    const entity = anEntity(7, { tags: [...tags, { key: 'other', values: ['x'] }] });

    expect(read(pageOf([entity]), ['team', 'tier']).applications[0]?.tags).toEqual({
      team: 'a,b,c',
    });
  });
});

describe('a page', () => {
  const entities = [
    anEntity(1),
    anEntity(2, { name: null }),
    anEntity(3, { applicationId: null }),
    'x',
    anEntity(4, { applicationId: 'shop', guid: null }),
    anEntity(5, { guid: null }),
    anEntity(6, { accountId: 999 }),
    anEntity(7, { accountId: '1234567' }),
    anEntity(8, { accountId: null }),
    anEntity(9, { accountId: 999, name: null }),
  ];

  it('names what it cannot read by its id, and counts what has none', () => {
    const { unreadableIds, unidentified, count } = read(pageOf(entities));

    expect([unreadableIds, count]).toEqual([['2'], 10]);
    expect(unidentified).toEqual([
      'element 2: no numeric applicationId',
      expect.stringMatching(/^element 3: /u),
      'element 4: no numeric applicationId',
    ]);
  });

  it('leaves out what is of another account, readable or not, and tells', () => {
    const { ids, seen } = read(pageOf(entities));

    expect(ids).toEqual(['1', '5', '7', '8']);
    expect(seen).toEqual(
      ['6', '9'].map((id) => ({
        kind: 'foreign_entity',
        detail: { app_id: id, account_id: '999' },
      })),
    );
  });

  it('tells every entity from the others that it can, by its guid or its id', () => {
    const guids = [6, 7, 8, 9].map((id) => `guid-${id}`);

    expect(read(pageOf(entities)).listed).toEqual(['guid-1', 'guid-2', 'guid-3', '5', ...guids]);
  });

  it.each([
    ['abc', 'abc'],
    [null, undefined],
    ['', undefined],
    [undefined, undefined],
    [5, undefined],
  ])('with the cursor %j has the next one: %j', (cursor, next) => {
    expect(read(pageOf([], cursor)).nextCursor).toBe(next);
  });

  const noCount = 'list_applications: the answer does not say how many entities there are.';
  const noList = 'list_applications: the answer has no list of entities.';
  const many = 'the answer lists 1001 entities on one page, which has 200 at most';
  it.each<[string, unknown]>([
    ...[undefined, null, '2'].map((count): [string, unknown] => [
      noCount,
      { count, results: { entities: [] } },
    ]),
    [noList, undefined],
    [noList, { count: 0 }],
    [noList, { count: 0, results: {} }],
    [noList, { results: { entities: null } }],
    [many, pageOf(Array(1001).fill(null))],
  ])('is not believed: %s', (says, part) => {
    expect(() => read(part)).toThrow(says);
  });
});
