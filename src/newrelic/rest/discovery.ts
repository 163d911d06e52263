import { ApiError } from '../../model/api-error.ts';
import type { Selector } from '../../model/config.ts';
import type { Discovery } from '../../model/source.ts';
import { isEntityId } from '../json.ts';
import { failureOf } from './answer.ts';
import { Findings, type LookUps } from './findings.ts';
import { type ApplicationList, applicationsSubject } from './lists.ts';

export type ReadApplications = (ids: readonly string[] | undefined) => Promise<ApplicationList>;

export interface IdQuestion {
  /** Ids that entries name. Such an id is absent if it was asked for alone and was not there. */
  readonly wanted: ReadonlySet<string>;
  /**
   * Known applications that the list left out. Such an id is absent if a look-up leaves it out too.
   */
  readonly lost: readonly string[];
  readonly known: ReadonlySet<string>;
  /** Whether the list of the whole account was read: what is not in it is not in the account. */
  readonly isListed: boolean;
}

export interface IdDependencies {
  readonly read: ReadApplications;
  readonly findings: Findings;
  readonly lookUps: LookUps;
  /** Whether no more calls may be made in this discovery. */
  readonly isOver: () => boolean;
}

// As many as the vendor puts on a page. A URL with this many ids stays under 4 kB.
const idsPerCall = 200;

// Calls in one discovery to find out which ids of a batch are gone, when the whole batch is
// answered with 404. Sixteen of them find the first such id among 200.
const maxSplitCalls = 48;

// Calls in one discovery for single ids that an answer for several ids left out.
const maxLookUps = 10;

/**
 * Asks for ids in as few calls as possible: 200 at a time. Then it asks alone for some of those
 * that an answer left out, because the vendor documents neither how many ids it accepts at once nor
 * the order of its pages. The next discoveries ask for the rest.
 *
 * Ids that are probably there are asked for first, and apart from the rest: if one unknown id makes
 * the vendor answer 404 for all, it does not affect them. Absent ids are asked for apart too, so
 * that they are found again as soon as they are back.
 *
 * Returns the ids that may or may not be in the account.
 */
async function findByIds(
  { wanted, lost, known, isListed }: IdQuestion,
  dependencies: IdDependencies,
): Promise<readonly string[]> {
  const { findings, lookUps } = dependencies;
  const ids = [...wanted, ...lost].filter((id) => !findings.has(id));
  const absent = ids.filter((id) => lookUps.isAbsent(id));
  const open = ids.filter((id) => !lookUps.isAbsent(id));
  const likely = open.filter((id) => known.has(id));
  const unsure = lookUps.inTurn(open.filter((id) => !known.has(id)));

  const calls = new IdCalls(dependencies);
  for (const batch of [...batchesOf(likely), ...batchesOf(unsure)]) await calls.ask(batch);
  // That absent ids are not found is no news.
  if (!isListed) for (const batch of batchesOf(absent)) await calls.askOnce(batch, false);

  const isAsked = (id: string): boolean => calls.askedAlone.has(id);
  const isUnconfirmed = (id: string): boolean =>
    wanted.has(id) && calls.leftOut.has(id) && !isAsked(id);
  const unconfirmed = [
    ...likely.filter(isUnconfirmed),
    ...lookUps.inTurn([
      ...unsure.filter(isUnconfirmed),
      ...absent.filter((id) => !findings.has(id) && !isAsked(id) && lookUps.isDue(id)),
    ]),
  ];
  for (const id of unconfirmed.slice(0, maxLookUps)) await calls.askOnce([id], true);

  // If no call was answered with a list, a 404 says nothing about the id.
  for (const [id, isAbsent] of calls.askedAlone) {
    lookUps.note(id, isAbsent && findings.isAnswered);
  }
  return ids.filter(
    (id) =>
      !findings.has(id) && !lookUps.isAbsent(id) && (wanted.has(id) || !calls.leftOut.has(id)),
  );
}

/** The calls for ids in one discovery, and what they have shown. */
class IdCalls {
  readonly #dependencies: IdDependencies;
  /** Ids that the answer to a call for them, alone or with others, left out. */
  readonly leftOut = new Set<string>();
  /** The ids that were asked for alone and not found; `true` if the vendor said that they are not there. */
  readonly askedAlone = new Map<string, boolean>();
  #splitCallsLeft = maxSplitCalls;

