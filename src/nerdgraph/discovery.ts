import { ApiError } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { Selector } from '../model/config.ts';
import type { Discovery } from '../model/source.ts';
import { type EntityList, type EntityListOptions, listEntities } from './entity-list.ts';
import type { FoundEntity } from './entity-page.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { listHosts } from './host-list.ts';
import { searchesFor, wantedBy } from './search.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

export interface DiscoveryQuestion {
  readonly selectors: readonly Selector[];
  readonly knownIds: readonly string[];
  readonly signal: AbortSignal;
}

export interface DiscoveryDependencies {
  readonly client: GraphqlClient;
  readonly unexpected: UnexpectedAnswers;
  readonly wallMs: () => number;
}

/** Makes the discoveries of one account. */
export type Discover = (question: DiscoveryQuestion) => Promise<Discovery>;

/**
 * Searches the applications, then lists the hosts of those that the selectors may choose and that
 * report. A known application that the list of the account lacks is searched by its id.
 */
export function createDiscover(
  options: EntityListOptions,
  dependencies: DiscoveryDependencies,
): Discover {
  const { client, unexpected } = dependencies;
  const { accountId } = options;
  /** New Relic documents neither of the filters in full: if it refuses them, the account is listed. */
  let mayFilter = true;

  const isRefused = ({ error }: EntityList): boolean => {
    if (error?.status !== 400) return false;
    mayFilter = false;
    unexpected.saw('filter_refused', { error });
    return true;
  };

  const search = async (
    { selectors, knownIds, signal }: DiscoveryQuestion,
    isFiltered: boolean,
  ): Promise<EntityList> => {
    const wanted = isFiltered ? wantedBy(selectors) : undefined;
    const lister = { client, signal };
    const list = await listEntities(searchesFor(accountId, wanted), options, lister);
    if (wanted !== undefined && isRefused(list)) {
      return plus(list, await search({ selectors, knownIds, signal }, false));
    }
    const byId = new Set(wanted?.ids);
    const lost = knownIds.filter((id) => !list.entities.has(id) && !byId.has(id));
    if (list.error !== undefined || lost.length === 0 || !mayFilter) return list;
    const lookUp = searchesFor(accountId, { ids: lost, names: [] });
    const found = await listEntities(lookUp, options, lister);
    if (!isRefused(found)) return plus(list, found);
    // Then the list of the account alone says what there is.
    const { calls } = found;
    return wanted === undefined ? { ...list, calls: list.calls + calls } : plus(list, found);
  };

  /**
   * A search finds nothing in an account that the key may not see, without an error; a query says so.
   * An empty list is believed only if the account can be read.
   */
  const confirmed = async (list: EntityList, signal: AbortSignal): Promise<EntityList> => {
    const isEmpty = list.entities.size === 0 && list.unreadableIds.length === 0;
    if (!isEmpty || list.error !== undefined) return list;
    const { error } = await listHosts('0', { ...dependencies, signal });
    return { ...list, error, calls: list.calls + 1 };
  };

  return async (question) => {
    const { signal } = question;
    const list = await confirmed(await search(question, mayFilter), signal);
    const error = abortOf(signal) ?? list.error;
    return {
      applications: [...list.entities.values()].map(withHosts),
      complete: error === undefined,
      unreadableIds: list.unreadableIds,
      pendingIds: [],
      calls: list.calls,
      error,
    };
  };
}

/** The deadline that has passed. Throws any other reason of an abort. */
function abortOf(signal: AbortSignal): ApiError | undefined {
  if (!signal.aborted) return undefined;
  if (signal.reason instanceof ApiError) return signal.reason;
  throw signal.reason;
}

/** Polls name the hosts, but one that does not report is not polled. */
function withHosts({ application, hostCount }: FoundEntity): Application {
  const hostIds = application.reporting === false ? [] : undefined;
  return { ...application, hostCount, hostIds };
}

function plus(left: EntityList, right: EntityList): EntityList {
  return {
    entities: new Map([...left.entities, ...right.entities]),
    unreadableIds: [...new Set([...left.unreadableIds, ...right.unreadableIds])],
    error: right.error,
    calls: left.calls + right.calls,
  };
}
