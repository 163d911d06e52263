import { setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import { type Config, quotaOf } from '../model/config.ts';
import { type Problem, problemsOfProcess } from '../model/problem.ts';
import { operationsOf } from '../model/selected-application.ts';
import type { Shard } from '../model/shard.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountDetails, ApplicationStatus, ReloadStatus } from '../model/status.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import { AccountCalls } from '../newrelic/calls/account-calls.ts';
import { Keys } from '../newrelic/calls/keys.ts';
import { AccountTransport } from '../newrelic/calls/send.ts';
import type { RawTransport } from '../newrelic/calls/transport.ts';
import type { VendorClock } from '../newrelic/calls/vendor-clock.ts';
import { statusOf as nerdGraphStatusOf } from '../newrelic/failures.ts';
import {
  createNerdGraphSource,
  type NerdGraphSourceDependencies,
} from '../newrelic/nerdgraph/nerdgraph-source.ts';
import { createRestClient, createRestSource } from '../newrelic/rest/rest-source.ts';
import { AccountPoller } from '../poll/account-poller.ts';
import { ProblemLog } from '../poll/problem-log.ts';
import { type BoundedLogger, createBoundedLogger } from '../publish/bounded-logger.ts';
import { redactedAccount, redactedPoll } from '../publish/redactor.ts';
import { createSelfMetrics, type SelfMetrics } from '../publish/self-metrics.ts';
import { SeriesStore } from '../publish/series-store.ts';
import { buildOf } from './build.ts';
import { type AccountPlatform, CommandError } from './platform.ts';
import { accountsInUse, type PreparedAccount, prepareAccount } from './prepare-account.ts';
import { withShard } from './sharding.ts';

/** What all accounts of the process share. */
export interface AccountContext {
  readonly platform: AccountPlatform;
  readonly sink: SnapshotSink;
  readonly metrics: SelfMetrics;
  readonly logger: Logger;
  readonly keys: Keys;
}

/** What New Relic is asked with, and what counts the answers. */
export interface Asking extends NerdGraphSourceDependencies {
  readonly observer: ApiObserver;
  readonly vendorClock: VendorClock;
}

/** One account of the active configuration, as long as its name and its address stay the same. */
export class Account {
  /** The vendor as the poller asks it: at the pace that the limit of the key allows. */
  readonly source: Source;
  /** What a command needs that asks New Relic something else, at the same pace. */
  readonly asking: Asking;
  /** Polls; follows an `update` only with its own `reconfigure`. */
  readonly poller: AccountPoller;
  readonly #logger: BoundedLogger;
  readonly #metrics: SelfMetrics;
  readonly #transport: AccountTransport;
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
    const { account, keyProvider } = prepared;
    const { signal } = this.#abort;
    setMaxListeners(0, signal);
    this.#prepared = prepared;
    const logger = createBoundedLogger(others.logger, clock);
    this.#logger = logger;
    const calls = new AccountCalls(account, keyProvider.current(), keys);
    const key = {
      current: () => this.#prepared.keyProvider.current(),
      status: () => this.#prepared.keyProvider.status(),
      /** Moves the calls to a new key, which has a limit of its own. */
      reload: async () => {
        const isNew = await this.#prepared.keyProvider.reload();
        calls.rekey(this.#prepared.keyProvider.current());
        return isNew;
      },
    };
    const shared = { account: account.name, clock, random, logger };
    this.#metrics = metrics;
    metrics.beginAccount(account.name, operationsOf(prepared));
    const observer = metrics.apiObserver(account.name);
    const statusOf = account.source.kind === 'nerdgraph' ? nerdGraphStatusOf : undefined;
    const sent = { ...shared, observer, calls, keyProvider: key };
    this.#transport = new AccountTransport({ ...account, statusOf }, raw, sent);
    const { send, vendorClock } = this.#transport;
    this.asking = { send, calls, observer, logger, clock, vendorClock };
    const timeoutMs = (): number => this.#prepared.account.timeoutMs;
    const { name, source } = account;
    this.source =
      source.kind === 'nerdgraph'
        ? createNerdGraphSource(
            { account: name, accountId: source.accountId, timeoutMs },
            this.asking,
          )
        : createRestSource(name, { ...this.asking, client: createRestClient(this.asking) });
    const polled = { source: this.source, calls, key, vendorClock, clock, random, sink, logger };
    const pollObserver = metrics.pollObserver(account.name);
    this.poller = new AccountPoller(prepared, { ...polled, observer: pollObserver });
  }

  /** What it was created from, or last updated with. */
  get prepared(): PreparedAccount {
    return this.#prepared;
  }

  get name(): string {
    return this.#prepared.account.name;
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
    this.#metrics.beginAccount(this.name, operationsOf(next));
    // In this order neither the old nor the new key ever counts more than the limit of this account.
    const requestsPerMinute = Math.min(before.requestsPerMinute, next.account.requestsPerMinute);
    this.asking.calls.resize({ ...next.account, requestsPerMinute });
    this.asking.calls.rekey(next.keyProvider.current());
    this.asking.calls.resize(next.account);
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

  /** Stops, frees the account's share of its key, and breaks off the calls under way. */
  async close(): Promise<void> {
    await this.stop();
    this.asking.calls.leave();
    this.#logger.stop();
    await this.#transport.close();
  }
}

export interface DaemonContext {
  readonly platform: AccountPlatform;
  readonly logger: Logger;
  /** Which of the shards this process is; without it: the only one. */
  readonly shard?: Shard | undefined;
  readonly patienceMs?: number;
  /** What became of the last configuration that was read. Default: it is in force. */
  readonly reload?: () => ReloadStatus;
}

/** An account of the next configuration; nothing of it is active yet. */
type Step = { readonly prepared: PreparedAccount } & (
  | { readonly running: undefined; readonly raw: RawTransport }
  | {
      readonly running: Account;
      /** The connections to use from now on; `undefined` for those that are there. */
      readonly raw: RawTransport | undefined;
      /** Whether New Relic sees another key, other requests or other connections. */
      readonly isSourceChanged: boolean;
    }
);

/** Node.js reads this many files at once; more would only wait, and count it as time of their volume. */
const readsAtOnce = 4;

/** A daemon with an active configuration. Rejects as `apply` does. */
export async function createDaemon(config: Config, context: DaemonContext): Promise<Daemon> {
  const daemon = new Daemon(context);
  await daemon.apply(config);
  daemon.metrics.configReloaded(true, context.platform.clock.wallMs());
  return daemon;
}

/**
 * Everything but the HTTP server: the accounts, the series that they publish, and the self-metrics. It
 * polls nothing until `apply` puts a configuration into force. What it says holds no secrets.
 */
export class Daemon {
  readonly store: SeriesStore;
  readonly metrics: SelfMetrics;
  readonly shard: Shard;
  readonly #context: AccountContext;
  /** By name, in the order of the configuration. */
  #accounts: ReadonlyMap<string, Account> = new Map();
  /** The active configuration, without shards; `undefined` while there is none. */
  config: Config | undefined;
  /** Present while `run` is under way: a poller that fails ends it with this. */
  #fail: ((error: unknown) => void) | undefined;
  #isOver = false;
  /** What is wrong with the process. */
  readonly log: ProblemLog;
  readonly #reload: (() => ReloadStatus) | undefined;

  constructor({
    platform,
    logger,
    shard = { ordinal: 0, total: 1 },
    reload,
    ...how
  }: DaemonContext) {
    this.#reload = reload;
    this.shard = shard;
    this.store = new SeriesStore(platform.nextTurn, logger);
    this.metrics = createSelfMetrics(buildOf(platform.env), {
      status: () => this.status(),
      seriesOf: (account) => this.store.seriesOf(account),
      droppedSeriesOf: (account, reason) => this.store.droppedOf(account, reason),
      nextTurn: platform.nextTurn,
    });
    this.log = new ProblemLog({}, { logger, clock: platform.clock });
    const keys = new Keys({ clock: platform.clock, ...how });
    this.#context = { platform, sink: this.store, metrics: this.metrics, logger, keys };
  }

  status(): readonly AccountDetails[] {
    const { redactor } = this.#context.platform;
    return this.#all().map(({ poller }) => redactedAccount(poller.judge.status(), redactor));
  }

  /** All polled applications of all accounts. */
  applications(): readonly ApplicationStatus[] {
    const { redactor } = this.#context.platform;
    const all = this.#all().flatMap(({ poller }) => poller.applications());
    return all.map((one) => redactedPoll(one, redactor));
  }

  /** Why polling stands still through a fault of the program; `undefined` while it does not. */
  stalled(): string | undefined {
    const reasons = this.#all().map(({ poller }) => poller.stalled());
    return reasons.find((reason) => reason !== undefined);
  }

  /**
   * Puts another configuration into force, or changes nothing and rejects with a `CommandError`.
   * Accounts at the same place keep their budget, and what is still wanted of their values and their polls
   * under way. Calls must not overlap. Also rejects once `run` or `close` has ended the daemon.
   */
  async apply(config: Config): Promise<void> {
    // Everything that can fail comes first, then everything that changes something.
    const steps = await this.#stepsTo(withShard(config, this.shard));
    const staying = new Set(steps.map(({ running }) => running));
    const outgoing = this.#all().filter((account) => !staying.has(account));
    // Two pollers of one account would publish the values of both.
    await Promise.all(outgoing.map(async (account) => account.stop()));
    if (this.#isOver) {
      await closeOpened(steps);
      throw new CommandError(1, 'the exporter is stopping: another configuration comes too late');
    }
    this.#take(steps, outgoing);
    const closing = Promise.all(outgoing.map(async (account) => account.close()));
    for (const step of steps) {
      await step.running?.poller.reconfigure(step.prepared, step.isSourceChanged);
    }
    await closing;
    this.config = config;
  }

  /** Polls until the signal is aborted; rejects only if the program itself is at fault. */
  async run(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    try {
      await new Promise<void>((resolve, reject) => {
        this.#fail = reject;
        signal.addEventListener('abort', () => resolve(), { once: true });
        if (signal.aborted) resolve();
        else for (const account of this.#all()) account.start(reject);
        this.log.watch(() => this.#problems(), over.signal).catch(reject);
      });
    } finally {
      this.#fail = undefined;
      over.abort();
      await this.close();
    }
  }

  #problems(): readonly Problem[] {
    const known = { reload: this.#reload?.(), problemsSinceMs: this.log.sinceMs() };
    return problemsOfProcess({ ...known, shard: this.shard }, this.status());
  }

  /** Polls everything once. False if anything that was asked for did not arrive. */
  async runOnce(signal: AbortSignal): Promise<boolean> {
    setMaxListeners(0, signal);
    const results = await Promise.all(
      this.#all().map(async ({ poller }) => poller.runOnce(signal)),
    );
    this.log.tell(this.#problems(), true);
    return results.every((succeeded) => succeeded);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#all().map(async (account) => account.close()));
  }

  #all(): readonly Account[] {
    return [...this.#accounts.values()];
  }

  /** Reads keys and files, and opens the new connections; none of them is used yet. */
  async #stepsTo(config: Config): Promise<readonly Step[]> {
    const { nextTurn } = this.#context.platform;
    const all = await pLimit(readsAtOnce).map(accountsInUse(config), async (inUse) =>
      prepareAccount(inUse, this.#context, this.#accounts.get(inUse.account.name)?.prepared),
    );
    const steps: Step[] = [];
    try {
      for (const prepared of all) {
        const step = await this.#stepTo(prepared);
        steps.push(step);
        // A CA bundle takes tens of milliseconds: one account in each turn.
        if (step.raw !== undefined) await nextTurn();
      }
    } catch (error) {
      await closeOpened(steps);
      throw error;
    }
    return steps;
  }

  /** The only place where an account is compared with the active one of its name. */
  async #stepTo(prepared: PreparedAccount): Promise<Step> {
    const { account, wire, keyProvider } = prepared;
    const open = async (): Promise<RawTransport> => this.#context.platform.openTransport(wire);
    const running = this.#accounts.get(account.name);
    const before = running?.prepared;
    const isSamePlace =
      before?.account.baseUrl === account.baseUrl && quotaOf(before.account) === quotaOf(account);
    if (running === undefined || before === undefined || !isSamePlace) {
      return { prepared, running: undefined, raw: await open() };
    }
    const raw = isDeepStrictEqual(before.wire, wire) ? undefined : await open();
    const isSourceChanged =
      raw !== undefined ||
      before.keyProvider.current() !== keyProvider.current() ||
      before.account.apiKeyHeader !== account.apiKeyHeader;
    return { prepared, running, raw, isSourceChanged };
  }

  /**
   * Puts all steps into force in one turn, so that no key ever has a larger limit than before or after:
   * accounts join their keys before others leave them, and the smallest limits come first. The applications
   * have yet to follow.
   */
  #take(steps: readonly Step[], outgoing: readonly Account[]): void {
    const { sink, metrics } = this.#context;
    const staying = new Set(steps.map(({ prepared }) => prepared.account.name));
    // A stopped account disappears at once, with all its series.
    for (const { name } of outgoing) {
      sink.removeAccount(name);
      if (!staying.has(name)) metrics.removeAccount(name);
    }
    const taken = steps.map((step) =>
      step.running === undefined
        ? new Account(step.prepared, step.raw, this.#context)
        : step.running,
    );
    this.#accounts = new Map(taken.map((account) => [account.name, account]));
    const smallestFirst = steps.toSorted((left, right) => limitOf(left) - limitOf(right));
    for (const { running, prepared, raw } of smallestFirst) running?.update(prepared, raw);
    if (this.#fail !== undefined) for (const account of taken) account.start(this.#fail);
  }
}

function limitOf({ prepared }: Step): number {
  return prepared.account.requestsPerMinute;
}

async function closeOpened(steps: readonly Step[]): Promise<void> {
  await Promise.all(steps.map(async ({ raw }) => raw?.close()));
}
