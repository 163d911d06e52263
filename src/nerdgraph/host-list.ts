import { ApiError } from '../model/api-error.ts';
import type { TimeWindow } from '../model/window.ts';
import type { FoundEntity } from './entity-page.ts';
import { failureOf } from './failures.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { allHosts, type HostSubset, halvesOf } from './host-partition.ts';
import { liveHostsNrql } from './nrql.ts';
import { isSmall, type QuerySizes } from './query-sizes.ts';

/** The names of the hosts that sent a heartbeat in the last hour. */
export interface HostList {
  /** By application; one is not in it if its hosts could not be read. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly error: ApiError | undefined;
  readonly calls: number;
}

export interface HostListDependencies {
  readonly client: Pick<GraphqlClient, 'nrql'>;
  readonly sizes: QuerySizes;
  readonly wallMs: () => number;
  readonly signal: AbortSignal;
}

/** As long as the REST API lists a host that is gone. */
const listedMs = 3_600_000;
/** Hosts of an application if New Relic does not count them. */
const assumedHosts = 20;

function lastHour(wallMs: () => number): TimeWindow {
  // NRQL takes whole numbers only.
  const toMs = Math.floor(wallMs());
  return { fromMs: toMs - listedMs, toMs };
}

/** Applications whose hosts one query lists, or some of the hosts of one. */
interface ListQuery {
  readonly ids: readonly string[];
  readonly subset: HostSubset;
  readonly rows: number;
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
  const hosts = new Map<string, string[]>();
  const failed = new Set<string>();
  let calls = 0;
  let error: ApiError | undefined;
  const waiting = [...queriesFor(entities, sizes.current().applications, sizes.current().rows)];

  const divide = (query: ListQuery): boolean => {
    sizes.tooLarge({ rows: query.rows });
    const halves = dividedQuery(query);
    waiting.push(...halves);
    return halves.length > 0;
  };
  const ask = async (query: ListQuery): Promise<void> => {
    calls += 1;
    const answer = await namesOf(query, window, { client, signal });
    if (answer === undefined) {
      if (divide(query)) return;
      for (const id of query.ids) failed.add(id);
      error ??= tooMany(query.ids.length);
      return;
    }
    for (const id of query.ids) if (!hosts.has(id)) hosts.set(id, []);
    for (const { applicationId, host } of answer) {
      if (host !== undefined) hosts.get(applicationId)?.push(host);
    }
  };
  for (let query = waiting.shift(); query !== undefined; query = waiting.shift()) {
    try {
      await ask(query);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      error ??= caught;
      for (const id of query.ids) failed.add(id);
      // The others would fail in the same way, or there is no time left for them.
      if (caught.reason === 'auth' || signal.aborted) {
        for (const { ids } of waiting.splice(0)) for (const id of ids) failed.add(id);
      }
    }
  }
  for (const id of failed) hosts.delete(id);
  return { hosts, error, calls };
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
export function hostListCalls(
  hostCounts: readonly number[],
  size: { readonly applications: number; readonly rows: number },
): number {
  const entities = hostCounts.map((hosts, index) => ({ id: String(index), hosts }));
  return packed(entities, size.applications, size.rows).length;
}

function queriesFor(
  entities: readonly FoundEntity[],
  mostIds: number,
  mostRows: number,
): readonly ListQuery[] {
  const counted = entities.map(({ application, hostCount }) => ({
    id: application.id,
    hosts: hostCount ?? assumedHosts,
  }));
  return packed(counted, mostIds, mostRows);
}

function packed(
  applications: readonly { readonly id: string; readonly hosts: number }[],
  mostIds: number,
  mostRows: number,
): readonly ListQuery[] {
  const queries: { ids: string[]; subset: HostSubset; rows: number }[] = [];
  let last: (typeof queries)[number] | undefined;
  for (const { id, hosts } of applications) {
    if (last === undefined || last.ids.length >= mostIds || last.rows + hosts > mostRows) {
      last = { ids: [], subset: allHosts, rows: 0 };
      queries.push(last);
    }
    last.ids.push(id);
    last.rows += hosts;
  }
  return queries;
}

/** The rows of a query; `undefined` if it has to be asked in smaller parts. */
async function namesOf(
  { ids, subset, rows: expectedRows }: ListQuery,
  window: TimeWindow,
  { client, signal }: Pick<HostListDependencies, 'client' | 'signal'>,
): Promise<readonly { applicationId: string; host: string | undefined }[] | undefined> {
  try {
    const nrql = liveHostsNrql({ applicationIds: ids, window }, subset.condition);
    const operation = 'list_hosts';
    const question = { operation, nrql, window, applications: ids.length, mayShift: true } as const;
    const { rows, isTruncated } = await client.nrql(question, { signal });
    return isTruncated ? undefined : rows;
  } catch (error) {
    const isTooLarge = error instanceof ApiError && error.reason === 'too_large';
    if (isTooLarge && !isSmall({ applications: ids.length, rows: expectedRows })) return undefined;
    throw error;
  }
}

function tooMany(applications: number): ApiError {
  const purpose = { operation: 'list_hosts', applications, accountId: undefined } as const;
  return failureOf(
    purpose,
    'too_large',
    'more hosts than New Relic returns, however it is divided',
  );
}

function dividedQuery({ ids, subset, rows }: ListQuery): readonly ListQuery[] {
  const half = Math.ceil(rows / 2);
  if (ids.length > 1) {
    const middle = Math.ceil(ids.length / 2);
    return [ids.slice(0, middle), ids.slice(middle)].map((some) => ({
      ids: some,
      subset,
      rows: half,
    }));
  }
  return (halvesOf(subset) ?? []).map((part) => ({ ids, subset: part, rows: half }));
}
