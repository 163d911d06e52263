import { ApiError } from '../../model/api-error.ts';
import type { Application } from '../../model/application.ts';
import type { Selector } from '../../model/config.ts';
import { selectorText } from '../../model/selector.ts';
import type { HostNames, Source } from '../../model/source.ts';
import { hourMs } from '../../model/time.ts';
import { rangeAt } from '../../model/window.ts';
import { notWhole } from '../failures.ts';
import { maxNrqlCharacters } from './column-sets.ts';
import type { EntitiesContext, GraphqlClient } from './graphql-client.ts';
import { hostFacets, liveColumns } from './nrql.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

export interface DiscoveryContext {
  readonly client: GraphqlClient;
  readonly unexpected: UnexpectedAnswers;
  /** New Relic's time. */
  readonly wallMs: () => number;
}

const noApplication = '0';

/**
 * Searches the applications that the selectors may choose. A known application that the search leaves
 * out is searched by its id.
 */
export function createDiscover(accountId: number, context: DiscoveryContext): Source['discover'] {
  const search = createSearch(context);
  return async ({ selectors, tags }, knownIds, signal) => {
    const read: Read = async (filters) =>
      listEntities(searchesFor(`${accountId}`, filters), accountId, { ...context, signal, tags });
    let list = await search(selectors, knownIds, read);
    const isEmpty = list.applications.size === 0 && list.unreadableIds.length === 0;
    if (isEmpty && list.error === undefined) {
      // A search finds nothing in an account that the key may not see, without an error; a query says so.
      const { error } = await listHosts(noApplication, context, signal);
      list = { ...list, error, calls: list.calls + 1 };
    }
    const error = abortOf(signal) ?? list.error;
    return {
      applications: [...list.applications.values()].map((application) => ({
        ...application,
        // Polls name the others.
        hostIds: application.reporting === false ? [] : undefined,
      })),
      complete: error === undefined,
      unreadableIds: list.unreadableIds,
      pendingIds: [],
      calls: list.calls,
      error,
    };
  };
}

/** Reads what the filters let through, or the list of the whole account. */
type Read = (filters: readonly string[] | undefined) => Promise<EntityList>;

/**
 * Searches by ids and names, as long as these can be trusted: New Relic documents neither in full. What such a
 * search leaves out, the list of the account may have.
 */
function createSearch({ unexpected, wallMs }: DiscoveryContext) {
  let areFiltersTrusted = true;
  /** Selectors that the list of the account lacked, too, an hour ago at most. */
  let absent: ReadonlySet<string> = new Set();
  let absentAtMs = Number.NEGATIVE_INFINITY;

  const distrust = (detail: Readonly<Record<string, unknown>>): void => {
    areFiltersTrusted = false;
    unexpected.saw('filter_refused', detail);
  };

  const search = async (
    filters: readonly string[] | undefined,
    texts: readonly string[],
    read: Read,
  ): Promise<EntityList> => {
    const list = await read(filters);
    const { error, calls } = list;
    const isRefused = error?.status === 400;
    if (wallMs() - absentAtMs >= hourMs) absent = new Set();
    const missing = missingIn(list, texts);
    const isNew = missing.some((text) => !absent.has(text));
    const isDoubtful = isRefused || (error === undefined && isNew);
    if (filters === undefined || !isDoubtful) return list;
    const whole = plus(list, await read(undefined));
    if (isRefused) {
      distrust({ error });
      return whole;
    }
    if (whole.error === undefined) {
      absent = new Set(missingIn(whole, missing));
      absentAtMs = wallMs();
      const overlooked = missing.find((text) => !absent.has(text));
      if (overlooked !== undefined) distrust({ left_out: overlooked });
    }
    // The next discoveries do without.
    return { ...whole, calls };
  };

  return async (
    selectors: readonly Selector[],
    knownIds: readonly string[],
    read: Read,
  ): Promise<EntityList> => {
    const filters = areFiltersTrusted ? filtersOf(selectors) : undefined;
    const texts = selectors.map(selectorText);
    const list = await search(filters, texts, read);
    const lost = knownIds
      .filter((id) => !list.applications.has(id))
      .map((id) => ({ kind: 'id', id }) as const)
      .filter((selector) => filters === undefined || !texts.includes(selectorText(selector)));
    if (list.error !== undefined || lost.length === 0 || !areFiltersTrusted) return list;
    return plus(list, await search(filtersOf(lost, lost.length), [], read));
  };
}

/** The deadline that has passed. Throws any other reason of an abort. */
function abortOf(signal: AbortSignal): ApiError | undefined {
  if (!signal.aborted) return undefined;
  if (signal.reason instanceof ApiError) return signal.reason;
  throw signal.reason;
}

/** Which of these texts of selectors of ids and names choose nothing. */
function missingIn(
  { applications, unreadableIds }: EntityList,
  texts: readonly string[],
): readonly string[] {
  const ids = [...applications.keys(), ...unreadableIds];
  const found = new Set([
    ...ids.map((id) => selectorText({ kind: 'id', id })),
    ...[...applications.values()].map(({ name }) => selectorText({ kind: 'name', name })),
  ]);
  return texts.filter((text) => !found.has(text));
}

function plus(left: EntityList, right: EntityList): EntityList {
  return {
    applications: new Map([...left.applications, ...right.applications]),
    unreadableIds: [...new Set([...left.unreadableIds, ...right.unreadableIds])],
    error: right.error,
    calls: left.calls + right.calls,
  };
}

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
async function listEntities(
  searches: readonly string[],
  accountId: number,
  { client, ...context }: EntitiesContext & { readonly client: GraphqlClient },
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

/** What ids or names may take of a text, which is as long as a query may be. */
const roomForValues = maxNrqlCharacters - 200;

/** More searches than this take longer than the list of most accounts. */
const mostSearches = 5;

/** What to search what these may choose by; `undefined` if the whole account has to be listed. */
function filtersOf(
  selectors: readonly Selector[],
  most: number = mostSearches,
): readonly string[] | undefined {
  const ids = new Set<string>();
  const names = new Set<string>();
  for (const selector of selectors) {
    if (selector.kind === 'match') return undefined;
    if (selector.kind === 'id') ids.add(selector.id);
    else if (isPlain(selector.name)) names.add(selector.name);
    else return undefined;
  }
  const filters = [
    ...listsOf([...ids]).map((list) => `domainId IN (${list})`),
    ...listsOf([...names]).map((list) => `name IN (${list})`),
  ];
  return filters.length > 0 && filters.length <= most ? filters : undefined;
}

/** The texts to search entities with: every APM application of the account, or only those. */
export function searchesFor(accountId: string, filters?: readonly string[]): readonly string[] {
  const all = `domain = 'APM' AND type = 'APPLICATION' AND accountId = '${accountId}'`;
  return filters === undefined ? [all] : filters.map((filter) => `${all} AND ${filter}`);
}

/** It is not documented how a quote is written in a search. */
function isPlain(name: string): boolean {
  return !/['"\\]/.test(name);
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
  {
    client,
    wallMs,
  }: Pick<DiscoveryContext, 'wallMs'> & { readonly client: Pick<GraphqlClient, 'nrql'> },
  signal: AbortSignal,
): Promise<HostNames> {
  // As long as the REST API lists a host that is gone.
  const window = rangeAt(wallMs(), hourMs, 0);
  const question = {
    operation: 'list_hosts',
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
  } catch (caught) {
    const error = abortOf(signal) ?? caught;
    if (!(error instanceof ApiError)) throw error;
    return { names: new Map(), error, calls: 1 };
  }
}
