import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import { effectiveConfigText } from '../config/effective-config.ts';
import { SeriesStore } from '../exposition/series-store.ts';
import type { Config } from '../model/config.ts';
import type { Shard } from '../model/shard.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type {
  AccountDetails,
  ApplicationStatus,
  PolledStatus,
  ReloadStatus,
  StatusSource,
} from '../model/status.ts';
import type { Logger } from '../model/telemetry.ts';
import { Keys } from '../newrelic/calls/keys.ts';
import type { RawTransport } from '../newrelic/calls/transport.ts';
import type { Redactor } from '../telemetry/redactor.ts';
import { createSelfMetrics, type SelfMetrics } from '../telemetry/self-metrics.ts';
import {
  Account,
  type AccountChange,
  type AccountContext,
  accountsInUse,
  changeTo,
  type PreparedAccount,
  prepareAccount,
} from './account.ts';
import { buildOf } from './build.ts';
import { type AccountPlatform, CommandError } from './platform.ts';
import { withShard } from './sharding.ts';

export interface DaemonContext {
  readonly platform: AccountPlatform;
  readonly logger: Logger;
  /** Which of the shards this process is; without it: the only one. */
  readonly shard?: Shard | undefined;
  /** Puts a sink in front of the store, which sees all that pollers publish. */
  readonly watch?: ((sink: SnapshotSink) => SnapshotSink) | undefined;
}

