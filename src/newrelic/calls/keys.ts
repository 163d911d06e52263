import { ApiError } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import { type AccountConfig, quotaOf } from '../../model/config.ts';
import type { Refusals, Throttled } from '../../model/permit.ts';
import { minuteMs } from '../../model/time.ts';

/** How long a call counts after its end: "any 60 seconds", ends included. */
const holdMs = minuteMs + 1;
/** What the budget left unused may be sent at once, as much as that of this time. */
const burstMs = minuteMs;
/** As much may be made up for at once after a wait: places come free several at a time. */
const slackMs = 10_000;
/** Where calls are few, that would make groups of them, with a long time in between. */
const slackGaps = 3;
/** One trouble ends this long after its last 429: then the full limit is back, too, */
const refusalMemoryMs = 5 * minuteMs;
/** in so many equal steps. */
const recoverySteps = 5;
const stepMs = refusalMemoryMs / recoverySteps;
/** This much of the full limit is tried in any case, however much others take. */
const leastShare = 0.1;
/** What New Relic allows a user at a time; it names no such number for the REST API. */
const mostInFlight = { nerdgraph: 25, rest: Number.POSITIVE_INFINITY } as const;

/** An account that uses a key. */
export interface KeyAccount {
  readonly name: string;
  /** Equal for those whose keys are in one place, of which the check of the configuration warns. */
  readonly budgetId: string;
  /** Calls that the account may send in any 60 seconds. */
  readonly requestsPerMinute: number;
  readonly concurrency: number;
  /** Whether it has a call to send, and a place for it. */
  wantsToSend(): boolean;
  /** Sends its next call, with this key; false if there was none after all. */
  sendNext(): boolean;
}

/** Whom the vendor knows by a key at one address, and its keys: one for each quota, the last that sent comes last. */
interface KeyUser {
  readonly id: string;
  readonly keys: Set<Key>;
  inFlight: number;
  readonly mostInFlight: number;
  /** Whether its keys will let calls go in a later turn. */
  isPumpDue: boolean;
}

/**
 * A key in use for one of the vendor's quotas, or one that was used in the last minutes. Its accounts send in
 * turn, one call each.
 *
 * - In any 60 seconds no more calls than the smallest limit of its accounts. A call counts from when it may go
 *   until 60 seconds after its end: so neither what is sent nor what arrives can exceed the limit.
 * - At an even pace, but for what the budget left unused before. After a pause all calls go evenly.
 * - A 429 that names the limit halves it, to no less than a tenth; it is back five minutes after the last one.
 */
export class Key {
  readonly apiKey: string;
  readonly user: KeyUser;
  readonly #clock: Clock;
  /** Whoever has sent goes to the end. */
  readonly #accounts = new Set<KeyAccount>();
  /** When the calls of the last minute ended, the oldest first. */
  readonly #ends: number[] = [];
  #inFlight = 0;
  #fullLimit = 1;
  /** When the next call would go if all of them went evenly. */
  #evenMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /**
   * The last 429 that named the limit: the share of the full limit right after it, when that was, and until
   * when those of calls that were sent before belong to it.
   */
  #cut = { share: 1, atMs: Number.NEGATIVE_INFINITY, untilMs: Number.NEGATIVE_INFINITY };
  #refusals: Refusals | undefined;
  #isPumping = false;
  #timer: { readonly dueMs: number; readonly cancel: () => void } | undefined;

  constructor(apiKey: string, user: KeyUser, clock: Clock) {
    this.apiKey = apiKey;
    this.user = user;
    this.#clock = clock;
    user.keys.add(this);
  }

  get accounts(): ReadonlySet<KeyAccount> {
    return this.#accounts;
  }

  join(account: KeyAccount): void {
    this.#accounts.add(account);
    this.accountsChanged();
  }

  /** The limit changes at the end of this turn: a reload may put another account there by then. */
  leave(account: KeyAccount): void {
    this.#accounts.delete(account);
    queueMicrotask(() => {
      this.accountsChanged();
    });
  }

