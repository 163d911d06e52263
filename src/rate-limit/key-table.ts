import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';

/** An account that uses a key. */
export interface Member {
  readonly name: string;
  readonly requestsPerMinute: () => number;
  readonly demandPerMinute: () => number;
  readonly isWatching: () => boolean;
  /** Something has happened to the limit of the key or to the other members. */
  readonly limitMayHaveChanged: () => void;
}

/** A key in use, or one that was used in the last minutes. */
export interface Key {
  readonly limiter: RateLimiter;
  readonly members: Set<Member>;
  unwatch: (() => void) | undefined;
}

export interface KeyTableDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The keys of the process: the limit of each is the smallest one of its members. */
export class KeyTable {
  readonly #dependencies: KeyTableDependencies;
  readonly #keys = new Map<string, Key>();
  readonly #warned = new Set<string>();

  constructor(dependencies: KeyTableDependencies) {
    this.#dependencies = dependencies;
  }

  find(baseUrl: string, apiKey: string, requestsPerMinute: number): Key {
    const id = JSON.stringify([new URL(baseUrl).href, apiKey]);
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    this.#forgetUnused();
    const limiter = createRateLimiter({ apiKey, requestsPerMinute }, this.#dependencies);
    const key: Key = { limiter, members: new Set(), unwatch: undefined };
    this.#keys.set(id, key);
    return key;
  }

  add(key: Key, member: Member): void {
    for (const other of key.members) this.#warnOnce(other.name, member.name);
    key.members.add(member);
    this.refresh(key);
  }

  /**
   * Removes a member at once; what that means for the others follows at the end of this turn. A
   * reload that puts another account in its place by then lets no call go in between.
   */
  remove(key: Key, member: Member): void {
    key.members.delete(member);
    void this.#refreshAfterTurn(key);
  }

  /** To be called after every change of the members. */
  refresh(key: Key): void {
    const members = [...key.members];
    const isWatched = members.some((member) => member.isWatching());
    if (!isWatched) {
      key.unwatch?.();
      key.unwatch = undefined;
    } else key.unwatch ??= key.limiter.onLimitChange(() => tellMembers(key));
    // Without members the limit of the last one stays.
    if (members.length > 0) {
      key.limiter.resize(Math.min(...members.map((member) => member.requestsPerMinute())));
    }
    tellMembers(key);
  }

  async #refreshAfterTurn(key: Key): Promise<void> {
    await Promise.resolve();
    this.refresh(key);
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

function tellMembers({ members }: Key): void {
  for (const member of members) member.limitMayHaveChanged();
}
