import type { ApiError, FailureReason } from '../../model/api-error.ts';
import type { Application } from '../../model/application.ts';
import type { Clock } from '../../model/clock.ts';
import type { Discovery } from '../../model/source.ts';
import { hourMs } from '../../model/time.ts';
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

/**
 * What the calls of one discovery have found so far. If an application is listed several times, the first
 * one counts.
 */
export class Findings {
  readonly #found = new Map<string, Application>();
  readonly #unreadable = new Set<string>();
  #firstError: ApiError | undefined;
  #firstNotFound: ApiError | undefined;
  #isAnswered = false;
  #isFinal = false;
  #calls = 0;
  #lookUpCalls = 0;

  /** Whether any call was answered with a list. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Whether a call failed in such a way that the next one would fail too. */
  get isFinal(): boolean {
    return this.#isFinal;
  }

  has(id: string): boolean {
    return this.#found.has(id) || this.#unreadable.has(id);
  }

  add(list: ApplicationList): void {
    this.#take(list);
    if (list.error === undefined) this.#isAnswered = true;
    else this.fail(list.error);
  }

  /**
   * Adds the answer to a call for ids. The vendor does not document whether it leaves out unknown
   * ids or answers with 404. So a 404 is not a failure, unless every call is answered with it.
   *
   * @param isRare whether the next discovery will probably not make this call
   */
  addLookUp(list: ApplicationList, isRare: boolean): void {
    if (isRare) this.#lookUpCalls += list.calls;
    if (list.error?.reason === 'not_found') {
      this.#take(list);
      this.#firstNotFound ??= list.error;
    } else this.add(list);
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

  #take({ items, unreadableIds, calls }: ApplicationList): void {
    for (const one of items) if (!this.#found.has(one.id)) this.#found.set(one.id, one);
    for (const id of unreadableIds) this.#unreadable.add(id);
    this.#calls += calls;
  }
}

const absentForMs = hourMs;

/**
 * Remembers which ids were asked for alone, and which of them the account does not have. A look-up
 * for each of them in every discovery would leave no time and no budget for the others.
 */
export class LookUps {
  readonly #clock: Clock;
  readonly #asked = new Map<string, { readonly askedMs: number; readonly isAbsent: boolean }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the id was not there when it was last asked for alone, however long ago. */
  isAbsent(id: string): boolean {
    return this.#asked.get(id)?.isAbsent === true;
  }

  /** Whether the id may be asked for alone now: not if it was absent less than an hour ago. */
  isDue(id: string): boolean {
    return !this.isAbsent(id) || this.#clock.monotonicMs() - this.#askedMs(id) >= absentForMs;
  }

  /**
   * The ids in the order in which to ask for them: first those that were never asked for, then the
   * longest ago.
   */
  inTurn(ids: readonly string[]): readonly string[] {
    return ids.toSorted((left, right) => this.#askedMs(left) - this.#askedMs(right));
  }

  /** Notes that the id was asked for alone. An absent id stays absent until it is found. */
  note(id: string, isAbsent: boolean): void {
    const askedMs = this.#clock.monotonicMs();
    this.#asked.set(id, { askedMs, isAbsent: isAbsent || this.isAbsent(id) });
  }

  /** Notes that the id was found. */
  forget(id: string): void {
    this.#asked.delete(id);
  }

  /** Forgets all other ids, so that no more ids are kept than are configured. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#asked.keys()) if (!ids.has(id)) this.#asked.delete(id);
  }

  #askedMs(id: string): number {
    return this.#asked.get(id)?.askedMs ?? -Number.MAX_VALUE;
  }
}
