import { ApiError } from '../../model/api-error.ts';
import type { HostNames } from '../../model/source.ts';
import { hourMs } from '../../model/time.ts';
import { rangeAt } from '../../model/window.ts';
import type { GraphqlClient } from './graphql-client.ts';
import { hostFacets, liveHostsNrql } from './nrql.ts';

export interface HostListDependencies {
  readonly client: Pick<GraphqlClient, 'nrql'>;
  /** New Relic's time. */
  readonly wallMs: () => number;
  readonly signal: AbortSignal;
}

/** The names of the hosts of an application that sent anything in the last hour: here they are the ids. */
export async function listHosts(
  applicationId: string,
  { client, wallMs, signal }: HostListDependencies,
): Promise<HostNames> {
  // As long as the REST API lists a host that is gone.
  const window = rangeAt(wallMs(), hourMs, 0);
  const question = {
    operation: 'list_hosts',
    nrql: liveHostsNrql([applicationId], window),
    window,
    facets: hostFacets,
    applicationIds: [applicationId],
    asksFor: () => true,
    mayBeAbout: () => true,
    columns: undefined,
  } as const;
  try {
    const { rows } = await client.nrql(question, { signal });
    const names = rows.flatMap(({ host }) => (host === undefined ? [] : [host]));
    return { names: namesById(names), error: undefined, calls: 1 };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { names: new Map(), error, calls: 1 };
  }
}

/** In this API the name of a host is its id. */
export function namesById(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name, name]));
}
