import { nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig } from '../model/config.ts';
import type { Refusals } from '../model/permit.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Discovery, Source } from '../model/source.ts';
import type { AccountDetails } from '../model/status.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import { statusOf as nerdGraphStatusOf } from '../nerdgraph/failures.ts';
import { createNerdGraphSource } from '../nerdgraph/nerdgraph-source.ts';
import { AccountPoller } from '../poller/account-poller.ts';
import { type Aspect, createAspect } from '../poller/aspect.ts';
import { CallScheduler } from '../rate-limit/call-scheduler.ts';
import type { KeyTable } from '../rate-limit/key-table.ts';
import { Membership } from '../rate-limit/membership.ts';
import { createRestClient, type RestClientDependencies } from '../rest/rest-client.ts';
import { createRestSource } from '../rest/rest-source.ts';
import { createBoundedLogger } from '../telemetry/bounded-logger.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { type AccountTransport, createAccountTransport } from '../transport/account-transport.ts';
import { createCallLog } from '../transport/call-log.ts';
import type { KeyProvider, RawTransport } from '../transport/transport.ts';
import type { AccountPlatform } from './platform.ts';
import type { PreparedAccount } from './prepare-account.ts';
import { createTransportLog } from './transport-log.ts';

export interface AccountRuntimeDependencies {
  readonly platform: AccountPlatform;
  readonly sink: SnapshotSink;
  readonly metrics: SelfMetrics;
  readonly logger: Logger;
  readonly keys: KeyTable;
}

/** One account of the active configuration, as long as its name and its address stay the same. */
export class AccountRuntime {
  /** The vendor as the poller asks it: at the pace that the limit of the key allows. */
  readonly source: Source;
  /** What a command needs that asks New Relic something else, at the same pace. */
  readonly asking: SourceDependencies;
  /** Polls; follows an `update` only with its own `reconfigure`. */
  readonly poller: AccountPoller;
  readonly #membership: Membership;
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
    const membership = new Membership(account, prepared.keyProvider.current(), keys);
    this.#membership = membership;
    const events = createTransportLog(account.name, { clock, membership, logger });
    this.#stopLogs = () => {
      events.stop();
      logger.stop();
    };
    const keyProvider = followingKey(() => this.#prepared.keyProvider, membership);
    const observer = metrics.apiObserver(account.name);
    const callLog = createCallLog(account.name, { clock, logger });
    const { concurrency } = account;
    const limits = { requestsPerMinute: membership.limitPerMinute(), concurrency };
    const scheduler = new CallScheduler(limits, clock, membership);
    const { first } = scheduler;
    const parts = { clock, random, observer, keyProvider, membership, first, events, callLog };
    const statusOf = account.source.kind === 'nerdgraph' ? nerdGraphStatusOf : undefined;
    this.#transport = createAccountTransport(account, { ...parts, raw, statusOf });
    const { send } = this.#transport;
    const timeoutMs = (): number => this.#prepared.account.timeoutMs;
    const vendorWallMs = (): number => this.#transport.vendorWallMs();
    this.asking = { send, observer, logger, clock, vendorWallMs };
    const source = createSource(account, timeoutMs, this.asking);
    this.source = withFreshKey(source, keyProvider, this.#transport);
    const noted = createAspect(clock);
    this.poller = new AccountPoller(prepared, {
      source: this.source,
      retries: () => this.#transport.retries(),
      vendorWallMs,
      clock,
      random,
      sink,
      logger,
      observer: metrics.pollObserver(account.name),
      limit: membership,
      scheduler,
      aspects: () => [this.#prepared.keyProvider.readability(), refused(membership, noted)],
    });
  }

  /** What it was created from, or last updated with. */
  get prepared(): PreparedAccount {
    return this.#prepared;
  }

  status(): AccountDetails {
    const transport = this.#transport;
    const { account, keyProvider } = this.#prepared;
    return {
      ...this.poller.status(),
      source: account.source.kind,
      requestsPerMinute: account.requestsPerMinute,
      sharedRequestsPerMinute: account.sharedRequestsPerMinute ?? account.requestsPerMinute,
      refusals: this.#wallRefusals(),
      isReduced: this.#membership.isReduced(),
      key: keyProvider.status(),
      requestsLastMinute: this.#membership.callsLastMinute(),
      requestsInFlight: transport.requestsInFlight(),
      backoffUntilMs: transport.backoffUntilMs(),
      clockSkewSeconds: transport.clockSkewSeconds(),
    };
  }

  #wallRefusals(): Refusals | undefined {
    const refusals = this.#membership.refusals();
    if (refusals === undefined) return undefined;
    const toWall = wallTimeOf(nowOf(this.asking.clock));
    return { ...refusals, sinceMs: toWall(refusals.sinceMs), lastMs: toWall(refusals.lastMs) };
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
    const { requestsPerMinute } = next.account;
    this.#membership.resize(Math.min(before.requestsPerMinute, requestsPerMinute));
    this.#membership.rekey(next.keyProvider.current());
    this.#membership.resize(requestsPerMinute);
    this.#transport.reconfigure(next.account, raw);
    this.poller.ask(next);
  }

  /** Frees the account's share of its key, once it no longer polls, and ends its log. */
  leave(): void {
    this.#membership.leave();
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

/** Moves the membership to each new key, which has a limit of its own. */
function followingKey(current: () => KeyProvider, membership: Membership): KeyProvider {
  return {
    current: () => current().current(),
    reload: async () => {
      const isNew = await current().reload();
      membership.rekey(current().current());
      return isNew;
    },
  };
}

/**
 * Reads the key again before each discovery, so that a rotated key is used within a minute. Without
 * applications there is nothing more to discover.
 */
function withFreshKey(source: Source, keyProvider: KeyProvider, clock: VendorTime): Source {
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
        whileInDoubt(clock, 3, async () =>
          query(one, { ...context, wallMs: clock.vendorWallMs() }),
        ),
    }),
  };
}

type VendorTime = Pick<AccountTransport, 'clockSkewSeconds' | 'isClockInDoubt' | 'vendorWallMs'>;

/**
 * Asks again while the first answers contradict our clock, and when they have shown that it is wrong: the
 * next poll may be an hour away.
 */
async function whileInDoubt<Read>(
  clock: VendorTime,
  mostMore: number,
  ask: () => Promise<Read>,
): Promise<Read> {
  for (let left = mostMore; ; left -= 1) {
    const wasOurs = clock.clockSkewSeconds() === undefined;
    const read = await ask();
    const isSure = wasOurs === (clock.clockSkewSeconds() === undefined) && !clock.isClockInDoubt();
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
function refused(membership: Membership, noted: (isWrong: boolean) => Aspect): Aspect {
  const refusals = membership.refusals();
  const { isWrong, sinceMs } = noted(refusals !== undefined);
  return { isWrong, sinceMs: refusals?.sinceMs ?? sinceMs };
}
