import { ApiError } from '../model/api-error.ts';
import type { TimeWindow } from '../model/window.ts';
import type { FoundEntity } from './entity-page.ts';
import { failureOf } from './failures.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { allHosts, blindPartsOf, type HostSubset, halvesOf } from './host-partition.ts';
import { liveHostsNrql } from './nrql.ts';
import type { FacetRow } from './nrql-answer.ts';
import { isSmall, mostDivisions, type QuerySize, type QuerySizes } from './query-sizes.ts';

/** The names of the hosts that sent anything in the last hour. */
export interface HostList {
  /** By application; one is not in it if its hosts could not be read. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly error: ApiError | undefined;
  readonly calls: number;
}

export interface HostListDependencies {
  readonly client: Pick<GraphqlClient, 'nrql'>;
  readonly sizes: QuerySizes;
  /** New Relic's time. */
  readonly wallMs: () => number;
  readonly signal: AbortSignal;
}

/** As long as the REST API lists a host that is gone. */
const listedMs = 3_600_000;
/** Hosts of an application if New Relic does not count them. */
const assumedHosts = 20;

/** A discovery takes this many calls for each of its queries at most, and some more. */
const callsPerQuery = 4;
const sparedCalls = 50;

function lastHour(wallMs: () => number): TimeWindow {
  // NRQL knows whole milliseconds only.
  const toMs = Math.floor(wallMs());
  return { fromMs: toMs - listedMs, toMs };
}

/** Applications whose hosts one query lists, or some of the hosts of one. */
interface ListQuery {
  readonly ids: readonly string[];
  readonly subset: HostSubset;
  readonly rows: number;
  /** How often in a row it was divided because it took too long. */
  readonly divisions: number;
}

/**
 * Lists the hosts of these applications. The ends of the window are those of the moment: processes with
 * the same configuration must not send the same text, which New Relic answers 120 times a minute only.
 */
export async function listHosts(
  entities: readonly FoundEntity[],
  dependencies: HostListDependencies,
): Promise<HostList> {
  const { client, sizes, wallMs, signal } = dependencies;
  const window = lastHour(wallMs);
  const found = new FoundHosts();
  const waiting = [...queriesFor(entities, sizes.current())];
  const mostCalls = callsPerQuery * waiting.length + sparedCalls;

  const divide = (query: ListQuery, divisions: number): boolean => {
    sizes.tooLarge({ rows: query.rows });
    if (found.calls >= mostCalls) return false;
    const halves = dividedQuery({ ...query, divisions });
    waiting.push(...halves);
    return halves.length > 0;
  };
  const failed = (query: ListQuery, error: ApiError): void => {
    const isAllSmall = isSmall({ applications: query.ids.length, rows: query.rows });
    const isDivisible = query.divisions < mostDivisions && !isAllSmall;
    if (error.reason === 'too_large' && isDivisible && divide(query, query.divisions + 1)) return;
    found.failed(query.ids, error);
    // The others would fail in the same way, or there is no time left for them.
    if (error.reason !== 'auth' && !signal.aborted) return;
    for (const { ids } of waiting.splice(0)) found.failed(ids, error);
  };
  for (let query = waiting.shift(); query !== undefined; query = waiting.shift()) {
    const { ids, subset } = query;
    const nrql = liveHostsNrql({ applicationIds: ids, window }, subset.condition);
    const question = { nrql, window, applications: ids.length, mayShift: true } as const;
    found.calls += 1;
    try {
      const answer = await client.nrql({ operation: 'list_hosts', ...question }, { signal });
      if (!answer.isTruncated) found.add(ids, answer.rows);
      else if (!divide(query, query.divisions)) found.failed(ids, tooMany(ids.length));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failed(query, error);
    }
  }
  return found.list();
}

class FoundHosts {
  calls = 0;
  readonly #hosts = new Map<string, string[]>();
  readonly #failed = new Set<string>();
  #error: ApiError | undefined;

  add(ids: readonly string[], rows: readonly FacetRow[]): void {
    for (const id of ids) if (!this.#hosts.has(id)) this.#hosts.set(id, []);
    for (const { applicationId, host } of rows) {
      if (host !== undefined) this.#hosts.get(applicationId)?.push(host);
    }
  }

  failed(ids: readonly string[], error: ApiError): void {
    this.#error ??= error;
    for (const id of ids) this.#failed.add(id);
  }

  list(): HostList {
    // Sorted, because New Relic's order changes: an application that is found as before is not new.
    const hosts = new Map(
      [...this.#hosts]
        .filter(([id]) => !this.#failed.has(id))
        .map(([id, names]) => [id, names.toSorted()]),
    );
    return { hosts, error: this.#error, calls: this.calls };
  }
}

/** Asks for the hosts of no application: why the account cannot be read, if it cannot. */
export async function errorOfReading({
  client,
  wallMs,
  signal,
}: Omit<HostListDependencies, 'sizes'>): Promise<ApiError | undefined> {
  const window = lastHour(wallMs);
  const nrql = liveHostsNrql({ applicationIds: ['0'], window }, undefined);
  const question = { operation: 'list_hosts', nrql, window, mayShift: true } as const;
  try {
    await client.nrql({ ...question, applications: 0 }, { signal });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The number of queries for so many hosts in each application. */
export function hostListCalls(hostCounts: readonly number[], size: QuerySize): number {
  const entities = hostCounts.map((hosts, index) => ({ id: String(index), hosts }));
  return packed(entities, size).length;
}

function queriesFor(entities: readonly FoundEntity[], size: QuerySize): readonly ListQuery[] {
  const counted = entities.map(({ application, hostCount }) => ({
    id: application.id,
    hosts: hostCount ?? assumedHosts,
  }));
  return packed(counted, size);
}

function packed(
  applications: readonly { readonly id: string; readonly hosts: number }[],
  size: QuerySize,
): readonly ListQuery[] {
  const queries: ListQuery[] = [];
  let ids: string[] = [];
  let rows = 0;
  const close = (): void => {
    if (ids.length > 0) queries.push({ ids, subset: allHosts, rows, divisions: 0 });
    ids = [];
    rows = 0;
  };
  for (const { id, hosts } of applications) {
    if (hosts > size.rows) {
      queries.push(...dividedByCount(id, hosts, size));
      continue;
    }
    if (ids.length >= size.applications || rows + hosts > size.rows) close();
    ids.push(id);
    rows += hosts;
  }
  close();
  return queries;
}

/** More than the most hosts that an application may have, in the smallest queries. */
const mostParts = 64;

/** Queries for an application that has more hosts than one may ask for. */
function dividedByCount(id: string, hosts: number, size: QuerySize): readonly ListQuery[] {
  const parts = blindPartsOf(Math.min(mostParts, Math.ceil(hosts / size.rows)));
  const rows = Math.ceil(hosts / parts.length);
  return parts.map((subset) => ({ ids: [id], subset, rows, divisions: 0 }));
}

function tooMany(applications: number): ApiError {
  const purpose = { operation: 'list_hosts', applications, accountId: undefined } as const;
  return failureOf(
    purpose,
    'too_large',
    'more hosts than New Relic returns, however it is divided',
  );
}

function dividedQuery(query: ListQuery): readonly ListQuery[] {
  const { ids, subset } = query;
  const rows = Math.ceil(query.rows / 2);
  if (ids.length > 1) {
    const middle = Math.ceil(ids.length / 2);
    return [ids.slice(0, middle), ids.slice(middle)].map((some) => ({ ...query, ids: some, rows }));
  }
  return (halvesOf(subset) ?? []).map((part) => ({ ...query, subset: part, rows }));
}
