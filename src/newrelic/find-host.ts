import type { HostNames, OnWire } from '../model/source.ts';
import type { ListReader } from './lists.ts';

/** One host of an application, by any of the names that it may have. */
export interface HostQuestion {
  readonly applicationId: string;
  readonly wanted: readonly string[];
  readonly onWire: OnWire | undefined;
}

/**
 * Looks for one host by its names, until one of them is found. The vendor takes a name for a part of
 * one: what it finds beyond is among the names as well.
 */
export async function findHost(
  lists: Pick<ListReader, 'hosts'>,
  { applicationId, wanted, onWire }: HostQuestion,
  signal: AbortSignal,
): Promise<HostNames> {
  const names = new Map<string, string>();
  let calls = 0;
  for (const hostName of wanted) {
    const list = await lists.hosts(applicationId, signal, { hostName, onWire });
    calls += list.calls;
    for (const { id, name } of list.items) names.set(id, name);
    const isFound = list.items.some(({ name }) => name.toLowerCase() === hostName.toLowerCase());
    if (isFound) return { names, error: undefined, calls };
    if (list.error !== undefined) return { names, error: list.error, calls };
  }
  return { names, error: undefined, calls };
}
