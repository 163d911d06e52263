import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { type EntityList, listEntities } from '../../src/nerdgraph/entity-list.ts';
import { type EntityPage, entityPageOf } from '../../src/nerdgraph/entity-page.ts';
import { neverAborted } from '../transport/fakes.ts';
import { accountId, anEntity } from './answers.ts';

const purpose = { operation: 'list_applications', accountId } as const;

function page(entities: readonly unknown[], nextCursor?: string): EntityPage {
  return entityPageOf({ results: { entities, nextCursor } }, purpose, () => undefined);
}

/** Pages by search and cursor: `search`, then `search cursor`. */
type Pages = Readonly<Record<string, EntityPage | Error>>;

async function list(
  searches: readonly string[],
  pages: Pages,
  maxPages = 10,
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
  const found = await listEntities(
    searches,
    { accountId, maxPages },
    { client, signal: neverAborted },
  );
  return { ...found, asked, ids: [...found.entities.keys()] };
}

const broken = new ApiError('server', 'it broke', { status: 500 });

describe('listEntities', () => {
  it('follows the cursors of each search to the end', async () => {
    const found = await list(['a', 'b'], {
      a: page([anEntity(1)], 'x'),
      'a x': page([anEntity(2)], 'y'),
      'a y': page([anEntity(3)]),
      b: page([anEntity(4)]),
    });

    expect(found).toMatchObject({ ids: ['1', '2', '3', '4'], calls: 4, error: undefined });
    expect(found.asked).toEqual(['a', 'a x', 'a y', 'b']);
  });

  it('has an application once, as it was last read', async () => {
    const { entities, ids } = await list(['a'], {
      a: page([anEntity(1), anEntity(2)], 'x'),
      'a x': page([anEntity(1, { name: 'renamed' })]),
    });

    expect(ids).toEqual(['1', '2']);
    expect(entities.get('1')?.application.name).toBe('renamed');
  });

  it('may find nothing', async () => {
    expect(await list(['a'], { a: page([]) })).toMatchObject({
      ids: [],
      calls: 1,
      error: undefined,
    });
    expect(await list([], {})).toMatchObject({ ids: [], calls: 0, error: undefined });
  });

  it('keeps what it has read if a page in the middle fails', async () => {
    const found = await list(['a', 'b'], { a: page([anEntity(1)], 'x'), 'a x': broken });

    expect(found).toMatchObject({ ids: ['1'], calls: 2, error: broken });
  });

  it('rejects with anything that is no failure of the vendor', async () => {
    await expect(list(['a'], { a: new TypeError('a fault of the program') })).rejects.toThrow(
      TypeError,
    );
  });

  it('ends when a cursor leads back to an earlier page', async () => {
    const found = await list(['a'], {
      a: page([anEntity(1)], 'x'),
      'a x': page([anEntity(2)], 'y'),
      'a y': page([anEntity(3)], 'x'),
    });

    expect(found.ids).toEqual(['1', '2', '3']);
    expect(found.error?.message).toContain('a page of the list leads back to an earlier one');
    expect(found.calls).toBe(3);
  });

  it('ends a list that does not end', async () => {
    const pages = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [
        index === 0 ? 'a' : `a ${index}`,
        page([anEntity(index + 1)], `${index + 1}`),
      ]),
    );
    const found = await list(['a'], pages, 5);

    expect(found.calls).toBe(5);
    expect(found.ids).toHaveLength(5);
    expect(found.error).toMatchObject({ reason: 'schema' });
    expect(found.error?.message).toContain('the list does not end after 5 pages');
  });

  it('takes a list of exactly as many pages as it may have', async () => {
    const found = await list(['a'], { a: page([anEntity(1)], 'x'), 'a x': page([anEntity(2)]) }, 2);

    expect(found).toMatchObject({ ids: ['1', '2'], error: undefined });
  });

  it('names unreadable applications once, and goes on', async () => {
    const found = await list(['a'], {
      a: page([anEntity(1, { name: null }), anEntity(2)], 'x'),
      'a x': page([anEntity(1, { name: null }), anEntity(3)]),
    });

    expect(found).toMatchObject({ ids: ['2', '3'], unreadableIds: ['1'], error: undefined });
  });

  it('is incomplete, but goes on, if it cannot tell what an element is', async () => {
    const found = await list(['a'], {
      a: page([null, anEntity(1), null], 'x'),
      'a x': page([anEntity(2)]),
    });

    expect(found.ids).toEqual(['1', '2']);
    expect(found.error?.message).toMatch(
      /^list_applications: parts of the list were left out \(2\), the first: element 0: /u,
    );
  });
});
