import type { ApiError } from '../model/api-error.ts';
import type { HostNames, OnWire } from '../model/source.ts';
import type { HostName } from './host-payload.ts';
import type { ListReader } from './lists.ts';
import type { PagedList } from './paging.ts';

/** One host of an application, by any of the names that it may have. */
export interface HostQuestion {
  readonly applicationId: string;
  readonly wanted: readonly string[];
  readonly onWire: OnWire | undefined;
}

/**
 * Looks for one host by its names, until one of them is found. The vendor takes a name for a part of
 * one: what it finds beyond is among the names as well. Of a vendor that ignores or refuses such a
 * question, all hosts are listed, once.
 */
export async function findHost(
  lists: Pick<ListReader, 'hosts'>,
  { applicationId, wanted, onWire }: HostQuestion,
  signal: AbortSignal,
): Promise<HostNames> {
  const names = new Map<string, string>();
  const lowerCase = new Set(wanted.map((name) => name.toLowerCase()));
  let calls = 0;
  const ask = async (hostName: string | undefined): Promise<PagedList<HostName>> => {
    const list = await lists.hosts(applicationId, signal, { hostName, onWire });
    calls += list.calls;
    for (const { id, name } of list.items) names.set(id, name);
    return list;
  };
  for (const hostName of wanted) {
    const { items, error } = await ask(hostName);
    if (items.some(({ name }) => lowerCase.has(name.toLowerCase()))) break;
    if (isRefused(error)) return { names, error: (await ask(undefined)).error, calls };
    if (error !== undefined) return { names, error, calls };
    // Who gets others as well has got all.
    if (items.some(({ name }) => !name.toLowerCase().includes(hostName.toLowerCase()))) break;
  }
  return { names, error: undefined, calls };
}

/** Whether the vendor does not take the question as it was put. */
function isRefused(error: ApiError | undefined): boolean {
  return error?.status === 400 || error?.status === 422;
}
