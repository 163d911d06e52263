import { type Key, KeyTable, type KeyTableDependencies, type Member } from './key-table.ts';
import type { Permit, RateLimiter } from './rate-limiter.ts';

export interface JoinOptions {
  /** The account, for the log. */
  readonly name: string;
  readonly baseUrl: string;
  /** Calls in any 60 seconds, at least 1. */
  readonly requestsPerMinute: number;
}

/** One account's part in the rate limiter of its key. */
export interface Membership {
  /**
   * Waits for a permit of the current key; urgent calls go before the others that wait. Rejects with
   * the signal's reason.
   */
  acquire(urgent: boolean, signal: AbortSignal): Promise<Permit>;
  /** When the pause of the key ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined;
  /**
   * Calls a minute that this account may plan with, as of now: the limit of the key, or its fair
   * share of it when other accounts use the key as well.
   */
  limitPerMinute(): number;
  /** Whether the vendor's 429s have reduced the limit of the key. */
  isReduced(): boolean;
  /** The calls a minute that the account needs; what it does not need is left to the others. */
  demand(callsPerMinute: number): void;
  /** Another limit of the account from now on. */
  resize(requestsPerMinute: number): void;
  /** Moves to another key, the calls that wait included. Permits given before keep their key. */
  rekey(apiKey: string): void;
  /** Calls the listener whenever `limitPerMinute` is another one; the returned function ends that. */
  onLimitChange(listener: () => void): () => void;
  /**
   * The account has stopped. What it sent still counts, and so does its limit until the end of this
   * turn: an account that takes its place should join by then.
   */
  leave(): void;
}

/** The rate limiters of all keys: one for each key value at each base URL. */
export interface RateLimiters {
  join(options: JoinOptions, apiKey: string): Membership;
}

/**
 * Lives as long as the process, so that no reload forgets what was sent with a key. The limit of a
 * key is the smallest `requestsPerMinute` of the accounts that use it.
 */
export function createRateLimiters(dependencies: KeyTableDependencies): RateLimiters {
  const keys = new KeyTable(dependencies);
  return { join: (options, apiKey) => new AccountMembership(options, apiKey, keys) };
}

/** Nobody can plan with nothing: an account that found no application yet needs more when it does. */
const leastDemandPerMinute = 1;

class AccountMembership implements Membership {
  readonly #baseUrl: string;
  readonly #keys: KeyTable;
  readonly #member: Member;
  readonly #listeners = new Set<() => void>();
  #requestsPerMinute: number;
  #demandPerMinute = Number.POSITIVE_INFINITY;
  #apiKey: string;
  /** `undefined` once the account has left: then the key may be forgotten at any time. */
  #key: Key | undefined;
  #knownLimit = 0;

  constructor({ name, baseUrl, requestsPerMinute }: JoinOptions, apiKey: string, keys: KeyTable) {
    this.#baseUrl = baseUrl;
    this.#keys = keys;
    this.#requestsPerMinute = requestsPerMinute;
    this.#apiKey = apiKey;
    this.#member = {
      name,
      requestsPerMinute: () => this.#requestsPerMinute,
      demandPerMinute: () => this.#demandPerMinute,
      isWatching: () => this.#listeners.size > 0,
      limitMayHaveChanged: () => {
        this.#announce();
      },
    };
    this.#key = this.#findKey();
    keys.add(this.#key, this.#member);
    this.#knownLimit = this.limitPerMinute();
  }

  async acquire(urgent: boolean, signal: AbortSignal): Promise<Permit> {
    for (;;) {
      const permit = await this.#limiter().acquire({ urgent, owner: this.#member }, signal);
      // Without one the account has moved to another key meanwhile.
      if (permit !== undefined) return permit;
    }
  }

  pausedUntilMs(): number | undefined {
    return this.#limiter().pausedUntilMs();
  }

  limitPerMinute(): number {
    const { limiter, members } = this.#key ?? this.#findKey();
    const all = [...members];
    const index = all.indexOf(this.#member);
    const shares = fairShares(
      limiter.limitPerMinute(),
      all.map((member) => member.demandPerMinute()),
    );
    return shares[index] ?? limiter.limitPerMinute();
  }

  isReduced(): boolean {
    return this.#limiter().isReduced();
  }

  demand(callsPerMinute: number): void {
    this.#demandPerMinute = Math.max(leastDemandPerMinute, callsPerMinute);
    this.#refresh();
  }

  resize(requestsPerMinute: number): void {
    this.#requestsPerMinute = requestsPerMinute;
    this.#refresh();
  }

  rekey(apiKey: string): void {
    if (apiKey === this.#apiKey) return;
    this.#apiKey = apiKey;
    const before = this.#key;
    if (before === undefined) return;
    this.#key = this.#findKey();
    this.#keys.add(this.#key, this.#member);
    this.#keys.remove(before, this.#member);
    before.limiter.evict(this.#member);
  }

  onLimitChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#refresh();
    return () => {
      this.#listeners.delete(listener);
      this.#refresh();
    };
  }

  leave(): void {
    this.#listeners.clear();
    const key = this.#key;
    this.#key = undefined;
    if (key !== undefined) this.#keys.remove(key, this.#member);
  }

  #findKey(): Key {
    return this.#keys.find(this.#baseUrl, this.#apiKey, this.#requestsPerMinute);
  }

  #limiter(): RateLimiter {
    return (this.#key ?? this.#findKey()).limiter;
  }

  #refresh(): void {
    if (this.#key !== undefined) this.#keys.refresh(this.#key);
  }

  #announce(): void {
    const limit = this.limitPerMinute();
    if (limit === this.#knownLimit) return;
    this.#knownLimit = limit;
    for (const listener of this.#listeners) listener();
  }
}

/**
 * Max-min fair parts of a limit: no part can grow without taking from a smaller one, and none is
 * larger than its demand as long as others want more. What all of them leave is divided equally. A
 * demand that is not known is `Infinity`.
 */
export function fairShares(limit: number, demands: readonly number[]): readonly number[] {
  const smallestFirst = demands.map((demand, index) => ({ demand, index }));
  smallestFirst.sort((a, b) => a.demand - b.demand);
  const shares = demands.map(() => 0);
  let left = limit;
  for (const [served, { demand, index }] of smallestFirst.entries()) {
    const share = Math.min(demand, left / (demands.length - served));
    shares[index] = share;
    left -= share;
  }
  return shares.map((share) => share + left / demands.length);
}
