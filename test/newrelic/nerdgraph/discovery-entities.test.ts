import { describe, expect, it } from 'vitest';
import { answerOf } from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { everything } from './a-discovery.ts';
import { aNerdGraphSource } from './a-nerdgraph-source.ts';
import { anEntity, type Json } from './answers.ts';

/** What a discovery makes of this value of `entitySearch`. */
async function read(entitySearch: unknown, tags: readonly string[] = []) {
  const bench = aNerdGraphSource(async () => answerOf({ data: { actor: { entitySearch } } }));
  const wanted = { selectors: [everything], tags };
  const found = await bench.source.discover(wanted, [], neverAborted);
  return { ...bench, ...found, ids: found.applications.map(({ id }) => id) };
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
  tags: undefined,
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
const nulls = { throughput: null, apdexScore: null, hostCount: null, instanceCount: null };
const severity = (alertSeverity: unknown, reporting: unknown = true): Json => ({
  alertSeverity,
  reporting,
});

describe('an entity', () => {
  it.each<[string, Json, Json, string[]?]>([
    ['as documented, in base units', {}, inBaseUnits],
    ['that reports, whose hosts polls name', { reporting: true }, { hostIds: undefined }],
    ['with open critical incidents', severity('CRITICAL'), { healthStatus: 'red' }],
    ['with open warnings', severity('WARNING'), { healthStatus: 'orange' }],
    ['without incidents', severity('NOT_ALERTING'), { healthStatus: 'green' }],
    ['without alerts', severity('NOT_CONFIGURED'), { healthStatus: 'unknown' }],
    ['without a severity', severity(null), { healthStatus: 'unknown' }],
    ['with a new severity', severity('NEW'), { healthStatus: 'unknown' }],
    ['that does not say whether it reports', severity(null, null), { reporting: undefined }],
    ['with nulls, which are no mistake', { apmSummary: nulls }, { hostCount: undefined }],
    ['with a number for a severity', severity(5), { healthStatus: 'unknown' }],
    ['that does not report', severity('CRITICAL', false), { healthStatus: 'gray' }],
    [
      'that is silent, which is no mistake',
      { reporting: false, apmSummary: null, settings: null, language: null },
      { reporting: false, hostIds: [], ...absent },
    ],
    [
      'with values that cannot be true, without these',
      { apmSummary: withoutSense },
      { summary: { apdexScore: 0.9, apdexTargetSeconds: 0.5 }, hostCount: 3 },
      ['sample negative', 'sample not_a_number'],
    ],
    ['with tags that nobody wants', { tags: [team('a')] }, { tags: undefined }],
    ['with an id that is a text', { applicationId: '98765432' }, { id: '98765432' }],
    ['with an id beyond 2^53', { applicationId: '9007199254740993' }, { id: '9007199254740993' }],
    ['with an empty name', { name: '' }, { name: '' }],
    ['with a name in any script', { name: '検索 API' }, { name: '検索 API' }],
  ])('%s is an application', async (_, overrides, is, invalid = []) => {
    const found = await read(pageOf([anEntity(7, overrides)]));

    expect(found.applications).toMatchObject([is]);
    expect(found.failures.toSorted()).toEqual(invalid);
  });

  it.each<[string, readonly unknown[], unknown]>([
    ['in one order', [team('b', 'a', 'b'), team('c')], { team: 'a,b,c' }],
    ['in one order, however they come', [team('c', 'a'), team('b', 'a')], { team: 'a,b,c' }],
    ['unless there are none', [team()], {}],
    ['none of them if one cannot be read', [team('a'), { key: 'x', values: 'y' }], undefined],
    ['none of them if one has a number', [team('a'), { key: 'x', values: [5] }], undefined],
    ['none of them if one has no key', [team('a'), { values: ['a'] }], undefined],
  ])('has the values of a wanted tag %s', async (_, tags, are) => {
    const entity = anEntity(7, { tags: [...tags, { key: 'other', values: ['x'] }] });
    const { applications } = await read(pageOf([entity]), ['team', 'tier']);

    expect(applications[0]?.tags).toEqual(are);
  });
});

function team(...values: readonly string[]): Json {
  return { key: 'team', values };
}

describe('an element of a list', () => {
  const whole = { complete: true, error: undefined, unreadableIds: [] };
  const leftOut =
    'parts of the list were left out (1), the first: element 1: no numeric applicationId';

  it.each<[string, unknown, readonly string[], Json]>([
    ['without a guid is told from others by its id', anEntity(2, { guid: null }), ['1', '2'], {}],
    ['of the account as a text is ours', anEntity(2, { accountId: '1234567' }), ['1', '2'], {}],
    [
      'of an account that it does not name is ours',
      anEntity(2, { accountId: null }),
      ['1', '2'],
      {},
    ],
    [
      'without a name is known by its id alone',
      anEntity(2, { name: null }),
      ['1'],
      { unreadableIds: ['2'] },
    ],
  ])('%s', async (_, element, ids, is) => {
    const found = await read(pageOf([anEntity(1), element]));

    expect(found).toMatchObject({ ...whole, ids, ...is });
    expect(found.unexpected).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['without an id', anEntity(2, { applicationId: null }), leftOut],
    ['with half an id', anEntity(2, { applicationId: 0.5 }), leftOut],
    ['with a name for an id', anEntity(2, { applicationId: 'shop', guid: null }), leftOut],
    ['that is no object', 'x', leftOut],
    ['that is there twice', anEntity(1), 'the answer lists 1 of 2'],
  ])('%s makes the list incomplete', async (_, element, says) => {
    const found = await read(pageOf([anEntity(1), element]));

    expect(found).toMatchObject({ complete: false, ids: ['1'], error: { reason: 'schema' } });
    expect(found.error?.message).toContain(`${says}.`);
  });

  it.each([
    ['readable', {}],
    ['unreadable', { name: null }],
    ['without an id', { applicationId: null }],
  ])('of another account is left out and counted: %s', async (_, overrides) => {
    const foreign = anEntity(2, { accountId: 999, ...overrides });
    const found = await read(pageOf([foreign, anEntity(1)]));

    expect(found).toMatchObject({ ...whole, ids: ['1'] });
    expect(found.unexpected).toEqual(['foreign_entity']);
    expect(found.logger.lines).toMatchObject([
      { level: 'warn', fields: { kind: 'foreign_entity', account_id: '999' } },
    ]);
  });
});

describe('a list', () => {
  it('of what cannot be read is not taken for an empty one', async () => {
    const found = await read(pageOf([anEntity(2, { name: null })]));

    expect(found).toMatchObject({ complete: true, unreadableIds: ['2'], calls: 1 });
  });

  it.each([null, '', undefined, 5])('ends with the cursor %j', async (cursor) => {
    expect(await read(pageOf([anEntity(1)], cursor))).toMatchObject({ complete: true, calls: 1 });
  });

  const noCount = 'list_applications: the answer does not say how many entities there are.';
  const noList = 'list_applications: the answer has no list of entities.';
  const nothing = 'list_applications: the answer has nothing of what was asked for.';
  const many = 'the answer lists 1001 entities on one page, which has 200 at most.';
  it.each<[string, unknown]>([
    ...[undefined, null, '2'].map((count): [string, unknown] => [
      noCount,
      { count, results: { entities: [] } },
    ]),
    [nothing, null],
    [noList, { count: 0 }],
    [noList, { count: 0, results: {} }],
    [noList, { results: { entities: null } }],
    [many, pageOf(Array(1001).fill(null))],
  ])('is not believed: %s', async (says, part) => {
    const { error } = await read(part);

    expect(error).toMatchObject({ reason: 'schema', message: expect.stringContaining(says) });
  });
});
