import { ApiError } from '../model/api-error.ts';
import type { Selector } from '../model/config.ts';
import type { Discovery } from '../model/source.ts';
import { isEntityId } from './entity-id.ts';
import { failureOf } from './failure-of-answer.ts';
import { findByIds, idsPerCall, type ReadApplications } from './find-by-ids.ts';
import { createFindings, type Findings } from './findings.ts';
import { type ApplicationList, applicationsSubject } from './lists.ts';
import type { LookUps } from './look-ups.ts';

export interface DiscoveryQuestion {
  readonly selectors: readonly Selector[];
  readonly knownIds: readonly string[];
  readonly signal: AbortSignal;
}

export interface DiscoveryDependencies {
  readonly read: ReadApplications;
  readonly lookUps: LookUps;
}

/**
 * Finds what the selectors may choose from. Ids alone are asked for by id; a name or a pattern, or
 * no selector at all, takes the list of the whole account.
 *
 * An `ApiError` makes the discovery incomplete, and so does one that is the reason of an abort;
 * anything else is passed on.
 */
export async function discoverApplications(
  question: DiscoveryQuestion,
  dependencies: DiscoveryDependencies,
): Promise<Discovery> {
  const { signal } = question;
  const findings = createFindings();
  const pendingIds = await findAll(question, findings, dependencies);
  const discovery = { ...findings.result(), pendingIds };
  for (const { id } of discovery.applications) dependencies.lookUps.forget(id);
  if (!signal.aborted) return discovery;
  if (!(signal.reason instanceof ApiError)) throw signal.reason;
  return { ...discovery, complete: false, error: signal.reason };
}

/** Gives the ids of which it is not known whether the account has them. */
async function findAll(
  { selectors, knownIds, signal }: DiscoveryQuestion,
  findings: Findings,
  { read, lookUps }: DiscoveryDependencies,
): Promise<readonly string[]> {
  const wanted = wantedIdsOf(selectors);
  lookUps.keepOnly(wanted);
  const known = new Set(knownIds);
  const isOver = (): boolean => signal.aborted || findings.isFinal();
  const isListed = !choosesByIdsAlone(selectors);
  let lost: readonly string[] = [];
  let isCutIntoPages = false;
  if (isListed) {
    const list = await read(undefined);
    findings.add(list);
    const unclear = [...wanted].filter((id) => !findings.has(id) && !lookUps.isAbsent(id));
    if (list.error !== undefined) return unclear;
    isCutIntoPages = list.calls > 1;
    lost = doubtedAbsences(
      [...known].filter((id) => !wanted.has(id)),
      list,
      findings,
    );
  }
  const dependencies = { read, findings, lookUps, isOver };
  const pending = await findByIds({ wanted, lost, known, isListed }, dependencies);
  const stillThere = lost.filter((id) => findings.has(id)).length;
  if (!isCutIntoPages && stillThere > 0) findings.fail(brokenList(stillThere));
  return pending;
}

/**
 * Known applications that the list left out, as far as that may be untrue. Pages are cut anew while
 * applications come and go: between two of them one may be lost. A list of one page is doubted only
 * if most of what was known is not in it; then some are enough to see whether it is true.
 */
function doubtedAbsences(
  known: readonly string[],
  { calls }: ApplicationList,
  findings: Findings,
): readonly string[] {
  const lost = known.filter((id) => !findings.has(id));
  if (calls > 1) return lost;
  return lost.length * 2 > known.length ? lost.slice(0, idsPerCall) : [];
}

function brokenList(stillThere: number): ApiError {
  const detail = `the list left out most of the known applications, but at least ${stillThere} of them are still there`;
  return failureOf(applicationsSubject, 'server', detail);
}

/** The ids of the selectors. What is not a number can be no application's id. */
function wantedIdsOf(selectors: readonly Selector[]): ReadonlySet<string> {
  const ids = selectors.flatMap((selector) => (selector.kind === 'id' ? [selector.id] : []));
  return new Set(ids.filter(isEntityId));
}

/** Whether no list of the whole account is needed. */
function choosesByIdsAlone(selectors: readonly Selector[]): boolean {
  return selectors.length > 0 && selectors.every(({ kind }) => kind === 'id');
}
