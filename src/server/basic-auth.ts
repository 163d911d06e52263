import { createHmac, randomBytes } from 'node:crypto';

/** Whether a password is the one that a bcrypt hash was made of. Rejects if that cannot be found out. */
export type ComparePassword = (hash: string, password: string) => Promise<boolean>;

/** `busy`: too many passwords wait to be checked. */
export type Verdict = 'allowed' | 'refused' | 'busy';

/** Says which requests have the name and the password of a user. */
export interface BasicAuth {
  /**
   * Rejects if the password cannot be checked.
   *
   * @param authorization the header of that name
   * @param client its address: no client may have many passwords checked at the same time
   */
  check(authorization: string | undefined, client: string): Promise<Verdict>;
}

export interface BasicAuthDependencies {
  readonly compare: ComparePassword;
  /** Makes what is remembered of passwords useless to others. Default: random bytes. */
  readonly secret?: Uint8Array;
}

/** A scraper comes again and again with the same password: verdicts on these are remembered. */
const mostRemembered = 1000;
/** Each takes a tenth of a second or more. */
const mostChecks = 32;
const mostChecksOfClient = 2;

interface Credentials {
  readonly user: string;
  readonly password: string;
}

const basic = /^Basic +(?<token>[A-Za-z0-9+/]+={0,2})$/iu;

/** `undefined` if the header is of another kind or form. */
export function credentialsIn(authorization: string | undefined): Credentials | undefined {
  const token = basic.exec(authorization ?? '')?.groups?.['token'];
  if (token === undefined) return undefined;
  const text = Buffer.from(token, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) return undefined;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * The hash that the password of an unknown user is compared with. It has the cost of a known user's
 * hash, always the same one's, so that an answer takes as long for an unknown user as for a known one.
 */
function decoyOf(user: string, hashes: readonly string[], secret: Uint8Array): string {
  const index = createHmac('sha256', secret).update(user).digest().readUInt32BE() % hashes.length;
  const prefix = (hashes[index] ?? '').slice(0, '$2b$10$'.length);
  return prefix + '.'.repeat(53);
}

/** Remembers the newest values only. */
class BoundedSet {
  readonly #values = new Set<string>();

  has(value: string): boolean {
    return this.#values.has(value);
  }

  add(value: string): void {
    this.#values.add(value);
    const [oldest] = this.#values;
    if (this.#values.size > mostRemembered && oldest !== undefined) this.#values.delete(oldest);
  }
}

class CheckedBasicAuth implements BasicAuth {
  readonly #users: ReadonlyMap<string, string>;
  readonly #compare: ComparePassword;
  readonly #secret: Uint8Array;
  // Apart, so that a flood of wrong passwords does not displace the right ones.
  readonly #right = new BoundedSet();
  readonly #wrong = new BoundedSet();
  readonly #checks = new Map<string, Promise<boolean>>();
  readonly #checksOf = new Map<string, number>();

  constructor(
    users: ReadonlyMap<string, string>,
    { compare, secret = randomBytes(32) }: BasicAuthDependencies,
  ) {
    this.#users = users;
    this.#compare = compare;
    this.#secret = secret;
  }

  async check(authorization: string | undefined, client: string): Promise<Verdict> {
    const credentials = credentialsIn(authorization);
    if (credentials === undefined) return 'refused';
    const key = this.#keyOf(credentials);
    if (this.#right.has(key)) return 'allowed';
    if (this.#wrong.has(key)) return 'refused';
    const check = this.#checks.get(key) ?? this.#begin(key, credentials, client);
    if (check === undefined) return 'busy';
    return (await check) ? 'allowed' : 'refused';
  }

  /** Names and passwords are never kept, and nobody else can compute this. */
  #keyOf({ user, password }: Credentials): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify([user, password]))
      .digest('base64');
  }

  /** `undefined` if there are too many checks already. */
  #begin(key: string, credentials: Credentials, client: string): Promise<boolean> | undefined {
    const ofClient = this.#checksOf.get(client) ?? 0;
    if (this.#checks.size >= mostChecks || ofClient >= mostChecksOfClient) return undefined;
    this.#checksOf.set(client, ofClient + 1);
    const check = this.#isRight(credentials)
      .then((isRight) => {
        (isRight ? this.#right : this.#wrong).add(key);
        return isRight;
      })
      .finally(() => {
        this.#checks.delete(key);
        const left = (this.#checksOf.get(client) ?? 1) - 1;
        if (left === 0) this.#checksOf.delete(client);
        else this.#checksOf.set(client, left);
      });
    this.#checks.set(key, check);
    return check;
  }

  async #isRight({ user, password }: Credentials): Promise<boolean> {
    const known = this.#users.get(user);
    const hash = known ?? decoyOf(user, [...this.#users.values()], this.#secret);
    const isMatch = await this.#compare(hash, password);
    return isMatch && known !== undefined;
  }
}

/** Basic authentication for at least one user. What it remembers is for these users and hashes alone. */
export function createBasicAuth(
  users: ReadonlyMap<string, string>,
  dependencies: BasicAuthDependencies,
): BasicAuth {
  return new CheckedBasicAuth(users, dependencies);
}
