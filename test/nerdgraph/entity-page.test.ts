import { describe, expect, it } from 'vitest';
import type { Application } from '../../src/model/application.ts';
import { type EntityPage, entityPageOf } from '../../src/nerdgraph/entity-page.ts';
import { accountId, anEntity, type Json } from './answers.ts';

const purpose = { operation: 'list_applications', accountId } as const;

function read(part: unknown): { readonly page: EntityPage; readonly invalid: readonly string[] } {
  const invalid: string[] = [];
  const page = entityPageOf(part, purpose, (reason) => invalid.push(reason));
  return { page, invalid };
}

function pageOf(entities: readonly unknown[], nextCursor?: unknown): unknown {
  return { count: entities.length, results: { entities, nextCursor } };
}

/** The application of an entity with these members. */
function applicationOf(overrides: Json): Application | undefined {
  return read(pageOf([anEntity(7, overrides)])).page.entities[0]?.application;
}

describe('an entity', () => {
  it('is an application, in base units', () => {
    const { page, invalid } = read(pageOf([anEntity(7)]));

    expect(page.entities).toEqual([
      {
        application: {
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
          instances: 4,
        },
        hostCount: 2,
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

    expect(page.entities[0]).toMatchObject({
      application: {
        reporting: false,
        summary: undefined,
        instances: undefined,
        language: undefined,
      },
      hostCount: undefined,
    });
    expect(invalid).toEqual([]);
  });

  it('with a summary of nulls has no values', () => {
    const apmSummary = {
      throughput: null,
      responseTimeAverage: null,
      apdexScore: null,
      hostCount: null,
      instanceCount: null,
    };
    const { page, invalid } = read(
      pageOf([anEntity(7, { apmSummary, settings: { apdexTarget: null } })]),
    );

    expect(page.entities[0]?.application.summary).toEqual({});
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

    expect(page.entities[0]?.application.summary).toEqual({
      apdexScore: 0.9,
      apdexTargetSeconds: 0.5,
    });
    expect(page.entities[0]?.hostCount).toBe(3);
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

    expect(page.entities.map(({ application }) => application.id)).toEqual(['1']);
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

  it.each([
    { what: 'nothing', part: undefined },
    { what: 'no results', part: { count: 0 } },
    { what: 'results without entities', part: { results: {} } },
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
