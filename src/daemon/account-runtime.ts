import { nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Discovery, Source } from '../model/source.ts';
import type { AccountDetails } from '../model/status.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import { AccountCalls } from '../newrelic/calls/account-calls.ts';
import type { Keys } from '../newrelic/calls/keys.ts';
import { AccountTransport } from '../newrelic/calls/send.ts';
import type { KeyProvider, RawTransport } from '../newrelic/calls/transport.ts';
import type { VendorClock } from '../newrelic/calls/vendor-clock.ts';
import { statusOf as nerdGraphStatusOf } from '../newrelic/nerdgraph/failures.ts';
import { createNerdGraphSource } from '../newrelic/nerdgraph/nerdgraph-source.ts';
import { createRestClient, type RestClientDependencies } from '../newrelic/rest/rest-client.ts';
import { createRestSource } from '../newrelic/rest/rest-source.ts';
import { AccountPoller } from '../poll/account-poller.ts';
import { type Aspect, createAspect } from '../poll/aspect.ts';
import { createBoundedLogger } from '../telemetry/bounded-logger.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import type { AccountPlatform } from './platform.ts';
import type { PreparedAccount } from './prepare-account.ts';
import { createTransportLog } from './transport-log.ts';

export interface AccountRuntimeDependencies {
  readonly platform: AccountPlatform;
  readonly sink: SnapshotSink;
  readonly metrics: SelfMetrics;
  readonly logger: Logger;
  readonly keys: Keys;
}

/** One account of the active configuration, as long as its name and its address stay the same. */
export class AccountRuntime {
  /** The vendor as the poller asks it: at the pace that the limit of the key allows. */
  readonly source: Source;
  /** What a command needs that asks New Relic something else, at the same pace. */
  readonly asking: SourceDependencies;
  /** Polls; follows an `update` only with its own `reconfigure`. */
  readonly poller: AccountPoller;
  readonly #calls: AccountCalls;
  readonly #transport: AccountTransport;
  readonly #stopLogs: () => void;
  #prepared: PreparedAccount;

