import type { ApiError, FailureReason } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { Clock } from '../model/clock.ts';
import type { Discovery } from '../model/source.ts';
import { hourMs } from '../model/time.ts';
import type { ApplicationList } from './lists.ts';

// After one of these failures the other calls of the discovery would fail in the same way.
const endingReasons: ReadonlySet<FailureReason> = new Set([
  'auth',
  'throttled',
  'redirect',
  'dns',
  'connect',
  'tls',
]);

/** What the calls of one discovery have found so far. */
export interface Findings {
  /** Whether the id was found, readable or not. */
  has(id: string): boolean;
  add(list: ApplicationList): void;
  /**
   * Adds the answer to a call for ids. The vendor does not document whether it leaves out unknown
   * ids or answers with 404. So a 404 is not a failure, unless every call is answered with it.
   *
   * @param isRare whether the next discovery will probably not make this call
   */
  addLookUp(list: ApplicationList, isRare: boolean): void;
  /** Notes that the discovery is incomplete. */
  fail(error: ApiError): void;
  /** Whether any call was answered with a list. */
  isAnswered(): boolean;
  /** Whether a call failed in such a way that the next one would fail too. */
  isFinal(): boolean;
  result(): Omit<Discovery, 'pendingIds'>;
}

/** Collects lists. If an application is listed several times, the first one counts. */
export function createFindings(): Findings {
  const found = new Map<string, Application>();
  const unreadable = new Set<string>();
  let firstError: ApiError | undefined;
  let firstNotFound: ApiError | undefined;
  let isAnswered = false;
  let isFinal = false;
  let calls = 0;
  let lookUpCalls = 0;

  const take = (list: ApplicationList): void => {
    for (const application of list.items) {
      if (!found.has(application.id)) found.set(application.id, application);
    }
    for (const id of list.unreadableIds) unreadable.add(id);
    calls += list.calls;
  };
  const add = (list: ApplicationList): void => {
    take(list);
    isAnswered ||= list.error === undefined;
    isFinal ||= list.error !== undefined && endingReasons.has(list.error.reason);
    firstError ??= list.error;
  };
  const errorOf = (): ApiError | undefined =>
    firstError ?? (isAnswered ? undefined : firstNotFound);

  return {
    has: (id) => found.has(id) || unreadable.has(id),
    add,
    addLookUp: (list, isRare) => {
      if (isRare) lookUpCalls += list.calls;
      if (list.error?.reason !== 'not_found') {
        add(list);
        return;
      }
      take(list);
      firstNotFound ??= list.error;
    },
    fail: (error) => {
      firstError ??= error;
    },
    isAnswered: () => isAnswered,
    isFinal: () => isFinal,
    result: () => ({
      applications: [...found.values()],
      complete: errorOf() === undefined,
      unreadableIds: [...unreadable].filter((id) => !found.has(id)),
      calls,
      lookUpCalls,
      error: errorOf(),
    }),
  };
}

/**
 * Remembers which ids were asked for alone, and which of them the account does not have. A look-up
 * for each of them in every discovery would leave no time and no budget for the others.
 */
export interface LookUps {
  /** Whether the id was not there when it was last asked for alone, however long ago. */
  isAbsent(id: string): boolean;
  /** Whether the id may be asked for alone now: not if it was absent less than an hour ago. */
  isDue(id: string): boolean;
  /**
   * The ids in the order in which to ask for them: first those that were never asked for, then the
   * longest ago.
   */
  inTurn(ids: readonly string[]): readonly string[];
  /** Notes that the id was asked for alone. An absent id stays absent until it is found. */
  note(id: string, isAbsent: boolean): void;
  /** Notes that the id was found. */
  forget(id: string): void;
  /** Forgets all other ids, so that no more ids are kept than are configured. */
  keepOnly(ids: ReadonlySet<string>): void;
}

const absentForMs = hourMs;

interface LookUp {
  readonly askedMs: number;
  readonly isAbsent: boolean;
}

export function createLookUps({ clock }: { readonly clock: Clock }): LookUps {
  const asked = new Map<string, LookUp>();
  const askedMs = (id: string): number => asked.get(id)?.askedMs ?? -Number.MAX_VALUE;
  const isAbsent = (id: string): boolean => asked.get(id)?.isAbsent === true;

  return {
    isAbsent,
    isDue: (id) => !isAbsent(id) || clock.monotonicMs() - askedMs(id) >= absentForMs,
    inTurn: (ids) => ids.toSorted((left, right) => askedMs(left) - askedMs(right)),
    note: (id, isAbsentNow) => {
      asked.set(id, { askedMs: clock.monotonicMs(), isAbsent: isAbsentNow || isAbsent(id) });
    },
    forget: (id) => {
      asked.delete(id);
    },
    keepOnly: (ids) => {
      for (const id of asked.keys()) if (!ids.has(id)) asked.delete(id);
    },
  };
}