  constructor(dependencies: IdDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Asks for ids in one call. The vendor does not document what 404 means for several ids: one
   * unknown id may be the reason, while the others are there. So after a 404 it asks for each half,
   * down to single ids.
   */
  async ask(all: readonly string[]): Promise<void> {
    const questions = [all];
    for (let ids = questions.pop(); ids !== undefined; ids = questions.pop()) {
      const error = await this.askOnce(ids, ids !== all);
      if (error?.reason !== 'not_found' || ids.length === 1 || this.#splitCallsLeft < 2) continue;
      this.#splitCallsLeft -= 2;
      const middle = Math.ceil(ids.length / 2);
      // A stack reaches single ids sooner than a queue.
      questions.push(ids.slice(middle), ids.slice(0, middle));
    }
  }

  /** @param isRare whether the next discovery will probably not make this call */
  async askOnce(ids: readonly string[], isRare: boolean): Promise<ApiError | undefined> {
    const { read, findings, isOver } = this.#dependencies;
    if (isOver()) return undefined;
    const list = await read(ids);
    findings.addLookUp(list, isRare);
    const isAlone = ids.length === 1;
    const isConclusive = list.error === undefined || (isAlone && list.error.reason === 'not_found');
    for (const id of ids.filter((one) => !findings.has(one))) {
      if (isConclusive) this.leftOut.add(id);
      if (isAlone) this.askedAlone.set(id, isConclusive);
    }
    return list.error;
  }
}

function batchesOf(ids: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(ids.length / idsPerCall);
  return Array.from({ length: count }, (_, index) =>
    ids.slice(index * idsPerCall, (index + 1) * idsPerCall),
  );
}

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
 * Finds what the selectors may choose from. If all of them are ids, it asks for those ids;
 * otherwise it reads the list of the whole account.
 *
 * An `ApiError` makes the discovery incomplete, also as the reason of an abort. Any other error is
 * passed on.
 */
export async function discoverApplications(
  question: DiscoveryQuestion,
  dependencies: DiscoveryDependencies,
): Promise<Discovery> {
  const { signal } = question;
  const findings = new Findings();
  const pendingIds = await findAll(question, findings, dependencies);
  const discovery = { ...findings.result(), pendingIds };
  for (const { id } of discovery.applications) dependencies.lookUps.forget(id);
  if (!signal.aborted) return discovery;
  if (!(signal.reason instanceof ApiError)) throw signal.reason;
  return { ...discovery, complete: false, error: signal.reason };
}

/** Returns the ids that may or may not be in the account. */
async function findAll(
  { selectors, knownIds, signal }: DiscoveryQuestion,
  findings: Findings,
  { read, lookUps }: DiscoveryDependencies,
): Promise<readonly string[]> {
  const wanted = wantedIdsOf(selectors);
  lookUps.keepOnly(wanted);
  const known = new Set(knownIds);
  const isOver = (): boolean => signal.aborted || findings.isFinal;
  const isListed = !choosesByIdsAlone(selectors);
  let lost: readonly string[] = [];
  let isCutIntoPages = false;
  if (isListed) {
    const list = await read(undefined);
    findings.add(list);
    const unclear = [...wanted].filter((id) => !findings.has(id) && !lookUps.isAbsent(id));
    if (list.error !== undefined) return unclear;
    isCutIntoPages = list.calls > 1;
    lost = unconfirmedAbsences(
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
 * Known applications that the list left out, perhaps by mistake. Pages shift while applications
 * come and go, so an application may be lost between two of them. A list of one page is trusted
 * unless it lacks most of what was known; then a few look-ups are enough to check it.
 */
function unconfirmedAbsences(
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

/** The ids of the selectors. A text that is not a number cannot be the id of an application. */
function wantedIdsOf(selectors: readonly Selector[]): ReadonlySet<string> {
  const ids = selectors.flatMap((selector) => (selector.kind === 'id' ? [selector.id] : []));
  return new Set(ids.filter(isEntityId));
}

/** Whether the list of the whole account is not needed. */
function choosesByIdsAlone(selectors: readonly Selector[]): boolean {
  return selectors.length > 0 && selectors.every(({ kind }) => kind === 'id');
}