  /** @param raw the connections of `openPrepared`; `close` closes them */
  constructor(
    prepared: PreparedAccount,
    raw: RawTransport,
    { platform, sink, metrics, keys, ...others }: AccountRuntimeDependencies,
  ) {
    const { clock, random } = platform;
    const logger = createBoundedLogger(others.logger, clock);
    const { account } = prepared;
    this.#prepared = prepared;
    const calls = new AccountCalls(account, prepared.keyProvider.current(), keys);
    this.#calls = calls;
    const events = createTransportLog(account.name, { clock, calls, logger });
    this.#stopLogs = () => {
      events.stop();
      logger.stop();
    };
    const keyProvider = followingKey(() => this.#prepared.keyProvider, calls);
    const observer = metrics.apiObserver(account.name);
    const context = { account: account.name, clock, random, logger, observer, keyProvider, events };
    const statusOf = account.source.kind === 'nerdgraph' ? nerdGraphStatusOf : undefined;
    this.#transport = new AccountTransport({ ...account, statusOf }, raw, { ...context, calls });
    const { send } = this.#transport;
    const timeoutMs = (): number => this.#prepared.account.timeoutMs;
    const vendorWallMs = (): number => this.#transport.vendorClock.wallMs();
    this.asking = { send, observer, logger, clock, vendorWallMs };
    const source = createSource(account, timeoutMs, this.asking);
    this.source = withFreshKey(source, keyProvider, this.#transport.vendorClock);
    const noted = createAspect(clock);
    this.poller = new AccountPoller(prepared, {
      source: this.source,
      vendorWallMs,
      clock,
      random,
      sink,
      logger,
      observer: metrics.pollObserver(account.name),
      calls,
      aspects: () => [this.#prepared.keyProvider.readability(), refused(calls, noted)],
    });
  }

  /** What it was created from, or last updated with. */
  get prepared(): PreparedAccount {
    return this.#prepared;
  }

  status(): AccountDetails {
    const { key } = this.#calls;
    const { account, keyProvider } = this.#prepared;
    const toWall = wallTimeOf(nowOf(this.asking.clock));
    const refusals = key.refusals();
    const pausedUntilMs = key.pausedUntilMs();
    return {
      ...this.poller.status(),
      source: account.source.kind,
      requestsPerMinute: account.requestsPerMinute,
      sharedRequestsPerMinute: account.sharedRequestsPerMinute ?? account.requestsPerMinute,
      refusals: refusals && {
        ...refusals,
        sinceMs: toWall(refusals.sinceMs),
        lastMs: toWall(refusals.lastMs),
      },
      isReduced: key.isReduced(),
      key: keyProvider.status(),
      requestsLastMinute: this.#calls.requestsLastMinute(),
      requestsInFlight: this.#calls.requestsInFlight(),
      backoffUntilMs: pausedUntilMs === undefined ? undefined : toWall(pausedUntilMs),
      clockSkewSeconds: this.#transport.vendorClock.skewSeconds(),
    };
  }

  /**
   * Follows other limits, another key and other connections in one turn. All accounts that change are
   * updated in the same turn, so that no key has a larger limit in between. So do the queries; the
   * applications follow later, in several turns.
   *
   * @param raw the connections to use from now on; `undefined` for those that are there
   */
  update(next: PreparedAccount, raw: RawTransport | undefined): void {
    const before = this.#prepared.account;
    this.#prepared = next;
    // In this order neither the old nor the new key ever counts more than the limit of this account.
    const requestsPerMinute = Math.min(before.requestsPerMinute, next.account.requestsPerMinute);
    this.#calls.resize({ ...next.account, requestsPerMinute });
    this.#calls.rekey(next.keyProvider.current());
    this.#calls.resize(next.account);
    this.#transport.reconfigure(next.account, raw);
    this.poller.ask(next);
  }

  /** Frees the account's share of its key, once it no longer polls, and ends its log. */
  leave(): void {
    this.#calls.leave();
    this.#stopLogs();
  }

  /** Leaves, and breaks off the calls under way. */
  async close(): Promise<void> {
    this.leave();
    await this.#transport.close();
  }
}

/** What New Relic is asked with, and what counts the answers. */
export interface SourceDependencies extends Omit<RestClientDependencies, 'observer'> {
  readonly observer: ApiObserver;
  readonly vendorWallMs: () => number;
}

/** @param timeoutMs how long a call may take at present */
function createSource(
  { name, source }: Pick<AccountConfig, 'name' | 'source'>,
  timeoutMs: () => number,
  dependencies: SourceDependencies,
): Source {
  if (source.kind === 'nerdgraph') {
    const options = { account: name, accountId: source.accountId, timeoutMs };
    return createNerdGraphSource(options, dependencies);
  }
  const client = createRestClient(dependencies);
  return createRestSource(name, { ...dependencies, client });
}

/** Moves the calls to each new key, which has a limit of its own. */
function followingKey(current: () => KeyProvider, calls: AccountCalls): KeyProvider {
  return {
    current: () => current().current(),
    reload: async () => {
      const isNew = await current().reload();
      calls.rekey(current().current());
      return isNew;
    },
  };
}

/**
 * Reads the key again before each discovery, so that a rotated key is used within a minute. Without
 * applications there is nothing more to discover.
 */
function withFreshKey(source: Source, keyProvider: KeyProvider, clock: VendorClock): Source {
  const query = source.query?.bind(source);
  return {
    ...source,
    discover: async (...asked) => {
      await keyProvider.reload();
      if (asked[0].length === 0) return nothingToDiscover;
      return whileInDoubt(clock, 2, async () => source.discover(...asked));
    },
    ...(query && {
      query: async (one, context) =>
        whileInDoubt(clock, 3, async () => query(one, { ...context, wallMs: clock.wallMs() })),
    }),
  };
}

/**
 * Asks again while the first answers contradict our clock, and when they have shown that it is wrong: the
 * next poll may be an hour away.
 */
async function whileInDoubt<Read>(
  clock: VendorClock,
  mostMore: number,
  ask: () => Promise<Read>,
): Promise<Read> {
  for (let left = mostMore; ; left -= 1) {
    const wasOurs = clock.skewSeconds() === undefined;
    const read = await ask();
    const isSure = wasOurs === (clock.skewSeconds() === undefined) && !clock.isInDoubt();
    if (isSure || left === 0) return read;
  }
}

const nothingToDiscover: Discovery = {
  applications: [],
  complete: true,
  unreadableIds: [],
  pendingIds: [],
  calls: 0,
  error: undefined,
};

/** Since the first 429 of the trouble; its end is when it was first seen to be over. */
function refused({ key }: AccountCalls, noted: (isWrong: boolean) => Aspect): Aspect {
  const refusals = key.refusals();
  const { isWrong, sinceMs } = noted(refusals !== undefined);
  return { isWrong, sinceMs: refusals?.sinceMs ?? sinceMs };
}
