import { describe, expect, it } from 'vitest';
import { type EntityList, listEntities } from '../../../src/newrelic/nerdgraph/discovery.ts';
import { type EntityPage, entityPageOf } from '../../../src/newrelic/nerdgraph/entity-page.ts';
import { neverAborted } from '../calls/fakes.ts';
import { accountId, anEntity } from './answers.ts';
import { createRecordingUnexpectedAnswers } from './recording-unexpected-answers.ts';

const purpose = { operation: 'list_applications', accountId } as const;

/** A page of a search with so many entities on all its pages. */
function page(entities: readonly unknown[], nextCursor?: string, count?: number): EntityPage {
  const part = { count: count ?? entities.length, results: { entities, nextCursor } };
  const unexpected = createRecordingUnexpectedAnswers();
  return entityPageOf(part, { purpose, unexpected, onInvalid: () => undefined });
}

/** Pages by search and cursor: `search`, then `search cursor`. */
type Pages = Readonly<Record<string, EntityPage | Error>>;

async function list(
  searches: readonly string[],
  pages: Pages,
): Promise<EntityList & { readonly asked: readonly string[]; readonly ids: readonly string[] }> {
  const asked: string[] = [];
  const client = {
    entities: async (search: string, cursor: string | undefined): Promise<EntityPage> => {
      const key = cursor === undefined ? search : `${search} ${cursor}`;
      asked.push(key);
      const answer = pages[key];
      if (answer === undefined) throw new Error(`a page nobody expected: ${key}`);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const found = await listEntities(searches, accountId, { client, signal: neverAborted });
  return { ...found, asked, ids: [...found.applications.keys()] };
}

describe('listEntities', () => {
  it.each([
    { what: 'short of what New Relic counts', last: [anEntity(2)], lists: '2 of 4' },
    { what: 'with an application twice', last: [anEntity(1), anEntity(2)], lists: '2 of 4' },
    {
      what: 'of which the last page counts more than the first',
      last: [anEntity(2), anEntity(3)],
      lists: '3 of 4',
    },
  ])('is incomplete if it is $what, and goes on with the next', async ({ last, lists }) => {
    const found = await list(['a', 'b'], {
      a: page([anEntity(1)], 'x', 3),
      'a x': page(last, undefined, 4),
      b: page([anEntity(9)]),
    });

    expect(found.ids).toContain('9');
    expect(found.error).toMatchObject({ reason: 'schema' });
    expect(found.error?.message).toContain(`list_applications: the answer lists ${lists}.`);
  });

  it('ends at a page with nothing new that names a next one', async () => {
    const found = await list(['a', 'b'], {
      a: page([anEntity(1)], 'x', 200),
      'a x': page([anEntity(2)], 'y', 200),
      'a y': page([anEntity(1)], 'x', 200),
      b: page([anEntity(3)]),
    });

    expect(found.ids).toEqual(['1', '2', '3']);
    expect(found.error).toMatchObject({ reason: 'schema' });
    expect(found.error?.message).toContain('the list of 200 does not end after 3 pages');
    expect(found.calls).toBe(4);
  });

  it.each([
    { perPage: 1, count: 5, pages: 7 },
    { perPage: 2, count: 5, pages: 5 },
    { perPage: 200, count: 450, pages: 5 },
    { perPage: 200, count: 0, pages: 2 },
  ])(
    'ends a list of $count that does not end, with $perPage on a page, after $pages pages',
    async ({ perPage, count, pages }) => {
      const found = await list(
        ['a'],
        Object.fromEntries(
          Array.from({ length: 20 }, (_, index) => [
            index === 0 ? 'a' : `a ${index}`,
            page(
              Array.from({ length: perPage }, (_entity, place) =>
                anEntity(perPage * index + place + 1),
              ),
              `${index + 1}`,
              count,
            ),
          ]),
        ),
      );

      expect(found.calls).toBe(pages);
      expect(found.ids).toHaveLength(pages * perPage);
      expect(found.error?.message).toContain(
        `the list of ${count} does not end after ${pages} pages`,
      );
    },
  );

  it('is incomplete with an entity that nobody can identify', async () => {
    const found = await list(['a'], {
      a: page([anEntity(1), anEntity(2, { applicationId: 0.5 })]),
    });

    expect(found).toMatchObject({ ids: ['1'], error: { reason: 'schema' } });
    expect(found.error?.message).toContain('left out (1), the first: element 1: ');
  });
});
