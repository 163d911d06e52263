import pLimit, { type LimitFunction } from 'p-limit';
import type { Clock } from '../model/clock.ts';
import { type AccountConfig, quotaOf } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import { RateLimiter } from './rate-limiter.ts';

/** An account that uses a key. */
export interface Member {
  readonly name: string;
  /** Equal for those whose keys are in one place, of which the check of the configuration warns. */
  readonly budgetId: string;
  /** Calls that the account may send in any 60 seconds. */
  readonly requestsPerMinute: number;
  /** Its share of the limit may be another one. */
  shareMayHaveChanged(): void;
}

/** Whom the vendor knows by a key at one address, and the calls in flight for all quotas of that key. */
interface KeyUser {
  readonly id: string;
  readonly inFlight: LimitFunction;
}

/**
 * A key in use for one of the vendor's quotas, or one that was used in the last minutes: its rate limiter, and the accounts that
 * share it evenly. Its limit is the smallest one of its members.
 */
export class Key {
  readonly limiter: RateLimiter;
  readonly user: KeyUser;
  readonly #members = new Set<Member>();
  #unwatch: (() => void) | undefined;

  constructor(limiter: RateLimiter, user: KeyUser) {
    this.limiter = limiter;
    this.user = user;
  }

  get members(): ReadonlySet<Member> {
    return this.#members;
  }

  add(member: Member): void {
    this.#members.add(member);
    this.#unwatch ??= this.limiter.onLimitChange(() => {
      this.#tellMembers();
    });
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
    const limits = Array.from(this.#members, ({ requestsPerMinute }) => requestsPerMinute);
    // Without members the limit of the last one stays.
    if (limits.length > 0) this.limiter.resize(Math.min(...limits));
    this.#tellMembers();
  }

  /** Calls a minute that each member may plan with. */
  sharePerMinute(): number {
    return this.limiter.limitPerMinute() / Math.max(1, this.#members.size);
  }

  async #membersChangeAfterTurn(): Promise<void> {
    await Promise.resolve();
    this.membersChanged();
    if (this.#members.size > 0) return;
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  #tellMembers(): void {
    for (const member of this.#members) member.shareMayHaveChanged();
  }
}

/** Where a key is sent, and by what the vendor counts its calls there. */
export type KeyPlace = Pick<AccountConfig, 'baseUrl' | 'source'>;

/** What New Relic allows a user at a time; it names no such number for the REST API. */
const mostInFlight = { nerdgraph: 25, rest: Number.POSITIVE_INFINITY } as const;

/**
 * The keys of the process: one for each value at each base URL and quota. Lives as long as the process, so
 * that no reload forgets what was sent with a key.
 */
export class KeyTable {
  readonly clock: Clock;
  readonly #logger: Logger;
  readonly #keys = new Map<string, Key>();
  readonly #warned = new Set<string>();

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.clock = clock;
    this.#logger = logger;
  }

  /** @param requestsPerMinute the limit of a key that is not known yet, until a member joins it */
  find(place: KeyPlace, apiKey: string, requestsPerMinute: number): Key {
    const id = JSON.stringify([new URL(place.baseUrl).href, quotaOf(place), apiKey]);
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    this.#forgetUnused();
    const user = this.#userOf(place, apiKey);
    const limiter = new RateLimiter(
      { apiKey, requestsPerMinute, inFlight: user.inFlight },
      { clock: this.clock, roomAgain: () => this.#pumpAllOf(user) },
    );
    const key = new Key(limiter, user);
    this.#keys.set(id, key);
    return key;
  }

  /** Adds a member to a key, and warns if other accounts use the key. */
  add(key: Key, member: Member): void {
    for (const other of key.members) this.#warnOnce(other, member);
    key.add(member);
  }

  #userOf(place: KeyPlace, apiKey: string): KeyUser {
    const id = JSON.stringify([new URL(place.baseUrl).href, place.source.kind, apiKey]);
    for (const { user } of this.#keys.values()) if (user.id === id) return user;
    return { id, inFlight: pLimit(mostInFlight[place.source.kind]) };
  }

  /** Gives room in flight to the keys in turn: those that had their turn go to the end. */
  #pumpAllOf({ id: userId, inFlight }: KeyUser): void {
    for (const [id, key] of Array.from(this.#keys)) {
      if (key.user.id !== userId) continue;
      if (inFlight.activeCount + inFlight.pendingCount >= inFlight.concurrency) return;
      this.#keys.delete(id);
      this.#keys.set(id, key);
      key.limiter.pump();
    }
  }

  #forgetUnused(): void {
    for (const [id, { members, limiter }] of this.#keys) {
      if (members.size === 0 && limiter.isPristine()) this.#keys.delete(id);
    }
  }

  #warnOnce(one: Member, other: Member): void {
    const [first, second] = [one.name, other.name];
    const pair = JSON.stringify([first, second].toSorted());
    const isTold = one.budgetId === other.budgetId || this.#warned.has(pair);
    if (first === second || isTold) return;
    this.#warned.add(pair);
    const remedy =
      'they share its limit evenly, the smaller requests_per_minute of the two; give each account a ' +
      'key of its own, or make them one account';
    this.#logger.warn({ accounts: [first, second], remedy }, 'accounts with the same API key');
  }
}