/** What becomes of an account of the next configuration; nothing of it is active yet. */
type Step = { readonly prepared: PreparedAccount; readonly change: AccountChange } & (
  | { readonly running: undefined; readonly raw: RawTransport }
  /** `raw`: the connections to use from now on; `undefined` for those that are there. */
  | { readonly running: Account; readonly raw: RawTransport | undefined }
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
 * polls nothing until `apply` puts a configuration into force. What it says of accounts and applications
 * holds no secret.
 */
export class Daemon {
  readonly store: SeriesStore;
  readonly metrics: SelfMetrics;
  readonly #context: AccountContext;
  readonly #shard: Shard;
  /** By name, in the order of the configuration. */
  #accounts: ReadonlyMap<string, Account> = new Map();
  /** The active configuration, without shards; `undefined` while there is none. */
  #config: Config | undefined;
  /** Present while `run` is under way: a poller that fails ends it with this. */
  #fail: ((error: unknown) => void) | undefined;
  #isOver = false;

  constructor({ platform, logger, shard = { ordinal: 0, total: 1 }, watch }: DaemonContext) {
    this.#shard = shard;
    this.store = new SeriesStore({ ...platform, logger });
    this.metrics = createSelfMetrics(buildOf(platform.env), {
      status: () => this.status(),
      seriesOf: (account) => this.store.seriesOf(account),
      droppedSeriesOf: (account, reason) => this.store.droppedOf(account, reason),
      nextTurn: platform.nextTurn,
    });
    const sink = watch === undefined ? this.store : watch(this.store);
    const keys = new Keys({ clock: platform.clock, logger });
    this.#context = { platform, sink, metrics: this.metrics, logger, keys };
  }

  status(): readonly AccountDetails[] {
    const { redactor } = this.#context.platform;
    return this.#all().map((account) => redactedAccount(account.status(), redactor));
  }

  /** All polled applications of all accounts. */
  applications(): readonly ApplicationStatus[] {
    const { redactor } = this.#context.platform;
    const all = this.#all().flatMap(({ poller }) => poller.applications());
    return all.map((one) => redactedPoll(one, redactor));
  }

  /** What is known of the running daemon, for people and programs. Its start is now. */
  statusSource(reload: () => ReloadStatus): StatusSource {
    const { clock, env, redactor } = this.#context.platform;
    const build = buildOf(env);
    const startedMs = clock.wallMs();
    let written: { readonly config: Config; readonly text: string } | undefined;
    return {
      process: () => {
        const { configFile, inForceSinceMs, lastAttemptMs, problem } = reload();
        const times = { inForceSinceMs, lastAttemptMs };
        const state = { configFile, ...times, problem: redacted(problem, redactor) };
        return { nowMs: clock.wallMs(), startedMs, build, shard: this.#shard, reload: state };
      },
      accounts: () => this.status(),
      applications: () => this.applications(),
      effectiveConfig: () => {
        const config = this.#config;
        if (config === undefined) return undefined;
        // Thousands of entries take a while, and they rarely change.
        if (written?.config !== config) written = { config, text: effectiveConfigText(config) };
        return redactor.redact(written.text);
      },
    };
  }

  /** Why polling stands still through a fault of the program; `undefined` while it does not. */
  stalled(): string | undefined {
    const reasons = this.#all().map(({ poller }) => poller.stalled());
    return reasons.find((reason) => reason !== undefined);
  }

  /**
   * Puts another configuration into force, or changes nothing and rejects with a `CommandError`.
   * Accounts that are the same in both go on undisturbed; changed ones keep their budget, their values
   * and their polls under way. Calls must not overlap. Also rejects once `run` or `close` has ended the
   * daemon.
   */
  async apply(config: Config): Promise<void> {
    // Everything that can fail comes first, then everything that changes something.
    const steps = await this.#stepsTo(withShard(config, this.#shard));
    const staying = new Set(steps.map(({ running }) => running));
    const outgoing = this.#all().filter((account) => !staying.has(account));
    // Two pollers of one account would publish the values of both.
    await Promise.all(outgoing.map(async (account) => account.stop()));
    if (this.#isOver) {
      await closeOpened(steps);
      throw new CommandError(1, 'the exporter is stopping: another configuration comes too late');
    }
    const updates = this.#take(steps, outgoing);
    const closing = Promise.all(outgoing.map(async (account) => account.close()));
    for (const { running, prepared, change } of updates) {
      await running?.poller.reconfigure(prepared, change !== 'settings');
    }
    await closing;
    this.#config = config;
  }

  /** Polls until the signal is aborted; rejects only if the program itself is at fault. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#fail = reject;
        signal.addEventListener('abort', () => resolve(), { once: true });
        if (signal.aborted) resolve();
        else for (const account of this.#all()) account.start(reject);
      });
    } finally {
      this.#fail = undefined;
      this.#isOver = true;
      await Promise.all(this.#all().map(async (account) => account.stop()));
      for (const account of this.#all()) account.leave();
    }
  }

  /** Polls everything once. False if anything that was asked for did not arrive. */
  async runOnce(signal: AbortSignal): Promise<boolean> {
    setMaxListeners(0, signal);
    const results = await Promise.all(
      this.#all().map(async ({ poller }) => poller.runOnce(signal)),
    );
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
        const isCostly = step.change !== 'none' && prepared.wire.ca !== undefined;
        if (isCostly && steps.length < all.length) await nextTurn();
      }
    } catch (error) {
      await closeOpened(steps);
      throw error;
    }
    return steps;
  }

  async #stepTo(prepared: PreparedAccount): Promise<Step> {
    const { openTransport } = this.#context.platform;
    const running = this.#accounts.get(prepared.account.name);
    const change = changeTo(prepared, running?.prepared);
    if (running === undefined || change === 'new') {
      return { prepared, change, running: undefined, raw: await openTransport(prepared.wire) };
    }
    const raw = change === 'connections' ? await openTransport(prepared.wire) : undefined;
    return { prepared, change, running, raw };
  }

  /**
   * Puts all steps into force in one turn, so that no key ever has a larger limit than before or after:
   * accounts join their keys before others leave them, and the smallest limits come first. Returns the
   * updates, since their applications have yet to follow.
   */
  #take(steps: readonly Step[], outgoing: readonly Account[]): readonly Step[] {
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
    const updates = steps
      .filter(({ running, change }) => running !== undefined && change !== 'none')
      .toSorted((left, right) => limitOf(left) - limitOf(right));
    for (const { running, prepared, raw } of updates) running?.update(prepared, raw);
    if (this.#fail !== undefined) for (const account of taken) account.start(this.#fail);
    return updates;
  }
}

function limitOf({ prepared }: Step): number {
  return prepared.account.requestsPerMinute;
}

async function closeOpened(steps: readonly Step[]): Promise<void> {
  await Promise.all(steps.map(async ({ raw }) => raw?.close()));
}

/** The vendor's words in an error may hold a key: pages are redacted as the log is. */
function redacted(text: string | undefined, redactor: Redactor): string | undefined {
  return text === undefined ? undefined : redactor.redact(text);
}

function redactedAccount(
  { error, key, queries, ...rest }: AccountDetails,
  redactor: Redactor,
): AccountDetails {
  return {
    ...rest,
    error: redacted(error, redactor),
    ...(queries && { queries: queries.map((query) => redactedPoll(query, redactor)) }),
    key: { ...key, problem: redacted(key.problem, redactor) },
  };
}

function redactedPoll<One extends PolledStatus>(one: One, redactor: Redactor): One {
  if (one.failure === undefined) return one;
  const { message, ...rest } = one.failure;
  const failure = {
    ...rest,
    // Only once it is read: a page shows 200 of ten thousand.
    get message() {
      return redactor.redact(message);
    },
  };
  return { ...one, failure };
}
