import { applicationMetrics } from '../model/snapshot.ts';
import {
  type ApplicationState,
  type ApplicationStatus,
  applicationStates,
} from '../model/status.ts';
import { type ListQuery, type ListShape, type SortValue, sortedBy } from './list-query.ts';

export const applicationKeys = [
  'state',
  'name',
  'account',
  'web',
  'other',
  'values',
  'polled',
  'next',
  'hosts',
] as const;
export type ApplicationKey = (typeof applicationKeys)[number];

export type ApplicationQuery = ListQuery<ApplicationKey, ApplicationState>;

export const applicationListShape: ListShape<ApplicationKey, ApplicationState> = {
  sortKeys: applicationKeys,
  states: applicationStates,
  scope: ['account'],
};

/** How many of its hosts the last poll got. */
export function polledHostsOf({ hostIds, failedHostIds }: ApplicationStatus): number {
  return hostIds.length - failedHostIds.size;
}

/** The worst state has the lowest. */
const ranks: ReadonlyMap<ApplicationState, number> = new Map(
  applicationStates.map((state, rank) => [state, rank]),
);
const rankOf = ({ state }: ApplicationStatus): number => ranks.get(state) ?? 0;

const valuesOf: Readonly<Record<ApplicationKey, (application: ApplicationStatus) => SortValue>> = {
  state: rankOf,
  name: ({ name }) => name.toLowerCase(),
  account: ({ account }) => account.toLowerCase(),
  web: ({ reading }) => applicationMetrics(reading).get('web'),
  other: ({ reading }) => applicationMetrics(reading).get('other'),
  values: ({ reading }) => reading?.windowEndMs,
  polled: ({ lastPollMs }) => lastPollMs,
  next: ({ nextPollMs }) => nextPollMs,
  hosts: ({ hostIds }) => hostIds.length,
};

/** The newest failure first; without failures, by name. */
function byFailure(left: ApplicationStatus, right: ApplicationStatus): number {
  return (
    (right.failure?.sinceMs ?? 0) - (left.failure?.sinceMs ?? 0) ||
    byText(left.name, right.name) ||
    byText(left.account, right.account) ||
    byText(left.id, right.id)
  );
}

/** What fails first. Sorting state by state costs less than one sort of all. */
function byAttention(applications: readonly ApplicationStatus[]): readonly ApplicationStatus[] {
  const groups = new Map<ApplicationState, ApplicationStatus[]>();
  for (const application of applications) {
    const group = groups.get(application.state);
    if (group === undefined) groups.set(application.state, [application]);
    else group.push(application);
  }
  return applicationStates.flatMap((state) => (groups.get(state) ?? []).toSorted(byFailure));
}

function byText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** The texts that a search looks into. */
function matches(application: ApplicationStatus, search: string): boolean {
  const { name, id, labels, failure } = application;
  return (
    name.toLowerCase().includes(search) ||
    id.includes(search) ||
    Object.entries(labels).some(([key, value]) =>
      `${key}=${value}`.toLowerCase().includes(search),
    ) ||
    (failure?.reason.includes(search) ?? false)
  );
}

/** The applications that the account and the search leave, whatever their state. */
export function foundApplications(
  applications: readonly ApplicationStatus[],
  { scope, search }: ApplicationQuery,
): readonly ApplicationStatus[] {
  const account = scope['account'];
  const text = search.toLowerCase();
  return applications.filter(
    (application) =>
      (account === undefined || application.account === account) &&
      (text === '' || matches(application, text)),
  );
}

/** Those in the wanted state, in the wanted order. */
export function listedApplications(
  found: readonly ApplicationStatus[],
  { state, sort }: ApplicationQuery,
): readonly ApplicationStatus[] {
  const chosen = found.filter((one) => state === undefined || one.state === state);
  const ordered = byAttention(chosen);
  return sort === undefined ? ordered : sortedBy(ordered, valuesOf[sort.key], sort.isDescending);
}

/** All transaction types together; `undefined` without any value. */
export function totalOf(throughput: ReadonlyMap<string, number>): number | undefined {
  const values = [...throughput.values()];
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
