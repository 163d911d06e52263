import type { ApiError, FailureReason } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { Selector } from '../model/config.ts';
import type { Discovery } from '../model/source.ts';
import { isEntityId } from './entity-id.ts';
import type { ApplicationList } from './lists.ts';

/** Asks for the applications with these ids, or for all of the account. */
export type ReadApplications = (ids: readonly string[] | undefined) => Promise<ApplicationList>;

// As many as the vendor puts on a page. A URL of this many ids stays under 4 kB.
const idsPerCall = 200;

// After one of these the other calls of the discovery would fail in the same way.
const endingReasons: ReadonlySet<FailureReason> = new Set([
  'auth',
  'throttled',
  'redirect',
  'dns',
  'connect',
  'tls',
]);

/**
 * Finds what the selectors may choose from. Ids alone are asked for by id; a name or a pattern, or
 * no selector at all, takes the list of the whole account.
 *
 * A wanted id that an answer leaves out is asked for alone before it counts as missing: neither how
 * many ids the vendor accepts at once nor the order of its pages is documented. For the same reason
 * a known application that a list of several pages leaves out is asked for. An `ApiError` makes
 * the discovery incomplete; anything else, such as the reason of an abort, is passed on.
 */
export async function discoverApplications(
  selectors: readonly Selector[],
  knownIds: readonly string[],
  read: ReadApplications,
): Promise<Discovery> {
  const wantedIds = wantedIdsOf(selectors);
  const findings = createFindings();

  const doubtfulIds: string[] = [];
  let isCutIntoPages = false;
  for (const ids of questionsOf(selectors, wantedIds)) {
    const list = await read(ids);
    findings.add(list);
    if (findings.areFinal()) return findings.result();
    if (list.error !== undefined) continue;
    if (ids === undefined) isCutIntoPages = list.calls > 1;
    const askedAlone = ids?.length === 1;
    if (!askedAlone) doubtfulIds.push(...(ids ?? wantedIds));
  }

  // Pages are cut anew while applications come and go: between two of them one may be lost. A wanted
  // one is asked for alone below.
  if (isCutIntoPages) {
    const wanted = new Set(wantedIds);
    await askTogether(
      [...new Set(knownIds)].filter((id) => !wanted.has(id)),
      findings,
      read,
    );
  }
  await askAlone(doubtfulIds, findings, read);
  return findings.result();
}

async function askTogether(
  ids: readonly string[],
  findings: Findings,
  read: ReadApplications,
): Promise<void> {
  const absent = ids.filter((id) => !findings.has(id));
  for (const batch of batchesOf(absent)) {
    const list = await read(batch);
    findings.add(batch.length === 1 ? absentIfNotFound(list) : list);
    if (list.error !== undefined) return;
  }
}

async function askAlone(
  ids: readonly string[],
  findings: Findings,
  read: ReadApplications,
): Promise<void> {
  for (const id of ids) {
    if (findings.areFinal()) return;
    if (!findings.has(id)) findings.add(absentIfNotFound(await read([id])));
  }
}

/** Whether one unknown id gives an empty list or 404 is not documented: both say the same. */
function absentIfNotFound(list: ApplicationList): ApplicationList {
  return list.error?.reason === 'not_found' ? { ...list, error: undefined } : list;
}

interface Findings {
  /** Whether it was found, or stands there without being readable. */
  has(id: string): boolean;
  add(list: ApplicationList): void;
  /** Whether a call failed in a way in which the next one would fail too. */
  areFinal(): boolean;
  result(): Discovery;
}

/** Collects lists. Of an application that stands in several places the first one counts. */
function createFindings(): Findings {
  const found = new Map<string, Application>();
  const unreadable = new Set<string>();
  let firstError: ApiError | undefined;
  let calls = 0;
  let isOver = false;
  return {
    areFinal: () => isOver,
    has: (id) => found.has(id) || unreadable.has(id),
    add: (list) => {
      for (const application of list.items) {
        if (!found.has(application.id)) found.set(application.id, application);
      }
      for (const id of list.unreadableIds) unreadable.add(id);
      isOver ||= list.error !== undefined && endingReasons.has(list.error.reason);
      firstError ??= list.error;
      calls += list.calls;
    },
    result: () => ({
      applications: [...found.values()],
      complete: firstError === undefined,
      unreadableIds: [...unreadable].filter((id) => !found.has(id)),
      calls,
      error: firstError,
    }),
  };
}

/** The ids of the selectors, once each. What is not a number can be no application's id. */
function wantedIdsOf(selectors: readonly Selector[]): string[] {
  const ids = selectors.flatMap((selector) => (selector.kind === 'id' ? [selector.id] : []));
  return [...new Set(ids.filter(isEntityId))];
}

/** The lists to ask for; `undefined` is the list of the whole account. */
function questionsOf(
  selectors: readonly Selector[],
  wantedIds: readonly string[],
): (readonly string[] | undefined)[] {
  const onlyIds = selectors.length > 0 && selectors.every(({ kind }) => kind === 'id');
  return onlyIds ? batchesOf(wantedIds) : [undefined];
}

function batchesOf(ids: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(ids.length / idsPerCall);
  return Array.from({ length: count }, (_, index) =>
    ids.slice(index * idsPerCall, (index + 1) * idsPerCall),
  );
}