  /** To be called when something about an account has changed. */
  accountsChanged(): void {
    const limits = Array.from(this.#accounts, ({ requestsPerMinute }) => requestsPerMinute);
    // Without accounts the limit of the last one stays.
    if (limits.length > 0) this.#fullLimit = Math.min(...limits);
    this.pump();
  }

  /** Calls that may be sent in any 60 seconds, as of now. */
  limitPerMinute(): number {
    const { share } = this.#cut;
    const steps = this.#stepsSinceCut();
    const shareNow = steps >= recoverySteps ? 1 : share + (steps * (1 - share)) / recoverySteps;
    return Math.max(1, Math.floor(this.#fullLimit * shareNow));
  }

  /** Calls a minute that each account may plan with. */
  sharePerMinute(): number {
    return this.limitPerMinute() / Math.max(1, this.#accounts.size);
  }

  /** Whether less than the full limit is in force. */
  isReduced(): boolean {
    return this.#stepsSinceCut() < recoverySteps;
  }

  /** When the pause ends, on the monotonic clock; `undefined` when there is none. */
  pausedUntilMs(): number | undefined {
    return this.#pausedUntilMs > this.#clock.monotonicMs() ? this.#pausedUntilMs : undefined;
  }

  /** The 429s of the present trouble; `undefined` five minutes after the last one. */
  refusals(): Refusals | undefined {
    const isRecent = this.#clock.monotonicMs() - (this.#refusals?.lastMs ?? 0) < refusalMemoryMs;
    return isRecent ? this.#refusals : undefined;
  }

  /** Monotonic time since when a call should have been sent; `undefined` if none should. */
  dueSinceMs(): number | undefined {
    const dueMs = this.#timer?.dueMs ?? Number.POSITIVE_INFINITY;
    return dueMs <= this.#clock.monotonicMs() ? dueMs : undefined;
  }

  /** Whether nothing distinguishes it from a new one. */
  isUnused(): boolean {
    const isQuiet = this.#clock.monotonicMs() >= this.#pausedUntilMs + burstMs;
    return this.#accounts.size === 0 && this.#used() === 0 && isQuiet && !this.isReduced();
  }

  /** To be called when an account sends. */
  take(): void {
    this.#inFlight += 1;
    this.user.inFlight += 1;
    this.#evenMs = Math.max(this.#clock.monotonicMs(), this.#evenMs) + this.#gapMs();
  }

  /** @param tookMs `undefined` if the call never left: then it does not count */
  ended(tookMs: number | undefined): void {
    this.#inFlight -= 1;
    this.user.inFlight -= 1;
    if (tookMs === undefined) {
      this.#evenMs -= this.#gapMs();
    } else {
      this.#ends.push(this.#clock.monotonicMs());
      // It counts until 60 seconds after its end: so long is the time in which as many as the limit may go.
      if (this.pausedUntilMs() === undefined) this.#evenMs += tookMs / this.limitPerMinute();
    }
    this.pumpSoon();
  }

  /** In a later turn of the event loop: who has got an answer looks at it first, and may want nothing more. */
  pumpSoon(): void {
    const { user } = this;
    if (user.isPumpDue) return;
    user.isPumpDue = true;
    this.#clock.after(0, () => {
      user.isPumpDue = false;
      for (const key of Array.from(user.keys)) {
        if (!key.pump()) continue;
        user.keys.delete(key);
        user.keys.add(key);
      }
    });
  }

  throttled({ sentMs, untilMs, cause }: Throttled): void {
    const nowMs = this.#clock.monotonicMs();
    const { calls, sinceMs } = this.refusals() ?? { calls: 0, sinceMs: nowMs };
    this.#refusals = { calls: calls + 1, sinceMs, lastMs: nowMs, cause };
    if (cause === 'key_limit') {
      const share = Math.max(leastShare, this.limitPerMinute() / this.#fullLimit / 2);
      this.#cut =
        sentMs < this.#cut.untilMs
          ? { ...this.#cut, untilMs: Math.max(this.#cut.untilMs, untilMs) }
          : { share, atMs: nowMs, untilMs };
    }
    this.#pausedUntilMs = Math.max(untilMs, this.#pausedUntilMs);
    this.#evenMs = Math.max(this.#evenMs, untilMs + burstMs);
    this.pump();
  }

  /** Lets the accounts send as long as calls may go. Returns whether one did. */
  pump(): boolean {
    // What an account does as it sends may be a reason to look again: that happens anyway.
    if (this.#isPumping) return false;
    this.#isPumping = true;
    let hasSent = false;
    for (let isAnySent = true; isAnySent; ) {
      isAnySent = false;
      for (const account of Array.from(this.#accounts)) {
        if (!account.wantsToSend() || this.#waitMs() > 0 || !account.sendNext()) continue;
        this.#accounts.delete(account);
        this.#accounts.add(account);
        isAnySent = true;
        hasSent = true;
      }
    }
    this.#isPumping = false;
    this.#wakeLater();
    return hasSent;
  }

  #gapMs(): number {
    return minuteMs / this.limitPerMinute();
  }

  #stepsSinceCut(): number {
    return Math.floor((this.#clock.monotonicMs() - this.#cut.atMs) / stepMs);
  }

  /** 0 when a call may go now, else how long to wait; `Infinity` if that takes the end of a call. */
  #waitMs(): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#pausedUntilMs) return this.#pausedUntilMs - nowMs;
    if (this.user.inFlight >= this.user.mostInFlight) return Number.POSITIVE_INFINITY;
    const fullUntilMs = this.#fullUntilMs();
    if (fullUntilMs === undefined) return Math.max(0, this.#evenMs - burstMs - nowMs);
    const riseMs = this.#cut.atMs + (this.#stepsSinceCut() + 1) * stepMs;
    return Math.min(fullUntilMs, this.isReduced() ? riseMs : Number.POSITIVE_INFINITY) - nowMs;
  }

  /** When fewer calls than the limit count; `Infinity` if that takes the end of one, `undefined` if they do now. */
  #fullUntilMs(): number | undefined {
    // After the limit has shrunk, more than one call may have to age before the next one may go.
    const surplus = this.#used() - this.limitPerMinute();
    if (surplus < 0) return undefined;
    return (this.#ends[surplus] ?? Number.POSITIVE_INFINITY) + holdMs;
  }

  /** Calls in flight, and calls that ended in the last 60 seconds. */
  #used(): number {
    forgetUntil(this.#ends, this.#clock.monotonicMs() - holdMs);
    return this.#inFlight + this.#ends.length;
  }

  #wakeLater(): void {
    const nowMs = this.#clock.monotonicMs();
    const isWanted = [...this.#accounts].some((account) => account.wantsToSend());
    const waitMs = isWanted ? this.#waitMs() : Number.POSITIVE_INFINITY;
    const dueMs = nowMs + waitMs;
    if (isWanted && Number.isFinite(waitMs) && this.#fullUntilMs() !== undefined) {
      // What could not be sent until then is not made up for at once.
      const places = Math.max(1, ...Array.from(this.#accounts, ({ concurrency }) => concurrency));
      const gapMs = this.#gapMs();
      const slack = Math.max(Math.min(2, places) * gapMs, slackMs - slackGaps * gapMs);
      this.#evenMs = Math.max(this.#evenMs, dueMs + burstMs - slack);
    }
    if (this.#timer?.dueMs === dueMs) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!Number.isFinite(dueMs)) return;
    // Timers count whole milliseconds, rounded down: without this they would fire too early.
    const cancel = this.#clock.after(Math.max(1, Math.ceil(waitMs)), () => {
      this.#timer = undefined;
      this.pump();
    });
    this.#timer = { dueMs, cancel };
  }
}

/** Takes the times up to this one out of a list in their order. */
export function forgetUntil(timesMs: number[], untilMs: number): void {
  const first = timesMs.findIndex((atMs) => atMs > untilMs);
  timesMs.splice(0, first === -1 ? timesMs.length : first);
}

/** A command does not wait for longer. */
export const commandPatienceMs: number = 2 * minuteMs;

/** How long calls wait for keys that let none through. */
class Patience {
  readonly #ms: number;
  readonly #clock: Clock;
  /** By API key: when the first call was answered with 429 since the last one that was not. */
  readonly #refusedMs = new Map<string, number>();

  constructor(ms: number, clock: Clock) {
    this.#ms = ms;
    this.#clock = clock;
  }

  ended(apiKey: string, isRefused: boolean): void {
    if (!isRefused) this.#refusedMs.delete(apiKey);
    else if (!this.#refusedMs.has(apiKey)) this.#refusedMs.set(apiKey, this.#clock.monotonicMs());
  }

  /** How long calls may wait yet; all of it if none has been refused. */
  leftMs(apiKey: string): number {
    const nowMs = this.#clock.monotonicMs();
    return (this.#refusedMs.get(apiKey) ?? nowMs) + this.#ms - nowMs;
  }

  error(): ApiError {
    return new ApiError(
      'throttled',
      `New Relic let no call of the key through for ${Math.round(this.#ms / 1000)} s (429): somebody else uses up its limit. Try again later, or use another key.`,
    );
  }
}

/** The keys of the process: one for each value at each base URL and quota. No reload forgets what was sent. */
export class Keys {
  readonly clock: Clock;
  /** How long the calls of a command wait; `undefined` in a daemon, where they do as long as it takes. */
  readonly patience: Patience | undefined;
  readonly #most: number;
  readonly #keys = new Map<string, Key>();

  /** @param most calls of a user at a time. Default: as many as New Relic allows */
  constructor({
    clock,
    patienceMs,
    most = Number.POSITIVE_INFINITY,
  }: Readonly<{ clock: Clock; patienceMs?: number; most?: number }>) {
    this.clock = clock;
    this.patience = patienceMs === undefined ? undefined : new Patience(patienceMs, clock);
    this.#most = most;
  }

  find({ baseUrl, source }: AccountConfig, apiKey: string): Key {
    for (const [id, key] of this.#keys) {
      if (key.isUnused() && key.user.keys.delete(key)) this.#keys.delete(id);
    }
    const address = new URL(baseUrl).href;
    const id = JSON.stringify([address, quotaOf({ source }), apiKey]);
    const userId = JSON.stringify([address, source.kind, apiKey]);
    const mostOfUser = Math.min(mostInFlight[source.kind], this.#most);
    const newUser = { id: userId, keys: new Set<Key>(), inFlight: 0, isPumpDue: false };
    const { user = { ...newUser, mostInFlight: mostOfUser } } =
      [...this.#keys.values()].find((one) => one.user.id === userId) ?? {};
    const key = this.#keys.get(id) ?? new Key(apiKey, user, this.clock);
    this.#keys.set(id, key);
    return key;
  }
}
