import type { Clock } from '../model/clock.ts';
import { type AccountConfig, budgetIdOf } from '../model/config.ts';
import type { Permit, Refusals } from '../model/permit.ts';
import type { Key, KeyPlace, KeyTable, Member } from './key-table.ts';
import type { Claimant } from './rate-limiter.ts';
import { SlidingWindowLog } from './sliding-window-log.ts';

/** An account, as far as it decides about the calls with its key. */
type MembershipOptions = KeyPlace & Pick<AccountConfig, 'name' | 'apiKey' | 'requestsPerMinute'>;

/**
 * One account's part in the rate limiter of its key. What it may plan with is the limit of the key, or an
 * even share of it when other accounts use the key as well.
 */
export class Membership implements Member, Claimant {
  readonly name: string;
  readonly budgetId: string;
  readonly #place: KeyPlace;
  readonly #keys: KeyTable;
  readonly #clock: Clock;
  readonly #calls = new SlidingWindowLog();
  readonly #listeners = new Set<() => void>();
  #requestsPerMinute: number;
  #apiKey: string;
  #key: Key;
  /** Then the key may be forgotten at any time. */
  #hasLeft = false;
  #wake = (): void => undefined;
  #knownShare = 0;

  constructor(options: MembershipOptions, apiKey: string, keys: KeyTable) {
    this.name = options.name;
    this.budgetId = budgetIdOf(options);
    this.#clock = keys.clock;
    this.#place = options;
    this.#keys = keys;
    this.#requestsPerMinute = options.requestsPerMinute;
    this.#apiKey = apiKey;
    this.#key = this.#findKey();
    keys.add(this.#key, this);
    this.#knownShare = this.limitPerMinute();
  }

  get requestsPerMinute(): number {
    return this.#requestsPerMinute;
  }

  mayTake(isSpaced: boolean): boolean {
    return !this.#hasLeft && this.#key.limiter.mayTake(this, isSpaced);
  }

  take(): Permit {
    const permit = this.#key.limiter.take();
    // Forgets those that have ended, so that their number is bounded.
    this.callsLastMinute();
    this.#calls.acquire();
    return {
      ...permit,
      release: (isAnswered) => {
        this.#calls.release(this.#clock.monotonicMs());
        permit.release(isAnswered);
      },
    };
  }

  /** Who is woken when a permit may be taken. */
  onWake(wake: () => void): void {
    this.#wake = wake;
  }

  wake(): void {
    this.#wake();
  }

  dueSinceMs(): number | undefined {
    return this.#key.limiter.dueSinceMs();
  }

  /** Calls of the account that are in flight, or ended in the last 60 seconds, with whatever key. */
  callsLastMinute(): number {
    return this.#calls.used(this.#clock.monotonicMs());
  }

  /** When the pause of the key ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined {
    return this.#key.limiter.pausedUntilMs();
  }

  refusals(): Refusals | undefined {
    return this.#key.limiter.refusals();
  }

  /** Calls a minute that the account may plan with at present. */
  limitPerMinute(): number {
    return this.#key.sharePerMinute();
  }

  /** Whether the vendor's 429s have reduced the limit of the key. */
  isReduced(): boolean {
    return this.#key.limiter.isReduced();
  }

  /** Sets another limit of the account. */
  resize(requestsPerMinute: number): void {
    this.#requestsPerMinute = requestsPerMinute;
    if (!this.#hasLeft) this.#key.membersChanged();
  }

  /** Moves to another key. Permits that were given keep their key. */
  rekey(apiKey: string): void {
    if (apiKey === this.#apiKey || this.#hasLeft) return;
    this.#apiKey = apiKey;
    const before = this.#key;
    this.#key = this.#findKey();
    this.#keys.add(this.#key, this);
    before.remove(this);
    before.limiter.forget(this);
    this.#wake();
  }

  /** Calls the listener whenever `limitPerMinute` has changed. The returned function unsubscribes it. */
  onLimitChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  shareMayHaveChanged(): void {
    const share = this.limitPerMinute();
    if (share === this.#knownShare) return;
    this.#knownShare = share;
    for (const listener of this.#listeners) listener();
  }

  /**
   * The account has stopped, and gets no more permits. What it sent still counts, and its limit holds
   * until the end of this turn: an account that replaces it should join by then.
   */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#listeners.clear();
    this.#key.limiter.forget(this);
    this.#key.remove(this);
  }

  #findKey(): Key {
    return this.#keys.find(this.#place, this.#apiKey, this.#requestsPerMinute);
  }
}
