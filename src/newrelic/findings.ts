import type { ApiError, FailureReason } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { Discovery } from '../model/source.ts';
import type { ApplicationList } from './lists.ts';

// After one of these the other calls of the discovery would fail in the same way.
const endingReasons: ReadonlySet<FailureReason> = new Set([
  'auth',
  'throttled',
  'redirect',
  'dns',
  'connect',
  'tls',
]);

/** What the calls of one discovery have brought so far. */
export interface Findings {
  /** Whether it was found, or stands there without being readable. */
  has(id: string): boolean;
  add(list: ApplicationList): void;
  /**
   * Adds the answer to a question for ids. Whether unknown ones are left out or answered with 404 is
   * not documented: a 404 is no failure, unless everything is answered with it.
   */
  addLookUp(list: ApplicationList): void;
  /** The answers cannot be all: the discovery is incomplete. */
  fail(error: ApiError): void;
  /** Whether any call was answered with a list. */
  isAnswered(): boolean;
  /** Whether a call failed in a way in which the next one would fail too. */
  isFinal(): boolean;
  result(): Omit<Discovery, 'pendingIds'>;
}

/** Collects lists. Of an application that stands in several places the first one counts. */
export function createFindings(): Findings {
  const found = new Map<string, Application>();
  const unreadable = new Set<string>();
  let firstError: ApiError | undefined;
  let firstNotFound: ApiError | undefined;
  let isAnswered = false;
  let isFinal = false;
  let calls = 0;

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
    addLookUp: (list) => {
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
      error: errorOf(),
    }),
  };
}
