import type { ApiError, FailureReason } from '../../model/api-error.ts';
import type { Application } from '../../model/application.ts';
import type { Clock } from '../../model/clock.ts';
import type { Discovery, Source } from '../../model/source.ts';
import { hourMs } from '../../model/time.ts';
import { isEntityId } from '../answer.ts';
import { failureOf } from '../failures.ts';
import type { RestContext } from './answer.ts';
import type { PayloadApplication } from './application-payload.ts';
import { readApplications } from './lists.ts';
import type { PagedList } from './paging.ts';

// As many as the vendor puts on a page. A URL with this many ids stays under 4 kB.
const idsPerCall = 200;

// Calls in one discovery to find out which ids of a batch with 404 are gone: sixteen find the first among 200.
const maxSplitCalls = 48;

// Calls in one discovery for single ids that an answer for several ids left out.
const maxLookUps = 10;

/**
 * Finds what the selectors may choose from: asks for ids if all of them are ids, else reads the list of the
 * whole account. Keeps the contract of `Source.discover`, and remembers which ids it has looked up.
 */
export function createRestDiscovery(context: RestContext): Source['discover'] {
  const lookUps = new LookUps(context.clock);
  return async ({ selectors }, knownIds, signal) => {
    const read: ReadApplications = async (asked) => readApplications(asked, context, { signal });
    const search = new Search(read, signal);
    const ids = selectors.flatMap((selector) => (selector.kind === 'id' ? [selector.id] : []));
    // A text that is not a number cannot be the id of an application.
    const wanted = new Set(ids.filter(isEntityId));
    const known = new Set(knownIds);
    const isListed = selectors.length === 0 || selectors.some(({ kind }) => kind !== 'id');
    const pendingIds = isListed
      ? await findListed(wanted, known, search, lookUps)
      : await findByIds({ wanted, lost: [], known, isListed }, search, lookUps);
    lookUps.keepOnly((id) => wanted.has(id) && !search.has(id));
    const discovery = { ...search.result(), pendingIds };
    signal.throwIfAborted();
    return discovery;
  };
}

/** Reads the list of the account, and looks up what is not in it. Returns the ids that may or may not be there. */
async function findListed(
  wanted: ReadonlySet<string>,
  known: ReadonlySet<string>,
  search: Search,
  lookUps: LookUps,
): Promise<readonly string[]> {
  const list = await search.list();
  if (list.error !== undefined) {
    return [...wanted].filter((id) => !search.has(id) && !lookUps.isAbsent(id));
  }
  const others = [...known].filter((id) => !wanted.has(id));
  const missing = others.filter((id) => !search.has(id));
  const lost = unconfirmedAbsences(missing, others.length, list.calls);
  const pending = await findByIds({ wanted, lost, known, isListed: true }, search, lookUps);
  const stillThere = lost.filter((id) => search.has(id)).length;
  const detail = `the list left out most of the known applications, but at least ${stillThere} of them are still there`;
  if (list.calls === 1 && stillThere > 0) {
    search.fail(failureOf({ operation: 'list_applications' }, 'server', detail));
  }
  return pending;
}

/**
 * Known applications that the list left out, perhaps by mistake: pages shift while applications come and go.
 * A list of one page is trusted unless it lacks most of what was known; then a few look-ups check it.
 */
function unconfirmedAbsences(
  missing: readonly string[],
  knownCount: number,
  pages: number,
): readonly string[] {
  if (pages > 1) return missing;
  return missing.length * 2 > knownCount ? missing.slice(0, idsPerCall) : [];
}

interface IdQuestion {
  /** Ids that entries name. Such an id is absent if it was asked for alone and was not there. */
  readonly wanted: ReadonlySet<string>;
  /** Known applications that the list left out. Such an id is absent if a look-up leaves it out too. */
  readonly lost: readonly string[];
  readonly known: ReadonlySet<string>;
  /** Whether the list of the whole account was read: what is not in it is not in the account. */
  readonly isListed: boolean;
}

