import { createHmac, randomBytes } from 'node:crypto';

/** Whether a password is the one that a bcrypt hash was made of. Rejects if that cannot be found out. */
export type ComparePassword = (hash: string, password: string) => Promise<boolean>;

/** `busy`: too many passwords wait to be checked. */
export type Verdict = 'allowed' | 'refused' | 'busy';

/** Names and bcrypt hashes. */
export type Users = ReadonlyMap<string, string>;

/** A scraper comes again and again with the same password: verdicts on these are remembered. */
const mostRemembered = 1000;
/** Each takes a tenth of a second or more. */
const mostChecks = 32;
const mostChecksOfNetwork = 2;

interface Credentials {
  readonly user: string;
  readonly password: string;
}

const basic = /^Basic +(?<token>[A-Za-z0-9+/]+={0,2})$/iu;

/** `undefined` if the header is of another kind or form. */
export function credentialsIn(authorization: string | undefined): Credentials | undefined {
  const token = basic.exec(authorization ?? '')?.groups?.['token'] ?? '';
  const text = Buffer.from(token, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Whoever has one IPv6 address has a network of 2^64 of them. An IPv4 address stands for itself. */
export function networkOf(client: string): string {
  if (client.includes('.')) return client.replace(/^.*:/u, '');
  const [head = '', tail] = client.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  const zeros = tail === undefined ? [] : ['0', '0', '0', '0'];
  return [...groups, ...zeros].slice(0, 4).join(':');
}

/** Remembers the newest keys only. */
function remember<Value>(values: Map<string, Value>, key: string, value: Value): void {
  values.delete(key);
  values.set(key, value);
  const [oldest] = values.keys();
  if (values.size > mostRemembered && oldest !== undefined) values.delete(oldest);
}

/** A password to compare. */
interface Check {
  readonly key: string;
  readonly hash: string;
  readonly isKnownUser: boolean;
  readonly password: string;
  readonly network: string;
  readonly resolve: (verdict: Verdict | Promise<Verdict>) => void;
}

/**
 * Says which requests have the name and the password of a user, and remembers it. Compares one password after
 * the other. Those of the networks that have asked least often come first, and beyond two of a network, or 32
 * of all, the last are told to come again: a flood keeps nobody out who is not part of it.
 */
export class BasicAuth {
  readonly #compare: ComparePassword;
  /** Makes what is remembered of passwords useless to others. */
  readonly #secret = randomBytes(32);
  // Apart, so that a flood of wrong passwords does not displace the right ones.
  readonly #right = new Map<string, true>();
  readonly #wrong = new Map<string, true>();
  /** How many passwords of a network had to be compared, or would have had to be. */
  readonly #asked = new Map<string, number>();
  /** Of the passwords that are compared, or wait for it. */
  readonly #verdicts = new Map<string, Promise<Verdict>>();
  #waiting: readonly Check[] = [];
  #comparing: Check | undefined;

  constructor(compare: ComparePassword) {
    this.#compare = compare;
  }

  /**
   * Rejects if the password cannot be checked. What is remembered of a user counts as long as the user
   * has the same hash.
   *
   * @param users at least one
   * @param authorization the header of that name
   * @param client its address
   */
  async check(users: Users, authorization: string | undefined, client: string): Promise<Verdict> {
    const credentials = credentialsIn(authorization);
    if (credentials === undefined) return 'refused';
    const { user, password } = credentials;
    const isKnownUser = users.has(user);
    const hash = users.get(user) ?? this.#decoyOf(user, [...users.values()]);
    // Names and passwords are never kept, and nobody else can compute this.
    const key = this.#digest(JSON.stringify([user, password, hash])).toString('base64');
    if (this.#right.has(key)) return 'allowed';
    if (this.#wrong.has(key)) return 'refused';
    return (
      this.#verdicts.get(key) ??
      this.#begin({ key, hash, isKnownUser, password, network: networkOf(client) })
    );
  }

  async #begin(asked: Omit<Check, 'resolve'>): Promise<Verdict> {
    const { key, network } = asked;
    remember(this.#asked, network, this.#askedBy(network) + 1);
    const verdict = new Promise<Verdict>((resolve) => {
      this.#enqueue({ ...asked, resolve });
    }).finally(() => this.#verdicts.delete(key));
    this.#verdicts.set(key, verdict);
    void this.#compareAll();
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

  #askedBy(network: string): number {
    return this.#asked.get(network) ?? 0;
  }

  #enqueue(check: Check): void {
    const all = [...this.#waiting, ...(this.#comparing === undefined ? [] : [this.#comparing])];
    if (all.filter(({ network }) => network === check.network).length >= mostChecksOfNetwork) {
      check.resolve('busy');
      return;
    }
    const inOrder = [...this.#waiting, check].toSorted(
      (left, right) => this.#askedBy(left.network) - this.#askedBy(right.network),
    );
    const mostWaiting = mostChecks - (all.length - this.#waiting.length);
    this.#waiting = inOrder.slice(0, mostWaiting);
    for (const { resolve } of inOrder.slice(mostWaiting)) resolve('busy');
  }

  async #compareAll(): Promise<void> {
    if (this.#comparing !== undefined) return;
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      this.#comparing = next;
      this.#waiting = this.#waiting.slice(1);
      const verdict = this.#verdictOn(next);
      next.resolve(verdict);
      await verdict.catch(() => {});
      this.#comparing = undefined;
    }
  }

  async #verdictOn({ key, hash, password, isKnownUser }: Check): Promise<Verdict> {
    const isRight = (await this.#compare(hash, password)) && isKnownUser;
    remember(isRight ? this.#right : this.#wrong, key, true);
    return isRight ? 'allowed' : 'refused';
  }
}
