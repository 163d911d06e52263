import { setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { readProxyUrl } from '../config/api-key.ts';
import { readCaFile } from '../config/ca-file.ts';
import { NamedFileError } from '../config/read-file.ts';
import { type Clock, nowOf, wallTimeOf } from '../model/clock.ts';
import {
  type AccountConfig,
  type AccountInUse,
  type AppEntry,
  type Config,
  quotaOf,
} from '../model/config.ts';
import { isSameHostChoice } from '../model/selected-application.ts';
import { isSameSelector, polledBy } from '../model/selector.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountDetails } from '../model/status.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import { AccountCalls } from '../newrelic/calls/account-calls.ts';
import type { Keys } from '../newrelic/calls/keys.ts';
import { AccountTransport } from '../newrelic/calls/send.ts';
import type { KeyProvider, RawTransport, Transport } from '../newrelic/calls/transport.ts';
import type { UndiciTransportOptions } from '../newrelic/calls/undici-transport.ts';
import type { VendorClock } from '../newrelic/calls/vendor-clock.ts';
import { statusOf as nerdGraphStatusOf } from '../newrelic/nerdgraph/failures.ts';
import { createNerdGraphSource } from '../newrelic/nerdgraph/nerdgraph-source.ts';
import { createRestClient, createRestSource } from '../newrelic/rest/rest-source.ts';
import { AccountPoller } from '../poll/account-poller.ts';
import { createBoundedLogger } from '../telemetry/bounded-logger.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { buildOf } from './build.ts';
import { fileCommandError } from './config-files.ts';
import { type AccountKey, createKeyProvider } from './key-provider.ts';
import type { AccountPlatform } from './platform.ts';
import { createTransportLog } from './transport-log.ts';

/** What all accounts of the process share. */
export interface AccountContext {
  readonly platform: AccountPlatform;
  readonly sink: SnapshotSink;
  readonly metrics: SelfMetrics;
  readonly logger: Logger;
  readonly keys: Keys;
}

/** The accounts with queries, or entries that do not only exclude; the others are never polled. */
export function accountsInUse({ accounts, apps, queries = [] }: Config): readonly AccountInUse[] {
  const [entriesOf, queriesOf] = [byAccount(apps), byAccount(queries)];
  return accounts.flatMap((account) => {
    const entries = entriesOf.get(account.name) ?? [];
    const own = queriesOf.get(account.name) ?? [];
    const isPolled = own.length > 0 || polledBy(entries).length > 0;
    return isPolled ? [{ account, entries, queries: own }] : [];
  });
}

function byAccount<Entry extends { readonly account: string }>(
  all: readonly Entry[],
): ReadonlyMap<string, readonly Entry[]> {
  const found = new Map<string, Entry[]>(all.map(({ account }) => [account, []]));
  for (const entry of all) found.get(entry.account)?.push(entry);
  return found;
}

/** An account with everything read that can fail; nothing of it is active yet. */
export interface PreparedAccount extends AccountInUse {
  readonly keyProvider: AccountKey;
  /** How to connect. */
  readonly wire: UndiciTransportOptions;
}

/**
 * Reads everything that one account needs. Rejects with a `CommandError` if a key or a file that the
 * configuration names cannot be used.
 *
 * @param active the account of that name that is active: a key in the same place is not read again
 */
export async function prepareAccount(
  inUse: AccountInUse,
  { platform, logger }: Pick<AccountContext, 'platform' | 'logger'>,
  active?: PreparedAccount,
): Promise<PreparedAccount> {
  const { account } = inUse;
  const { name, baseUrl, concurrency, caFile } = account;
  try {
    const keyProvider =
      active !== undefined && isDeepStrictEqual(active.account.apiKey, account.apiKey)
        ? active.keyProvider
        : await createKeyProvider(account, { ...platform, logger });
    const proxyUrl = await proxyUrlOf(account, platform);
    const ca = caFile === undefined ? undefined : await readCaFile(caFile, platform);
    const userAgent = `newrelic-exporter/${buildOf(platform.env).version} (Prometheus exporter)`;
    const wire = { baseUrl, connections: concurrency, proxyUrl, ca, userAgent };
    return { ...inUse, keyProvider, wire };
  } catch (error) {
    if (!(error instanceof NamedFileError)) throw error;
    throw fileCommandError(error, `account ${name}: ${error.message}`);
  }
}

/** The URL of the proxy, whose password no text shows from now on. */
async function proxyUrlOf(
  { proxyUrl, proxyUrlFrom }: AccountConfig,
  platform: AccountPlatform,
): Promise<string | undefined> {
  const url = proxyUrlFrom === undefined ? proxyUrl : await readProxyUrl(proxyUrlFrom, platform);
  const password = url === undefined ? '' : new URL(url).password;
  if (password !== '') platform.redactor.add(decodeURIComponent(password));
  return url;
}

/**
 * How an account of the next configuration differs from the active one of its name. `new`: there is none,
 * or it is another account, at another address or with another quota. `connections`: it needs other ones.
 * `requests`: New Relic sees another key, or other requests. `settings`: only the exporter sees it.
 */
export type AccountChange = 'none' | 'settings' | 'requests' | 'connections' | 'new';

/** The only place where a configuration is compared with the active one. */
export function changeTo(
  next: PreparedAccount,
  before: PreparedAccount | undefined,
): AccountChange {
  const isSamePlace =
    before?.account.baseUrl === next.account.baseUrl &&
    quotaOf(before.account) === quotaOf(next.account);
  if (before === undefined || !isSamePlace) return 'new';
  if (!isDeepStrictEqual(before.wire, next.wire)) return 'connections';
  const isAskedOtherwise =
    before.keyProvider.current() !== next.keyProvider.current() ||
    before.account.apiKeyHeader !== next.account.apiKeyHeader;
  if (isAskedOtherwise) return 'requests';
  const isSame =
    // In one place the source can only differ in the account id of REST, which nothing is polled with.
    isDeepStrictEqual(before.account, { ...next.account, source: before.account.source }) &&
    before.entries.length === next.entries.length &&
    before.entries.every((entry, index) => isSameEntry(entry, next.entries[index])) &&
    isDeepStrictEqual(before.queries, next.queries);
  return isSame ? 'none' : 'settings';
}

function isSameEntry(left: AppEntry, right: AppEntry | undefined): boolean {
  if (right === undefined) return false;
  // The series follow from the rest.
  const { selector, hosts, series: _, ...rest } = left;
  const { selector: otherSelector, hosts: otherHosts, series: __, ...otherRest } = right;
  return (
    isSameSelector(selector, otherSelector) &&
    isSameHostChoice(hosts, otherHosts) &&
    isDeepStrictEqual(rest, otherRest)
  );
}

/** One account of the active configuration, as long as its name and its address stay the same. */
export class Account {
  /** The vendor as the poller asks it: at the pace that the limit of the key allows. */
  readonly source: Source;
  /** What a command needs that asks New Relic something else, at the same pace. */
  readonly asking: Asking;
  /** Polls; follows an `update` only with its own `reconfigure`. */
  readonly poller: AccountPoller;
  readonly #calls: AccountCalls;
  readonly #transport: AccountTransport;
  readonly #stopLogs: () => void;
  readonly #abort = new AbortController();
  #prepared: PreparedAccount;
  /** Settles when the poller has ended; `undefined` until it is started. */
  #done: Promise<void> | undefined;

  /** @param raw the connections of `prepared.wire`; `close` closes them */
  constructor(
    prepared: PreparedAccount,
    raw: RawTransport,
    { platform, sink, metrics, keys, ...others }: AccountContext,
  ) {
    const { clock, random } = platform;
    const logger = createBoundedLogger(others.logger, clock);
    const { account } = prepared;
    this.#prepared = prepared;
    setMaxListeners(0, this.#abort.signal);
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
    const { send, vendorClock } = this.#transport;
    const timeoutMs = (): number => this.#prepared.account.timeoutMs;
    this.asking = { send, observer, logger, clock, vendorClock };
    this.source = createSource(account, timeoutMs, this.asking);
    this.poller = new AccountPoller(prepared, {
      source: this.source,
      vendorClock,
      clock,
      random,
      sink,
      logger,
      observer: metrics.pollObserver(account.name),
      calls,
      key: {
        reload: async () => keyProvider.reload(),
        readability: () => this.#prepared.keyProvider.readability(),
      },
    });
  }

  /** What it was created from, or last updated with. */
  get prepared(): PreparedAccount {
    return this.#prepared;
  }

  get name(): string {
    return this.#prepared.account.name;
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

  /** Polls until `stop`; does nothing if it was started already. */
  start(failed: (error: unknown) => void): void {
    this.#done ??= this.poller.run(this.#abort.signal).catch(failed);
  }

  /** Resolves when the poller has ended. */
  async stop(): Promise<void> {
    this.#abort.abort(new Error('the account is stopped'));
    await this.#done;
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
export interface Asking {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: ApiObserver;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly vendorClock: VendorClock;
}

/** @param timeoutMs how long a call may take at present */
function createSource(
  { name, source }: Pick<AccountConfig, 'name' | 'source'>,
  timeoutMs: () => number,
  asking: Asking,
): Source {
  if (source.kind === 'nerdgraph') {
    const options = { account: name, accountId: source.accountId, timeoutMs };
    return createNerdGraphSource(options, asking);
  }
  const client = createRestClient(asking);
  return createRestSource(name, { ...asking, client });
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
