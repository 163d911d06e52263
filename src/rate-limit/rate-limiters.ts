import type { Clock } from '../model/clock.ts';
import type { CallLimit } from '../model/source.ts';
import {
  type Key,
  type KeyPlace,
  KeyTable,
  type KeyTableDependencies,
  type Member,
} from './key-table.ts';
import type { Permit, RateLimiter } from './rate-limiter.ts';
import { createSlidingWindowLog } from './sliding-window-log.ts';

export interface JoinOptions extends KeyPlace {
  /** The account, for the log. */
  readonly name: string;
  /** Calls in any 60 seconds, at least 1. */
  readonly requestsPerMinute: number;
}

/**
 * One account's part in the rate limiter of its key. What it may plan with is the limit of the key, or its
 * fair share of it when other accounts use the key as well.
 */
export interface Membership extends CallLimit {
  /**
   * Waits for a permit of the current key; urgent calls go before the others that wait. Rejects with
   * the signal's reason.
   */
  acquire(urgent: boolean, signal: AbortSignal): Promise<Permit>;
  /** When the pause of the key ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined;
  /** Calls of the account that are in flight, or ended in the last 60 seconds, with whatever key. */
  callsLastMinute(): number;
  /** Whether the vendor's 429s have reduced the limit of the key. */
  isReduced(): boolean;
  /** Sets another limit of the account. */
  resize(requestsPerMinute: number): void;
  /** Moves to another key, with all calls that wait. Permits that were given keep their key. */
  rekey(apiKey: string): void;
  /**
   * The account has stopped. What it sent still counts, and its limit holds until the end of this
   * turn: an account that replaces it should join by then.
   */
  leave(): void;
}

/** The rate limiters of all keys: one for each key value at each base URL and quota. */
export interface RateLimiters {
  join(options: JoinOptions, apiKey: string): Membership;
}

/**
 * Lives as long as the process, so that no reload forgets what was sent with a key. The limit of a
 * key is the smallest `requestsPerMinute` of the accounts that use it.
 */
export function createRateLimiters(dependencies: KeyTableDependencies): RateLimiters {
  const keys = new KeyTable(dependencies);
  const { clock } = dependencies;
  return { join: (options, apiKey) => new AccountMembership(options, apiKey, { keys, clock }) };
}

/** An account that has found no application yet still plans with this, to find the first one. */
const minDemandPerMinute = 1;

class AccountMembership implements Membership, Member {
  readonly name: string;
  readonly #place: KeyPlace;
  readonly #keys: KeyTable;
  readonly #clock: Clock;
  readonly #calls = createSlidingWindowLog();
  readonly #listeners = new Set<() => void>();
  #requestsPerMinute: number;
  #demandPerMinute = Number.POSITIVE_INFINITY;
  #apiKey: string;
  /** `undefined` once the account has left: then the key may be forgotten at any time. */
  #key: Key | undefined;
  #knownLimit = 0;

  constructor(
    options: JoinOptions,
    apiKey: string,
    { keys, clock }: { readonly keys: KeyTable; readonly clock: Clock },
  ) {
    this.name = options.name;
    this.#clock = clock;
    this.#place = options;
    this.#keys = keys;
    this.#requestsPerMinute = options.requestsPerMinute;
    this.#apiKey = apiKey;
    this.#key = this.#findKey();
    keys.add(this.#key, this);
    this.#knownLimit = this.limitPerMinute();
  }

  get requestsPerMinute(): number {
    return this.#requestsPerMinute;
  }

  get demandPerMinute(): number {
    return this.#demandPerMinute;
  }

  get isWatching(): boolean {
    return this.#listeners.size > 0;
  }

  async acquire(urgent: boolean, signal: AbortSignal): Promise<Permit> {
    for (;;) {
      const permit = await this.#limiter().acquire({ urgent, owner: this }, signal);
      // Without one the account has moved to another key meanwhile.
      if (permit !== undefined) return this.#counted(permit);
    }
  }

  callsLastMinute(): number {
    return this.#calls.used(this.#clock.monotonicMs());
  }

  pausedUntilMs(): number | undefined {
    return this.#limiter().pausedUntilMs();
  }

  limitPerMinute(): number {
    return (this.#key ?? this.#findKey()).shareOf(this);
  }

  isReduced(): boolean {
    return this.#limiter().isReduced();
  }

  demand(callsPerMinute: number): void {
    this.#demandPerMinute = Math.max(minDemandPerMinute, callsPerMinute);
    this.#key?.membersChanged();
  }

  resize(requestsPerMinute: number): void {
    this.#requestsPerMinute = requestsPerMinute;
    this.#key?.membersChanged();
  }

  rekey(apiKey: string): void {
    if (apiKey === this.#apiKey) return;
    this.#apiKey = apiKey;
    const before = this.#key;
    if (before === undefined) return;
    this.#key = this.#findKey();
    this.#keys.add(this.#key, this);
    before.remove(this);
    before.limiter.evict(this);
  }

  onLimitChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#key?.membersChanged();
    return () => {
      this.#listeners.delete(listener);
      this.#key?.membersChanged();
    };
  }

  shareMayHaveChanged(): void {
    const limit = this.limitPerMinute();
    if (limit === this.#knownLimit) return;
    this.#knownLimit = limit;
    for (const listener of this.#listeners) listener();
  }

  leave(): void {
    this.#listeners.clear();
    const key = this.#key;
    this.#key = undefined;
    key?.remove(this);
  }

  #counted(permit: Permit): Permit {
    // Forgets those that have ended, so that their number is bounded.
    this.callsLastMinute();
    this.#calls.acquire();
    return {
      ...permit,
      release: () => {
        this.#calls.release(this.#clock.monotonicMs());
        permit.release();
      },
    };
  }

  #findKey(): Key {
    return this.#keys.find(this.#place, this.#apiKey, this.#requestsPerMinute);
  }

  #limiter(): RateLimiter {
    return (this.#key ?? this.#findKey()).limiter;
  }
}
