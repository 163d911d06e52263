import { ApiError } from '../model/api-error.ts';
import type { FoundEntity } from './entity-page.ts';
import { failureOf } from './failures.ts';
import type { GraphqlClient } from './graphql-client.ts';

/** What searches have found, with all their pages. */
export interface EntityList {
  /** Each application once. */
  readonly entities: ReadonlyMap<string, FoundEntity>;
  readonly unreadableIds: readonly string[];
  /** Why something may be missing. */
  readonly error: ApiError | undefined;
  readonly calls: number;
}

export interface EntityListOptions {
  readonly accountId: number;
  /** Pages of one search at most: a guard against one that does not end. */
  readonly maxPages: number;
}

/** Reads the pages of each search one after the other. Keeps what it has read if one fails. */
export async function listEntities(
  searches: readonly string[],
  { accountId, maxPages }: EntityListOptions,
  {
    client,
    signal,
  }: { readonly client: Pick<GraphqlClient, 'entities'>; readonly signal: AbortSignal },
): Promise<EntityList> {
  const entities = new Map<string, FoundEntity>();
  const unreadableIds = new Set<string>();
  const purpose = { operation: 'list_applications', accountId } as const;
  let calls = 0;
  let error: ApiError | undefined;

  const readAll = async (search: string): Promise<void> => {
    const cursors = new Set<string>();
    let cursor: string | undefined;
    do {
      if (cursors.size >= maxPages) {
        throw failureOf(purpose, 'schema', `the list does not end after ${maxPages} pages`);
      }
      calls += 1;
      const page = await client.entities(search, cursor, { signal });
      for (const entity of page.entities) entities.set(entity.application.id, entity);
      for (const id of page.unreadableIds) unreadableIds.add(id);
      const [first] = page.unidentified;
      if (first !== undefined) {
        const detail = `parts of the list were left out (${page.unidentified.length}), the first: ${first}`;
        error ??= failureOf(purpose, 'schema', detail);
      }
      cursor = page.nextCursor;
      if (cursor !== undefined && cursors.has(cursor)) {
        throw failureOf(purpose, 'schema', 'a page of the list leads back to an earlier one');
      }
      if (cursor !== undefined) cursors.add(cursor);
    } while (cursor !== undefined);
  };

  try {
    for (const search of searches) await readAll(search);
  } catch (caught) {
    if (!(caught instanceof ApiError)) throw caught;
    error = caught;
  }
  return { entities, unreadableIds: [...unreadableIds], error, calls };
}
