import { describe, expect, it } from 'vitest';
import type { Application } from '../../../src/model/application.ts';
import { type EntityPage, entityPageOf } from '../../../src/newrelic/nerdgraph/entity-page.ts';
import { accountId, anEntity, type Json } from './answers.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const purpose = { operation: 'list_applications', accountId } as const;

interface Read {
  readonly page: EntityPage;
  readonly invalid: readonly string[];
  /** What was unexpected. */
  readonly seen: readonly unknown[];
}

function read(part: unknown): Read {
  const invalid: string[] = [];
  const unexpected = createRecordingUnexpectedAnswers();
  const onInvalid = (reason: string): unknown => invalid.push(reason);
  const page = entityPageOf(part, { purpose, unexpected, onInvalid });
  return { page, invalid, seen: unexpected.seen };
}

function pageOf(entities: readonly unknown[], nextCursor?: unknown): unknown {
  return { count: entities.length, results: { entities, nextCursor } };
}

/** The application of an entity with these members. */
function applicationOf(overrides: Json): Application | undefined {
  return read(pageOf([anEntity(7, overrides)])).page.applications[0];
}

describe('an entity', () => {
  it('is an application, in base units', () => {
    const { page, invalid } = read(pageOf([anEntity(7)]));

    expect(page.applications).toEqual([
      {
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
      },
    ]);
    expect(invalid).toEqual([]);
  });

  it.each([
    { alertSeverity: 'CRITICAL', reporting: true, is: 'red' },
    { alertSeverity: 'WARNING', reporting: true, is: 'orange' },
    { alertSeverity: 'NOT_ALERTING', reporting: true, is: 'green' },
    { alertSeverity: 'NOT_CONFIGURED', reporting: true, is: 'unknown' },
    { alertSeverity: null, reporting: true, is: 'unknown' },
    { alertSeverity: 'SOMETHING_NEW', reporting: null, is: 'unknown' },
    { alertSeverity: 5, reporting: true, is: 'unknown' },
    { alertSeverity: 'CRITICAL', reporting: false, is: 'gray' },
  ])('with $alertSeverity, reporting: $reporting, is $is', ({ is, ...overrides }) => {
    expect(applicationOf(overrides)?.healthStatus).toBe(is);
  });

  it('that is silent has no summary, which is no mistake', () => {
    const { page, invalid } = read(
      pageOf([anEntity(7, { reporting: false, apmSummary: null, settings: null, language: null })]),
    );

    expect(page.applications[0]).toMatchObject({
      reporting: false,
      summary: undefined,
      instances: undefined,
      language: undefined,
      hostCount: undefined,
    });
    expect(invalid).toEqual([]);
  });

  it('with values that cannot be true keeps the others, and tells', () => {
    const apmSummary = {
      throughput: -1,
      responseTimeAverage: '0.1',
      apdexScore: 0.9,
      hostCount: 3,
    };
    const { page, invalid } = read(pageOf([anEntity(7, { apmSummary })]));

    expect(page.applications[0]?.summary).toEqual({
      apdexScore: 0.9,
      apdexTargetSeconds: 0.5,
    });
    expect(page.applications[0]?.hostCount).toBe(3);
    expect(invalid.toSorted()).toEqual(['negative', 'not_a_number']);
  });

  it.each([
    { what: 'a text', applicationId: '98765432', id: '98765432' },
    { what: 'a text beyond 2^53', applicationId: '9007199254740993', id: '9007199254740993' },
  ])('may have an id that is $what', ({ applicationId, id }) => {
    expect(applicationOf({ applicationId })?.id).toBe(id);
  });

  it.each([
    { what: 'an empty name', name: '', is: '' },
    { what: 'any script', name: '検索 API', is: '検索 API' },
  ])('keeps $what', ({ name, is }) => {
    expect(applicationOf({ name })?.name).toBe(is);
  });
});

describe('a page', () => {
  it('names what it cannot read by its id, and counts what has none', () => {
    const { page } = read(
      pageOf([
        anEntity(1),
        anEntity(2, { name: null }),
        anEntity(3, { applicationId: null }),
        'x',
        anEntity(4, { applicationId: 'shop' }),
      ]),
    );

    expect(page.applications.map(({ id }) => id)).toEqual(['1']);
    expect(page.unreadableIds).toEqual(['2']);
    expect(page.unidentified).toEqual([
      'element 2: no numeric applicationId',
      expect.stringMatching(/^element 3: /u),
      'element 4: no numeric applicationId',
    ]);
  });

  it.each([
    ['abc', 'abc'],
    [null, undefined],
    ['', undefined],
    [undefined, undefined],
    [5, undefined],
  ])('with the cursor %j has the next one: %j', (cursor, next) => {
    expect(read(pageOf([], cursor)).page.nextCursor).toBe(next);
  });

  it('leaves out what is of another account, readable or not, and tells', () => {
    const { page, seen } = read(
      pageOf([
        anEntity(1, { accountId: 999 }),
        anEntity(2, { accountId: '1234567' }),
        anEntity(3, { accountId: null }),
        anEntity(4, { accountId: 999, name: null }),
      ]),
    );

    expect(page.applications.map(({ id }) => id)).toEqual(['2', '3']);
    expect(page).toMatchObject({ unreadableIds: [], unidentified: [], count: 4 });
    expect(seen).toEqual(
      ['1', '4'].map((id) => ({
        kind: 'foreign_entity',
        detail: { app_id: id, account_id: '999' },
      })),
    );
  });

  it('tells every entity from the others that it can, by its guid or its id', () => {
    const { page } = read(
      pageOf([
        anEntity(1),
        anEntity(2, { guid: null }),
        anEntity(3, { name: null }),
        anEntity(4, { applicationId: null }),
        anEntity(5, { accountId: 999 }),
        anEntity(6, { guid: null, applicationId: null }),
        null,
      ]),
    );

    expect(page.listed).toEqual(['guid-1', '2', 'guid-3', 'guid-4', 'guid-5']);
    expect(page.count).toBe(7);
  });

  it.each([{ count: undefined }, { count: null }, { count: '2' }])(
    'must say how many there are: not $count',
    (overrides) => {
      expect(() => read({ results: { entities: [] }, ...overrides })).toThrow(
        'list_applications: the answer does not say how many entities there are.',
      );
    },
  );

  it.each([
    { what: 'nothing', part: undefined },
    { what: 'no results', part: { count: 0 } },
    { what: 'results without entities', part: { count: 0, results: {} } },
    { what: 'entities that are null', part: { results: { entities: null } } },
  ])('must have a list: not $what', ({ part }) => {
    expect(() => read(part)).toThrow('list_applications: the answer has no list of entities.');
  });

  it('must not be endless', () => {
    const many = Array.from({ length: 1001 }, () => null);

    expect(() => read(pageOf(many))).toThrow(
      'the answer lists 1001 entities on one page, which has 200 at most',
    );
  });
});
