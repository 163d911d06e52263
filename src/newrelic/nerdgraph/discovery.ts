import { ApiError } from '../../model/api-error.ts';
import type { Application } from '../../model/application.ts';
import type { Selector } from '../../model/config.ts';
import type { HostNames, Source } from '../../model/source.ts';
import { hourMs } from '../../model/time.ts';
import { rangeAt } from '../../model/window.ts';
import { notWhole } from '../failures.ts';
import { maxNrqlCharacters } from './column-sets.ts';
import type { EntitiesContext, GraphqlClient } from './graphql-client.ts';
import { hostFacets, liveColumns } from './nrql.ts';

export interface DiscoveryContext {
  readonly client: GraphqlClient;
  /** New Relic's time. */
  readonly wallMs: () => number;
}

const impossibleId = '0';

/** Searches the applications that the selectors may choose. What a search leaves out is not there. */
export function createSearchDiscovery(
  accountId: number,
  context: DiscoveryContext,
): Source['discover'] {
  return async ({ selectors, tags }, _, signal) => {
    const listBy = async (filters?: readonly string[]) =>
      listEntities(searchesFor(`${accountId}`, filters), accountId, { ...context, signal, tags });
    const filters = filtersOf(selectors);
    let list = await listBy(filters);
    // New Relic documents these filters only in part, and not how long they may be.
    if (filters !== undefined && [400, 413].includes(list.error?.status ?? 0)) {
      const whole = await listBy();
      list = { ...whole, calls: list.calls + whole.calls };
    }
    const isEmpty = list.applications.size === 0 && list.unreadableIds.size === 0;
    if (isEmpty && list.error === undefined) {
      // A search finds nothing in an account that the key may not see, without an error; a query says so.
      const { error } = await listHosts(impossibleId, context, signal, 'list_applications');
      list = { ...list, error, calls: list.calls + 1 };
    }
    signal.throwIfAborted();
    const { error } = list;
    return {
      applications: [...list.applications.values()],
      complete: error === undefined,
      unreadableIds: [...list.unreadableIds],
      pendingIds: [],
      calls: list.calls,
      error,
    };
  };
}

/**
 * Reads the pages of each search one after the other. Keeps what it has read if one fails. A search is
 * whole if its pages have as many entities as New Relic counts; the error says why something may be missing.
 */
async function listEntities(
  searches: readonly string[],
  accountId: number,
  { client, ...context }: EntitiesContext & { readonly client: GraphqlClient },
) {
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
    for (let pages = 1; ; pages += 1) {
      calls += 1;
      const page = await client.entities(search, cursor, context);
      error ??= page.error;
      for (const application of page.applications) applications.set(application.id, application);
      for (const id of page.unreadableIds) unreadableIds.add(id);
      const known = listed.size;
      for (const entity of page.listed) listed.add(entity);
      cursor = page.nextCursor;
      if (cursor === undefined) {
        if (listed.size < page.count) lacks(`the answer lists ${listed.size} of ${page.count}`);
        return;
      }
      // Applications may go while the pages are read, but not as many as there are.
      if (listed.size === known || listed.size > 2 * page.count) {
        lacks(`the list of ${page.count} does not end after page ${pages}`);
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
  return { applications, unreadableIds, error, calls };
}

/** What ids or names may take of a text, which is as long as a query may be. */
const roomForValues = maxNrqlCharacters - 200;

/** More searches than this take longer than the list of most accounts. */
const mostSearches = 5;

/** What to search what these may choose by; `undefined` if the whole account has to be listed. */
function filtersOf(selectors: readonly Selector[]): readonly string[] | undefined {
  const ids = new Set<string>();
  const names = new Set<string>();
  for (const selector of selectors) {
    if (selector.kind === 'match') return undefined;
    if (selector.kind === 'id') ids.add(selector.id);
    else if (isSearchable(selector.name)) names.add(selector.name);
    else return undefined;
  }
  const filters = [
    ...listsOf([...ids]).map((list) => `domainId IN (${list})`),
    ...listsOf([...names]).map((list) => `name IN (${list})`),
  ];
  return filters.length > 0 && filters.length <= mostSearches ? filters : undefined;
}

/** The texts to search entities with: every APM application of the account, or only those. */
export function searchesFor(accountId: string, filters?: readonly string[]): readonly string[] {
  const all = `domain = 'APM' AND type = 'APPLICATION' AND accountId = '${accountId}'`;
  return filters === undefined ? [all] : filters.map((filter) => `${all} AND ${filter}`);
}

/** It is not documented how a quote is written in a search. */
export function isSearchable(name: string): boolean {
  return name !== '' && !/['"\\]/.test(name);
}

/** The values as lists, each of which one search has room for. */
function listsOf(values: readonly string[]): readonly string[] {
  const lists: string[] = [];
  for (const text of values.map((value) => `'${value}'`)) {
    const longer = `${lists.at(-1)},${text}`;
    if (lists.length === 0 || longer.length > roomForValues) lists.push(text);
    else lists[lists.length - 1] = longer;
  }
  return lists;
}

/** The names of the hosts of an application that sent anything in the last hour: here they are the ids. */
export async function listHosts(
  applicationId: string,
  { client, wallMs }: DiscoveryContext,
  signal: AbortSignal,
  operation: 'list_applications' | 'list_hosts' = 'list_hosts',
): Promise<HostNames> {
  // As long as the REST API lists a host that is gone.
  const window = rangeAt(wallMs(), hourMs, 0);
  const question = {
    operation,
    applicationIds: [applicationId],
    window,
    facets: hostFacets,
    columns: liveColumns,
    asksFor: () => true,
    mayBeAbout: () => true,
    needsLength: false,
  } as const;
  try {
    const { rows } = await client.nrql(question, { signal });
    const names = rows.flatMap(({ host }) => (host === undefined ? [] : [host]));
    return { names: new Map(names.map((name) => [name, name])), error: undefined, calls: 1 };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { names: new Map(), error, calls: 1 };
  }
}
