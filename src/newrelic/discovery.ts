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

// Calls to find out which ids of a batch are gone, when the whole of it is answered 404. Enough for three
// of 200; more of them at once are rather a vendor in trouble, and the next discovery asks again.
const maxSplitCalls = 48;

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
  if (choosesByIdsAlone(selectors)) {
    for (const batch of batchesOf(wantedIds)) {
      doubtfulIds.push(...(await askTogether(batch, findings, read)));
      if (findings.areFinal()) return findings.result();
    }
  } else {
    const list = await read(undefined);
    findings.add(list);
    if (findings.areFinal() || list.error !== undefined) return findings.result();
    isCutIntoPages = list.calls > 1;
    doubtfulIds.push(...wantedIds);
  }

  // Pages are cut anew while applications come and go: between two of them one may be lost. A wanted
  // one is asked for alone below.
  if (isCutIntoPages) {
    const wanted = new Set(wantedIds);
    const absent = [...new Set(knownIds)].filter((id) => !wanted.has(id) && !findings.has(id));
    for (const batch of batchesOf(absent)) {
      await askTogether(batch, findings, read);
      if (findings.haveFailed()) break;
    }
  }
  await askAlone(doubtfulIds, findings, read);
  return findings.result();
}

/**
 * Asks for ids in one call. What 404 means for several ids is not documented: one unknown id may be
 * the reason, and the others are there. So each half is asked for, down to single ids. Gives the ids
 * of the calls for several that were answered: of those, some may have been left out.
 */
async function askTogether(
  ids: readonly string[],
  findings: Findings,
  read: ReadApplications,
): Promise<readonly string[]> {
  const answered: string[] = [];
  const questions = [ids];
  let splitCalls = 0;
  for (let batch = questions.shift(); batch !== undefined; batch = questions.shift()) {
    const list = await read(batch);
    if (batch.length === 1) findings.addAlone(list);
    else if (list.error?.reason === 'not_found' && splitCalls + 2 <= maxSplitCalls) {
      splitCalls += 2;
      findings.addCalls(list.calls);
      questions.push(...halvesOf(batch));
    } else {
      findings.add(list);
      if (list.error !== undefined) break;
      answered.push(...batch);
    }
    if (findings.areFinal()) break;
  }
  return answered;
}

async function askAlone(
  ids: readonly string[],
  findings: Findings,
  read: ReadApplications,
): Promise<void> {
  for (const id of ids) {
    if (findings.areFinal()) return;
    if (!findings.has(id)) findings.addAlone(await read([id]));
  }
}

interface Findings {
  /** Whether it was found, or stands there without being readable. */
  has(id: string): boolean;
  add(list: ApplicationList): void;
  /**
   * Adds the answer to the question for one id. Whether an unknown one gives an empty list or 404 is
   * not documented: both say the same, unless everything is answered 404.
   */
  addAlone(list: ApplicationList): void;
  /** Adds calls of which the answer says nothing by itself. */
  addCalls(calls: number): void;
  /** Whether a call failed, so that the discovery is incomplete. */
  haveFailed(): boolean;
  /** Whether a call failed in a way in which the next one would fail too. */
  areFinal(): boolean;
  result(): Discovery;
}

/** Collects lists. Of an application that stands in several places the first one counts. */
function createFindings(): Findings {
  const found = new Map<string, Application>();
  const unreadable = new Set<string>();
  let firstError: ApiError | undefined;
  let firstAbsence: ApiError | undefined;
  let isAnswered = false;
  let calls = 0;
  let isOver = false;

  const add = (list: ApplicationList): void => {
    for (const application of list.items) {
      if (!found.has(application.id)) found.set(application.id, application);
    }
    for (const id of list.unreadableIds) unreadable.add(id);
    isAnswered ||= list.error === undefined;
    isOver ||= list.error !== undefined && endingReasons.has(list.error.reason);
    firstError ??= list.error;
    calls += list.calls;
  };
  const errorOf = (): ApiError | undefined => firstError ?? (isAnswered ? undefined : firstAbsence);

  return {
    areFinal: () => isOver,
    haveFailed: () => firstError !== undefined,
    has: (id) => found.has(id) || unreadable.has(id),
    add,
    addAlone: (list) => {
      if (list.error?.reason !== 'not_found') {
        add(list);
        return;
      }
      firstAbsence ??= list.error;
      calls += list.calls;
    },
    addCalls: (more) => {
      calls += more;
    },
    result: () => ({
      applications: [...found.values()],
      complete: errorOf() === undefined,
      pendingIds: [],
      unreadableIds: [...unreadable].filter((id) => !found.has(id)),
      calls,
      error: errorOf(),
    }),
  };
}

/** The ids of the selectors, once each. What is not a number can be no application's id. */
function wantedIdsOf(selectors: readonly Selector[]): string[] {
  const ids = selectors.flatMap((selector) => (selector.kind === 'id' ? [selector.id] : []));
  return [...new Set(ids.filter(isEntityId))];
}

/** Whether no list of the whole account is needed. */
function choosesByIdsAlone(selectors: readonly Selector[]): boolean {
  return selectors.length > 0 && selectors.every(({ kind }) => kind === 'id');
}

function halvesOf(ids: readonly string[]): (readonly string[])[] {
  const middle = Math.ceil(ids.length / 2);
  return [ids.slice(0, middle), ids.slice(middle)];
}

function batchesOf(ids: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(ids.length / idsPerCall);
  return Array.from({ length: count }, (_, index) =>
    ids.slice(index * idsPerCall, (index + 1) * idsPerCall),
  );
}
