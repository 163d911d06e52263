import type { Clock } from '../model/clock.ts';
import { type AccountConfig, quotaOf } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';

/** An account that uses a key. */
export interface Member {
  readonly name: string;
  /** Calls that the account may send in any 60 seconds. */
  readonly requestsPerMinute: number;
  /** Calls a minute that the account needs; `Infinity` while that is not known. */
  readonly demandPerMinute: number;
  /** Whether anybody wants to know of changes of its share. */
  readonly isWatching: boolean;
  /** Its share of the limit may be another one. */
  shareMayHaveChanged(): void;
}

/**
 * A key in use for one of the vendor's quotas, or one that was used in the last minutes: its rate limiter, and the accounts that
 * share it. Its limit is the smallest one of its members.
 */
export class Key {
  readonly limiter: RateLimiter;
  readonly #members = new Set<Member>();
  #unwatch: (() => void) | undefined;

  constructor(limiter: RateLimiter) {
    this.limiter = limiter;
  }

  get members(): ReadonlySet<Member> {
    return this.#members;
  }

  add(member: Member): void {
    this.#members.add(member);
    this.membersChanged();
  }

  /**
   * Removes a member at once. The others learn of it at the end of this turn, so that no call goes in
   * between when a reload puts another account there by then.
   */
  remove(member: Member): void {
    this.#members.delete(member);
    void this.#membersChangeAfterTurn();
  }

  /** To be called when something about a member has changed. */
  membersChanged(): void {
    const members = [...this.#members];
    if (members.some(({ isWatching }) => isWatching)) {
      this.#unwatch ??= this.limiter.onLimitChange(() => {
        this.#tellMembers();
      });
    } else {
      this.#unwatch?.();
      this.#unwatch = undefined;
    }
    // Without members the limit of the last one stays.
    if (members.length > 0) {
      this.limiter.resize(Math.min(...members.map(({ requestsPerMinute }) => requestsPerMinute)));
    }
    this.#tellMembers();
  }

  /** Calls a minute that a member may plan with; for anybody else the whole limit. */
  shareOf(member: Member): number {
    const members = [...this.#members];
    const limit = this.limiter.limitPerMinute();
    const demands = members.map(({ demandPerMinute }) => demandPerMinute);
    return fairShares(limit, demands)[members.indexOf(member)] ?? limit;
  }

  async #membersChangeAfterTurn(): Promise<void> {
    await Promise.resolve();
    this.membersChanged();
  }

  #tellMembers(): void {
    for (const member of this.#members) member.shareMayHaveChanged();
  }
}

/** Where a key is sent, and by what the vendor counts its calls there. */
export type KeyPlace = Pick<AccountConfig, 'baseUrl' | 'source'>;

export interface KeyTableDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The keys of the process. */
export class KeyTable {
  readonly #dependencies: KeyTableDependencies;
  readonly #keys = new Map<string, Key>();
  readonly #warned = new Set<string>();

  constructor(dependencies: KeyTableDependencies) {
    this.#dependencies = dependencies;
  }

  /** @param requestsPerMinute the limit of a key that is not known yet, until a member joins it */
  find(place: KeyPlace, apiKey: string, requestsPerMinute: number): Key {
    const id = JSON.stringify([new URL(place.baseUrl).href, quotaOf(place), apiKey]);
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    this.#forgetUnused();
    const key = new Key(createRateLimiter({ apiKey, requestsPerMinute }, this.#dependencies));
    this.#keys.set(id, key);
    return key;
  }

  /** Adds a member to a key, and warns if other accounts use the key. */
  add(key: Key, member: Member): void {
    for (const other of key.members) this.#warnOnce(other.name, member.name);
    key.add(member);
  }

  #forgetUnused(): void {
    for (const [id, { members, limiter }] of this.#keys) {
      if (members.size === 0 && limiter.isPristine()) this.#keys.delete(id);
    }
  }

  #warnOnce(first: string, second: string): void {
    const pair = JSON.stringify([first, second].toSorted());
    if (first === second || this.#warned.has(pair)) return;
    this.#warned.add(pair);
    const remedy =
      'they share its limit, the smaller requests_per_minute of the two; give each account a key ' +
      'of its own, or make them one account';
    this.#dependencies.logger.warn(
      { accounts: [first, second], remedy },
      'accounts with the same API key',
    );
  }
}

/**
 * Max-min fair shares of a limit: no share can grow without taking from a smaller one, and none is
 * larger than its demand as long as others want more. What nobody wants is divided equally. A demand
 * that is not known is `Infinity`.
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