/**
 * Asks for ids, 200 at a time, then alone for some of those that an answer left out: the vendor documents
 * neither how many ids it accepts at once nor the order of its pages. The next discoveries ask for the rest.
 * Returns the ids that may or may not be in the account.
 *
 * Ids that are probably there are asked for first, and apart from the rest: one unknown id may make the
 * vendor answer 404 for all. Absent ids are asked for apart too: they are found as soon as they are back.
 */
async function findByIds(
  { wanted, lost, known, isListed }: IdQuestion,
  search: Search,
  lookUps: LookUps,
): Promise<readonly string[]> {
  const ids = [...wanted, ...lost].filter((id) => !search.has(id));
  const absent = ids.filter((id) => lookUps.isAbsent(id));
  const open = ids.filter((id) => !lookUps.isAbsent(id));
  const likely = open.filter((id) => known.has(id));
  const unsure = lookUps.inTurn(open.filter((id) => !known.has(id)));

  for (const batch of [...batchesOf(likely), ...batchesOf(unsure)]) await search.ask(batch);
  // That absent ids are not found is no news.
  if (!isListed) for (const batch of batchesOf(absent)) await search.askOnce(batch, false);

  const isAsked = (id: string): boolean => search.askedAlone.has(id);
  const isUnconfirmed = (id: string): boolean =>
    wanted.has(id) && search.leftOut.has(id) && !isAsked(id);
  const unconfirmed = [
    ...likely.filter(isUnconfirmed),
    ...lookUps.inTurn([
      ...unsure.filter(isUnconfirmed),
      ...absent.filter((id) => !search.has(id) && !isAsked(id) && lookUps.isDue(id)),
    ]),
  ];
  for (const id of unconfirmed.slice(0, maxLookUps)) await search.askOnce([id], true);

  for (const [id, isAbsent] of search.askedAlone) lookUps.note(id, isAbsent && search.isAnswered);
  return ids.filter(
    (id) => !search.has(id) && !lookUps.isAbsent(id) && (wanted.has(id) || !search.leftOut.has(id)),
  );
}

function batchesOf(ids: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(ids.length / idsPerCall);
  return Array.from({ length: count }, (_, index) =>
    ids.slice(index * idsPerCall, (index + 1) * idsPerCall),
  );
}

// After one of these failures the other calls of the discovery would fail in the same way.
const endingReasons: ReadonlySet<FailureReason> = new Set([
  'auth',
  'throttled',
  'redirect',
  'dns',
  'connect',
  'tls',
]);

type ApplicationList = PagedList<PayloadApplication>;
type ReadApplications = (ids: readonly string[] | undefined) => Promise<ApplicationList>;

/** The calls of one discovery, and what they have found. If an application is listed twice, the first counts. */
class Search {
  readonly #read: ReadApplications;
  readonly #signal: AbortSignal;
  readonly #found = new Map<string, Application>();
  readonly #unreadable = new Set<string>();
  /** Ids that the answer to a call for them, alone or with others, left out. */
  readonly leftOut = new Set<string>();
  /** The ids that were asked for alone and not found; `true` if the vendor said that they are not there. */
  readonly askedAlone = new Map<string, boolean>();
  #firstError: ApiError | undefined;
  #firstNotFound: ApiError | undefined;
  #isAnswered = false;
  /** Whether a call failed in such a way that the next one would fail too. */
  #isFinal = false;
  #splitCallsLeft = maxSplitCalls;
  #calls = 0;
  #lookUpCalls = 0;

  constructor(read: ReadApplications, signal: AbortSignal) {
    this.#read = read;
    this.#signal = signal;
  }

  /** Whether any call was answered with a list; if not, a 404 says nothing about an id. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  has(id: string): boolean {
    return this.#found.has(id) || this.#unreadable.has(id);
  }

  /** Reads the list of the whole account. */
  async list(): Promise<ApplicationList> {
    const list = await this.#read(undefined);
    this.#take(list);
    this.#ended(list.error);
    return list;
  }

