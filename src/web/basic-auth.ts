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

/** Remembers the newest keys only. */
class BoundedMap<Value> {
  readonly #values = new Map<string, Value>();

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > mostRemembered && oldest !== undefined) this.#values.delete(oldest);
  }
}

/** Whoever has one IPv6 address has a network of 2^64 of them. An IPv4 address stands for itself. */
export function networkOf(client: string): string {
  if (client.includes('.')) return client.replace(/^.*:/u, '');
  const [head = '', tail] = client.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  const zeros = tail === undefined ? [] : ['0', '0', '0', '0'];
  return [...groups, ...zeros].slice(0, 4).join(':');
}

/** A password to compare. */
interface Check {
  readonly key: string;
  readonly hash: string;
  readonly isKnownUser: boolean;
  readonly password: string;
  readonly network: string;
}

interface WaitingCheck extends Check {
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Says which requests have the name and the password of a user, and remembers it. Compares one password after
 * the other. Those of the networks that have asked least often come first,
 * and take the places of the others: a flood keeps nobody out who is not part of it.
 */
export class BasicAuth {
  readonly #compare: ComparePassword;
  readonly #secret: Uint8Array;
  // Apart, so that a flood of wrong passwords does not displace the right ones.
  readonly #right = new BoundedMap<true>();
  readonly #wrong = new BoundedMap<true>();
  /** How many passwords of a network had to be compared, or would have had to be. */
  readonly #asked = new BoundedMap<number>();
  readonly #verdicts = new Map<string, Promise<Verdict>>();
  #comparing: WaitingCheck | undefined;
  #waiting: readonly WaitingCheck[] = [];

  /** @param secret makes what is remembered of passwords useless to others */
  constructor(compare: ComparePassword, secret: Uint8Array = randomBytes(32)) {
    this.#compare = compare;
    this.#secret = secret;
  }

  /**
   * Rejects if the password cannot be checked. What is remembered of a user counts as long as the user
   * has the same hash.
   *
   * @param users at least one
   * @param authorization the header of that name
   * @param client its address: no client may have many passwords checked at the same time
   */
  async check(users: Users, authorization: string | undefined, client: string): Promise<Verdict> {
    const credentials = credentialsIn(authorization);
    if (credentials === undefined) return 'refused';
    const { user, password } = credentials;
    const known = users.get(user);
    const hash = known ?? decoyOf(user, [...users.values()], this.#secret);
    const key = this.#keyOf(credentials, hash);
    if (this.#right.get(key) !== undefined) return 'allowed';
    if (this.#wrong.get(key) !== undefined) return 'refused';
    const isKnownUser = known !== undefined;
    const network = networkOf(client);
    return this.#verdicts.get(key) ?? this.#begin({ key, hash, isKnownUser, password, network });
  }

  /** Names and passwords are never kept, and nobody else can compute this. */
  #keyOf({ user, password }: Credentials, hash: string): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify([user, password, hash]))
      .digest('base64');
  }

  async #begin(check: Check): Promise<Verdict> {
    this.#asked.set(check.network, this.#askedBy(check) + 1);
    if (!this.#makePlaceFor(check)) return 'busy';
    const verdict = new Promise<Verdict>((resolve, reject) => {
      this.#waiting = [...this.#waiting, { ...check, resolve, reject }];
    }).finally(() => this.#verdicts.delete(check.key));
    this.#verdicts.set(check.key, verdict);
    void this.#compareAll();
    return verdict;
  }

  /** `false` if there are too many checks, and none of a network that has asked more often. */
  #makePlaceFor(check: Check): boolean {
    const all = [...this.#waiting, this.#comparing].filter((other) => other !== undefined);
    const ofNetwork = all.filter(({ network }) => network === check.network);
    if (ofNetwork.length >= mostChecksOfNetwork) return false;
    if (all.length < mostChecks) return true;
    const most = Math.max(...this.#waiting.map((waiting) => this.#askedBy(waiting)));
    const last = this.#waiting.findLast((waiting) => this.#askedBy(waiting) === most);
    if (last === undefined || most <= this.#askedBy(check)) return false;
    this.#waiting = this.#waiting.filter((waiting) => waiting !== last);
    last.resolve('busy');
    return true;
  }

  #askedBy({ network }: Check): number {
    return this.#asked.get(network) ?? 0;
  }

  #takeNext(): WaitingCheck | undefined {
    const fewest = Math.min(...this.#waiting.map((waiting) => this.#askedBy(waiting)));
    const next = this.#waiting.find((waiting) => this.#askedBy(waiting) === fewest);
    this.#waiting = this.#waiting.filter((waiting) => waiting !== next);
    this.#comparing = next;
    return next;
  }

  async #compareAll(): Promise<void> {
    if (this.#comparing !== undefined) return;
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      try {
        const isRight = (await this.#compare(next.hash, next.password)) && next.isKnownUser;
        (isRight ? this.#right : this.#wrong).set(next.key, true);
        next.resolve(isRight ? 'allowed' : 'refused');
      } catch (error) {
        next.reject(error);
      }
    }
  }
}
