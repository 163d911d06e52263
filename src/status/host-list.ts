import { throughputOf, valuesByTransaction } from '../model/polled-series.ts';
import type { ApplicationStatus } from '../model/status.ts';
import { totalOf } from './application-list.ts';
import { type ListQuery, type ListShape, type SortValue, sortedBy } from './list-query.ts';
import type { StateView } from './state-view.ts';

/**
 * How a polled host is doing. `failing`: the last poll got nothing of it. `empty`: New Relic gave no
 * value. `waiting`: no poll has ended yet. `up`: there are values.
 */
export const hostStates = ['failing', 'empty', 'waiting', 'up'] as const;
export type HostState = (typeof hostStates)[number];

export const hostKeys = [
  'state',
  'name',
  'id',
  'web',
  'other',
  'web_time',
  'other_time',
  'errors',
] as const;
export type HostKey = (typeof hostKeys)[number];

export type HostQuery = ListQuery<HostKey, HostState>;

export const hostListShape: ListShape<HostKey, HostState> = {
  sortKeys: hostKeys,
  states: hostStates,
  // `host` is the one whose values are all shown.
  scope: ['account', 'id', 'host'],
};

export const hostStateViews: Readonly<Record<HostState, StateView>> = {
  failing: { tone: 'bad', meaning: 'The last poll got nothing of it.' },
  empty: { tone: 'none', meaning: 'New Relic gave no value for it.' },
  waiting: { tone: 'wait', meaning: 'It has not been polled yet.' },
  up: { tone: 'good', meaning: 'The last poll got its values.' },
};

/** A host as a row of the list. */
export interface HostRow {
  readonly id: string;
  /** `undefined` if it is not known. */
  readonly name: string | undefined;
  /** The name, or the id without one, as it is sorted by and searched in. */
  readonly sortName: string;
  readonly state: HostState;
  readonly web: number | undefined;
  readonly other: number | undefined;
  /** Average response times in seconds. */
  readonly webTime: number | undefined;
  readonly otherTime: number | undefined;
  /** Errors per minute, of all transaction types. */
  readonly errors: number | undefined;
}

function stateOf({ failedHostIds, lastPollMs, reading }: ApplicationStatus, id: string): HostState {
  if (failedHostIds.has(id)) return 'failing';
  if (lastPollMs === undefined) return 'waiting';
  return reading?.hosts.get(id)?.some((value) => value !== undefined) === true ? 'up' : 'empty';
}

/** All polled hosts of an application. */
export function hostRows(application: ApplicationStatus): readonly HostRow[] {
  const { hostIds, hostNames, reading } = application;
  const { series = [] } = reading ?? {};
  return hostIds.map((id) => {
    const values = reading?.hosts.get(id);
    const throughput = throughputOf(series, values);
    const times = valuesByTransaction('response_time', series, values);
    const name = hostNames.get(id);
    return {
      id,
      name,
      sortName: name?.toLowerCase() ?? id,
      state: stateOf(application, id),
      web: throughput.get('web'),
      other: throughput.get('other'),
      webTime: times.get('web'),
      otherTime: times.get('other'),
      errors: totalOf(valuesByTransaction('errors', series, values)),
    };
  });
}

const ranks: Readonly<Record<HostState, number>> = { failing: 0, empty: 1, waiting: 2, up: 3 };

/** Ids are decimal: a shorter one is a smaller one. */
const idRank = (id: string): string => `${String(id.length).padStart(3, '0')}${id}`;

const valuesOf: Readonly<Record<HostKey, (host: HostRow) => SortValue>> = {
  state: ({ state }) => ranks[state],
  name: ({ sortName }) => sortName,
  id: ({ id }) => idRank(id),
  web: ({ web }) => web,
  other: ({ other }) => other,
  web_time: ({ webTime }) => webTime,
  other_time: ({ otherTime }) => otherTime,
  errors: ({ errors }) => errors,
};

/** Those that the search leaves, whatever their state. */
export function foundHosts(hosts: readonly HostRow[], { search }: HostQuery): readonly HostRow[] {
  const text = search.toLowerCase();
  if (text === '') return hosts;
  return hosts.filter(({ id, sortName }) => id.includes(text) || sortName.includes(text));
}

/** What fails first, then by name. */
function byAttention(left: HostRow, right: HostRow): number {
  const difference = ranks[left.state] - ranks[right.state];
  if (difference !== 0 || left.sortName === right.sortName) return difference;
  return left.sortName < right.sortName ? -1 : 1;
}

/** Those in the wanted state, in the wanted order. */
export function listedHosts(
  found: readonly HostRow[],
  { state, sort }: HostQuery,
): readonly HostRow[] {
  const chosen = found.filter((host) => state === undefined || host.state === state);
  const ordered = chosen.toSorted(byAttention);
  return sort === undefined ? ordered : sortedBy(ordered, valuesOf[sort.key], sort.isDescending);
}