  /**
   * Asks for ids in one call. The vendor does not document what 404 means for several: one unknown id may be
   * the reason. So after a 404 it asks for each half, down to single ids.
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

  /**
   * Asks for ids, if calls may still be made. The vendor may leave out unknown ids or answer with 404: so a
   * 404 is not a failure, unless every call is answered with it.
   *
   * @param isRare whether the next discovery will probably not make this call
   */
  async askOnce(ids: readonly string[], isRare: boolean): Promise<ApiError | undefined> {
    if (this.#signal.aborted || this.#isFinal) return undefined;
    const list = await this.#read(ids);
    const { error } = list;
    const isNotFound = error?.reason === 'not_found';
    this.#take(list);
    if (isRare) this.#lookUpCalls += list.calls;
    if (isNotFound) this.#firstNotFound ??= error;
    else this.#ended(error);
    const isAlone = ids.length === 1;
    const isConclusive = error === undefined || (isAlone && isNotFound);
    for (const id of ids.filter((one) => !this.has(one))) {
      if (isConclusive) this.leftOut.add(id);
      if (isAlone) this.askedAlone.set(id, isConclusive);
    }
    return error;
  }

  /** Notes that the discovery is incomplete. */
  fail(error: ApiError): void {
    if (endingReasons.has(error.reason)) this.#isFinal = true;
    this.#firstError ??= error;
  }

  result(): Omit<Discovery, 'pendingIds'> {
    const error = this.#firstError ?? (this.#isAnswered ? undefined : this.#firstNotFound);
    return {
      applications: [...this.#found.values()],
      complete: error === undefined,
      unreadableIds: [...this.#unreadable].filter((id) => !this.#found.has(id)),
      calls: this.#calls,
      lookUpCalls: this.#lookUpCalls,
      error,
    };
  }

  #take({ items, calls }: ApplicationList): void {
    for (const { id, application } of items) {
      if (application === undefined) this.#unreadable.add(id);
      else if (!this.#found.has(id)) this.#found.set(id, application);
    }
    this.#calls += calls;
  }

  #ended(error: ApiError | undefined): void {
    if (error === undefined) this.#isAnswered = true;
    else this.fail(error);
  }
}

/** How long an absent id is not asked for alone again: that would leave no budget for the others. */
const absentForMs = hourMs;

/** Which ids were asked for alone, and which of them the account does not have. */
class LookUps {
  readonly #clock: Clock;
  readonly #asked = new Map<string, { readonly askedMs: number; readonly isAbsent: boolean }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the id was not there when it was last asked for alone, however long ago. */
  isAbsent(id: string): boolean {
    return this.#asked.get(id)?.isAbsent === true;
  }

  isDue(id: string): boolean {
    return !this.isAbsent(id) || this.#clock.monotonicMs() - this.#askedMs(id) >= absentForMs;
  }

  /** The ids in the order in which to ask for them: those never asked for, then the longest ago. */
  inTurn(ids: readonly string[]): readonly string[] {
    return ids.toSorted((left, right) => this.#askedMs(left) - this.#askedMs(right));
  }

  /** Notes that the id was asked for alone. An absent id stays absent until it is found. */
  note(id: string, isAbsent: boolean): void {
    const askedMs = this.#clock.monotonicMs();
    this.#asked.set(id, { askedMs, isAbsent: isAbsent || this.isAbsent(id) });
  }

  /** Forgets the other ids: those that were found, and those that are no longer configured. */
  keepOnly(isKept: (id: string) => boolean): void {
    for (const id of this.#asked.keys()) if (!isKept(id)) this.#asked.delete(id);
  }

  #askedMs(id: string): number {
    return this.#asked.get(id)?.askedMs ?? -Number.MAX_VALUE;
  }
}
