import type { Application } from '../../model/application.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../../model/poll-outcome.ts';
import type { OfBoth } from './compare-lists.ts';

/** How many hosts, by their names, each API has of an application. */
export interface NamedHosts extends Pick<Application, 'id' | 'name'>, OfBoth<number> {}

export function namedHostsOf(
  { id, name }: Pick<Application, 'id' | 'name'>,
  { rest, nerdgraph }: OfBoth<PollOutcome>,
): NamedHosts {
  return { id, name, rest: hostIdsByName(rest).size, nerdgraph: hostIdsByName(nerdgraph).size };
}

/**
 * Whether NerdGraph has clearly fewer. REST lists a host for about an hour after its end, so that a few
 * more say nothing.
 */
export function isShort({ rest, nerdgraph }: OfBoth<number>): boolean {
  return nerdgraph < rest / 2;
}

/** The hosts that were asked for or answered. One without a name goes by its id. */
export function hostIdsByName({
  reading,
  failed,
  hostNames,
}: PollOutcome): ReadonlyMap<string, readonly string[]> {
  const ids = new Set([...(reading?.hosts.keys() ?? []), ...failed]);
  ids.delete(applicationScope);
  ids.delete(hostsScope);
  const byName = new Map<string, string[]>();
  for (const id of ids) {
    const name = hostNames?.get(id) ?? id;
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [id]);
    else known.push(id);
  }
  return byName;
}
