import { minuteMs } from '../../src/model/time.ts';
import type { ApiResponse } from '../../src/newrelic/calls/transport.ts';
import type { AccountSetup } from './account-setup.ts';
import type { WireCall, WireObserver } from './vendor-wire.ts';
import type { World } from './world.ts';

/** A rotated key is in force by then: a discovery reads it again, and none takes longer. */
const rotationMs = 6 * minuteMs;
const longestPauseMs = 300_000;
/** Of a 429, until the full limit is in force again. */
const recoveryMs = 5 * minuteMs + 2000;

interface Dated<Value> {
  readonly sinceMs: number;
  readonly value: Value;
}

interface KeyState {
  readonly sentMs: number[];
  inFlight: number;
  pausedUntilMs: number;
  throttledMs: number;
  /** The last 429 that names the limit of the key. */
  exceededMs: number;
}

/** Budget, concurrency and pauses, as they are seen on the wire. */
export class BudgetRules implements WireObserver {
  readonly #world: World;
  readonly #keys = new Map<string, KeyState>();
  readonly #inFlight = new Map<string, number>();
  /** What each key file held, the newest last. */
  readonly #contents = new Map<string, Dated<string>[]>();
  /** The limit of each key, the newest last. */
  readonly #limits = new Map<string, Dated<number>[]>();
  readonly #concurrency = new Map<string, Dated<number>[]>();
  #dateChangedMs = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  keyFile(path: string, key: string): void {
    push(this.#contents, path, this.#world.nowMs(), key);
    this.configured();
  }

  vendorDateChanged(): void {
    this.#dateChangedMs = this.#world.nowMs();
  }

