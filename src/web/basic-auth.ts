import { createHmac, randomBytes } from 'node:crypto';
import pLimit from 'p-limit';

/** Whether a password is the one that a bcrypt hash was made of. Rejects if that cannot be found out. */
export type ComparePassword = (hash: string, password: string) => Promise<boolean>;

/** `busy`: another password of this client, or too many of others, are being checked. */
export type Verdict = 'allowed' | 'refused' | 'busy';

/** Names and bcrypt hashes. */
type Users = ReadonlyMap<string, string>;

/** Each takes a tenth of a second or more. */
const mostChecks = 20;

const basic = /^Basic +(?<token>[A-Za-z0-9+/]+={0,2})$/iu;

/** Says which requests have the name and the password of a user. Compares one password after the other. */
export class BasicAuth {
  readonly #compare: ComparePassword;
  readonly #inTurn = pLimit(1);
  /** Makes what is remembered of passwords useless to others. */
  readonly #secret = randomBytes(32);
  /** Of each user the password that was right last: a scraper comes again and again with the same one. */
  readonly #right = new Map<string, string>();
  /** By password, those that are compared or wait for it. */
  readonly #checks = new Map<
    string,
    { readonly client: string; readonly verdict: Promise<Verdict> }
  >();

  constructor(compare: ComparePassword) {
    this.#compare = compare;
  }

  /**
   * Rejects if the password cannot be checked. What was right counts as long as the user has the same hash.
   *
   * @param users at least one
   * @param authorization the header of that name
   * @param client its address
   */
  async check(users: Users, authorization = '', client: string): Promise<Verdict> {
    const token = basic.exec(authorization)?.groups?.['token'] ?? '';
    const [user = '', ...parts] = Buffer.from(token, 'base64').toString().split(':');
    if (parts.length === 0) return 'refused';
    const password = parts.join(':');
    const hash = users.get(user);
    const compared = hash ?? this.#decoyOf(user, [...users.values()]);
    // Names and passwords are never kept, and nobody else can compute this.
    const key = this.#digest(JSON.stringify([user, password, compared])).toString('base64');
    if (this.#right.get(user) === key) return 'allowed';
    const same = this.#checks.get(key);
    if (same !== undefined) return same.verdict;
    const others = [...this.#checks.values()];
    if (others.length >= mostChecks || others.some((one) => one.client === client)) return 'busy';
    const verdict = this.#inTurn(async (): Promise<Verdict> => {
      const isRight = await this.#compare(compared, password);
      if (!isRight || hash === undefined) return 'refused';
      this.#right.set(user, key);
      return 'allowed';
    }).finally(() => this.#checks.delete(key));
    this.#checks.set(key, { client, verdict });
    return verdict;
  }

  #digest(text: string): Buffer {
    return createHmac('sha256', this.#secret).update(text).digest();
  }

  /**
   * The hash that the password of an unknown user is compared with. It has the cost of a known user's
   * hash, always the same one's, so that an answer takes as long for an unknown user as for a known one.
   */
  #decoyOf(user: string, hashes: readonly string[]): string {
    const index = this.#digest(user).readUInt32BE() % hashes.length;
    return (hashes[index] ?? '').slice(0, '$2b$10$'.length) + '.'.repeat(53);
  }
}
