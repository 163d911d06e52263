import { ApiError } from '../../model/api-error.ts';
import type { Application } from '../../model/application.ts';
import { notWhole } from './failures.ts';
import type { EntitiesContext, GraphqlClient } from './graphql-client.ts';

/** What searches have found, with all their pages. */
export interface EntityList {
  /** Each application once. */
  readonly applications: ReadonlyMap<string, Application>;
  readonly unreadableIds: readonly string[];
  /** Why something may be missing. */
  readonly error: ApiError | undefined;
  readonly calls: number;
}

/** An application may come or go while the pages are read. */
const sparePages = 2;

/**
 * Reads the pages of each search one after the other. Keeps what it has read if one fails. A search is
 * whole if its pages have as many entities as New Relic counts.
 */
export async function listEntities(
  searches: readonly string[],
  accountId: number,
  { client, ...context }: EntitiesContext & { readonly client: Pick<GraphqlClient, 'entities'> },
): Promise<EntityList> {
  const applications = new Map<string, Application>();
  const unreadableIds = new Set<string>();
  const purpose = { operation: 'list_applications', accountId } as const;
  let calls = 0;
  let error: ApiError | undefined;
  const lacks = (detail: string): void => {
    error ??= notWhole(purpose, detail);
  };

  const readAll = async (search: string): Promise<void> => {
    const listed = new Set<string>();
    let cursor: string | undefined;
    let largestPage = 1;
    for (let pages = 1; ; pages += 1) {
      calls += 1;
      const page = await client.entities(search, cursor, context);
      for (const application of page.applications) applications.set(application.id, application);
      for (const id of page.unreadableIds) unreadableIds.add(id);
      const [first] = page.unidentified;
      if (first !== undefined) {
        lacks(`parts of the list were left out (${page.unidentified.length}), the first: ${first}`);
      }
      const known = listed.size;
      for (const entity of page.listed) listed.add(entity);
      cursor = page.nextCursor;
      if (cursor === undefined) {
        if (listed.size < page.count) lacks(`the answer lists ${listed.size} of ${page.count}`);
        return;
      }
      largestPage = Math.max(largestPage, page.listed.length);
      const isEndless = pages >= page.count / largestPage + sparePages;
      if (listed.size === known || isEndless) {
        lacks(`the list of ${page.count} does not end after ${pages} pages`);
        return;
      }
    }
  };

  try {
    for (const search of searches) await readAll(search);
  } catch (caught) {
    if (!(caught instanceof ApiError)) throw caught;
    error = caught;
  }
  return { applications, unreadableIds: [...unreadableIds], error, calls };
}