  /** To be called when the configuration or a key has changed. */
  configured(): void {
    const nowMs = this.#world.nowMs();
    const keys = new Set([...this.#contents.values()].flat().map(({ value }) => value));
    for (const key of keys) {
      const limit = this.#limitOf(key);
      if (limit !== undefined) push(this.#limits, key, nowMs, limit);
    }
    for (const { name, concurrency } of this.#world.setups()) {
      push(this.#concurrency, name, nowMs, concurrency);
    }
  }

  /** When a key of the account was last refused with 429. */
  throttledMs(setup: AccountSetup): number {
    const times = this.#keysOf(setup).map((key) => this.#keys.get(key)?.throttledMs ?? -Infinity);
    return Math.max(-Infinity, ...times);
  }

  /** The one key of the account; `undefined` while it may be one of several. */
  keyOf(setup: AccountSetup): string | undefined {
    const [key, ...others] = this.#keysOf(setup);
    return others.length === 0 ? key : undefined;
  }

  /** Whether another account may be using the same key. */
  isShared(setup: AccountSetup): boolean {
    const keys = this.#keysOf(setup);
    return this.#world
      .setups()
      .some((other) => other !== setup && this.#keysOf(other).some((key) => keys.includes(key)));
  }

  /** The full limit of a key is in force five minutes after the last 429. */
  checkLimits(status: ReadonlyMap<string, number>): void {
    const nowMs = this.#world.nowMs();
    const setups = this.#world.setups();
    if (setups.some((setup) => this.keyOf(setup) === undefined)) return;
    const keys = new Set(setups.map((setup) => this.keyOf(setup) ?? ''));
    for (const key of keys) {
      const users = setups.filter((setup) => this.keyOf(setup) === key);
      const limit = Math.min(...users.map(({ requestsPerMinute }) => requestsPerMinute));
      const planned = users.reduce((sum, { name }) => sum + (status.get(name) ?? 0), 0);
      const exceededMs = this.#keys.get(key)?.exceededMs ?? -Infinity;
      const isFull = nowMs >= exceededMs + recoveryMs;
      if (planned > limit + 0.01 || (isFull && planned < limit - 0.01)) {
        this.#world.report(
          'limit',
          `${key}: accounts plan with ${planned} of ${limit}, last told so at ${exceededMs / 1000} s`,
        );
      }
    }
  }

  sent(call: WireCall): void {
    const { nowMs, report } = this.#world;
    const state = this.#stateOf(call.key);
    const now = nowMs();
    state.sentMs.push(now);
    while ((state.sentMs[0] ?? now) < now - minuteMs) state.sentMs.shift();
    const limit = highestSince(this.#limits.get(call.key), now - minuteMs) ?? 0;
    if (state.sentMs.length > limit) {
      report('budget', `${call.key}: ${state.sentMs.length} calls in 60 s, limit ${limit}`);
    }
    if (now < state.pausedUntilMs) {
      report('pause', `${call.key}: a call ${(state.pausedUntilMs - now) / 1000} s before its end`);
    }
    state.inFlight += 1;
    const inFlight = (this.#inFlight.get(call.account) ?? 0) + 1;
    this.#inFlight.set(call.account, inFlight);
    // Calls that a reload finds under way end as they began.
    const most = highestSince(this.#concurrency.get(call.account), now - minuteMs) ?? 0;
    if (inFlight > most) report('concurrency', `${call.account}: ${inFlight} in flight of ${most}`);
  }

  answered(call: WireCall, { status, headers }: ApiResponse): void {
    if (status !== 429) return;
    const nowMs = this.#world.nowMs();
    const state = this.#stateOf(call.key);
    const dateMs = Date.parse(String(headers['date']));
    const namedMs =
      headers['x-ratelimit-reset'] === undefined
        ? Number(headers['retry-after'] ?? 60) * 1000
        : Number(headers['x-ratelimit-reset']) * 1000 - dateMs;
    // The date of an answer has whole seconds; a clock that was set tells nothing of the way.
    const isDated = nowMs >= this.#dateChangedMs + 12 * minuteMs;
    const givenMs = isDated ? nowMs - 999 : call.sentMs;
    const untilMs = givenMs + Math.min(longestPauseMs, Math.max(1000, namedMs));
    state.throttledMs = nowMs;
    if (headers['x-ratelimit-reset'] !== undefined) state.exceededMs = nowMs;
    if (untilMs <= state.pausedUntilMs) return;
    state.pausedUntilMs = untilMs;
  }

  ended(call: WireCall): void {
    this.#stateOf(call.key).inFlight -= 1;
    this.#inFlight.set(call.account, (this.#inFlight.get(call.account) ?? 0) - 1);
  }

  inFlight(account: string): number {
    return this.#inFlight.get(account) ?? 0;
  }

  /** Whether the account may send at this moment. */
  isHeldUp(setup: AccountSetup): boolean {
    const nowMs = this.#world.nowMs();
    return this.#keysOf(setup).some((key) => {
      const { pausedUntilMs, sentMs } = this.#stateOf(key);
      const recent = sentMs.filter((atMs) => atMs > nowMs - minuteMs - 5000).length;
      return nowMs < pausedUntilMs + 2000 || recent + 1 >= setup.requestsPerMinute;
    });
  }

  /** The keys that the account may be using. */
  #keysOf({ keyFile }: AccountSetup): readonly string[] {
    const nowMs = this.#world.nowMs();
    const contents = this.#contents.get(keyFile) ?? [];
    const recent = contents.filter(
      (_, index) => (contents[index + 1]?.sinceMs ?? Infinity) > nowMs - rotationMs,
    );
    return [...new Set(recent.map(({ value }) => value))];
  }

  /** The most that may be sent with a key; `undefined` when nobody uses it. */
  #limitOf(key: string): number | undefined {
    const users = this.#world.setups().filter((setup) => this.#keysOf(setup).includes(key));
    const certain = users.filter((setup) => this.#keysOf(setup).length === 1);
    if (users.length === 0) return undefined;
    return certain.length > 0
      ? Math.min(...certain.map(({ requestsPerMinute }) => requestsPerMinute))
      : Math.max(...users.map(({ requestsPerMinute }) => requestsPerMinute));
  }

  #stateOf(key: string): KeyState {
    const known = this.#keys.get(key) ?? {
      sentMs: [],
      inFlight: 0,
      pausedUntilMs: -Infinity,
      throttledMs: -Infinity,
      exceededMs: -Infinity,
    };
    this.#keys.set(key, known);
    return known;
  }
}

function push<Value>(
  history: Map<string, Dated<Value>[]>,
  name: string,
  sinceMs: number,
  value: Value,
): void {
  const known = history.get(name) ?? [];
  if (known.at(-1)?.value !== value) known.push({ sinceMs, value });
  history.set(name, known);
}

/** The highest value that was in force at any time from then on. */
function highestSince(
  history: readonly Dated<number>[] | undefined,
  sinceMs: number,
): number | undefined {
  if (history === undefined) return undefined;
  const inForce = history.filter((_, index) => (history[index + 1]?.sinceMs ?? Infinity) > sinceMs);
  return Math.max(...inForce.map(({ value }) => value));
}
