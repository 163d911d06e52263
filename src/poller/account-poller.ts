import type { Clock } from '../model/clock.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountStatus, Logger, PollObserver } from '../model/telemetry.ts';
import type { AccountPlan } from './account-plan.ts';
import { createAccountPlanner } from './account-planner.ts';
import { accountStatusOf, type Traffic } from './account-status.ts';
import { AccountTable, type AccountTableOptions } from './account-table.ts';
import { type CallScheduler, createCallScheduler } from './call-scheduler.ts';
import { discoveryIntervalOf } from './demand.ts';
import {
  createDiscoveryLoop,
  type DiscoveryLoop,
  type DiscoveryLoopOptions,
} from './discovery-loop.ts';
import type { JobQueueLimits } from './job-queue.ts';
import { createPollLog, type PollLog } from './poll-log.ts';
import { createPollLoop, type PollLoop } from './poll-loop.ts';

export interface AccountPollerOptions {
  readonly account: AccountConfig;
  /** The entries of `apps` that belong to this account; not empty. */
  readonly entries: readonly AppEntry[];
}

export interface AccountPollerDependencies extends Traffic {
  readonly source: Source;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sink: SnapshotSink;
  readonly observer: PollObserver;
  readonly logger: Logger;
  /** The calls that may be sent in any 60 seconds, as of now. Without it: as configured. */
  readonly limitPerMinute?: (() => number) | undefined;
  /** Told what the account needs, whenever that changes. */
  readonly planned?: ((plan: AccountPlan) => void) | undefined;
  /** Requests that were sent again because the first one failed, since the start. */
  readonly retries?: (() => number) | undefined;
  /** Wall time at the vendor, where windows are cut. Without it: that of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
}

/** Keeps one account's values fresh. */
export interface AccountPoller {
  /** Discovers and polls until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** One discovery and one poll of every application; whether all that was asked for arrived. */
  runOnce(signal: AbortSignal): Promise<boolean>;
  status(): AccountStatus;
  readonly plan: AccountPlan;
  /** To be called when `limitPerMinute` gives another number than before: the intervals follow. */
  limitChanged(): void;
  /**
   * Follows other settings from now on. Values stay, and so do polls under way, unless what they ask
   * for is not wanted any more. The name of the account stays the same. Calls must not overlap.
   */
  reconfigure(options: AccountPollerOptions): Promise<void>;
  /** Why polling has come to a halt that only a fault of our own explains; `undefined` if it has not. */
  stalled(): string | undefined;
}

/** Far longer than any deadline that the loops keep by themselves. */
const stalledAfterMs = 5 * 60_000;

export function createAccountPoller(
  options: AccountPollerOptions,
  dependencies: AccountPollerDependencies,
): AccountPoller {
  return new LoopingPoller(options, dependencies);
}

/** One loop that discovers and one that polls, over the same table. */
class LoopingPoller implements AccountPoller {
  readonly #dependencies: AccountPollerDependencies;
  #account: AccountConfig;
  readonly #scheduler: CallScheduler;
  readonly #log: PollLog;
  readonly #table: AccountTable;
  readonly #discoveries: DiscoveryLoop;
  readonly #polls: PollLoop;
  readonly #startMs: number;
  #isRunning = false;
  readonly #stopping = new AbortController();

  constructor(options: AccountPollerOptions, dependencies: AccountPollerDependencies) {
    this.#dependencies = dependencies;
    this.#account = options.account;
    this.#startMs = dependencies.clock.monotonicMs();
    this.#scheduler = createCallScheduler(this.#limits(), dependencies);
    this.#log = createPollLog(options.account.name, dependencies);
    this.#table = this.#createTable(options);
    this.#discoveries = createDiscoveryLoop(discoveryOptionsOf(options), {
      ...dependencies,
      table: this.#table,
      ended: (removedIds) => {
        this.#polls.abort(removedIds);
        this.#wake();
      },
    });
    this.#polls = createPollLoop(this.#table, {
      ...dependencies,
      scheduler: this.#scheduler,
      unauthorized: () => {
        this.#discoveries.soon();
      },
    });
  }

  get plan(): AccountPlan {
    return this.#table.plan;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true;
    try {
      await this.#discoveries.run(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#stop();
    }
  }

  async runOnce(signal: AbortSignal): Promise<boolean> {
    const onAbort = (): void => {
      this.#stop();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const isComplete = await this.#discoveries.discover(signal);
      const isWhole = await this.#polls.pollAll(signal);
      return isComplete && isWhole && this.#table.discovery.missing.length === 0;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#stop();
    }
  }

  status(): AccountStatus {
    const runningMs = this.#dependencies.clock.monotonicMs() - this.#startMs;
    return accountStatusOf(this.#account, this.#table, this.#dependencies, runningMs);
  }

  limitChanged(): void {
    this.#scheduler.resize(this.#limits());
    this.#table.replan();
    this.#wake();
  }

  async reconfigure(next: AccountPollerOptions): Promise<void> {
    const { signal } = this.#stopping;
    this.#account = next.account;
    this.#scheduler.resize(this.#limits());
    // First, so that no discovery with the old settings comes between.
    this.#discoveries.restart(discoveryOptionsOf(next));
    try {
      this.#polls.abort(await this.#table.reconfigure(tableOptionsOf(next), signal));
      this.#wake();
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  stalled(): string | undefined {
    if (!this.#isRunning) return undefined;
    const nowMs = this.#dependencies.clock.monotonicMs();
    const late = [
      ['a poll has been due', this.#polls.dueSinceMs()],
      ['a discovery has been late', this.#discoveries.lateSinceMs()],
    ] as const;
    for (const [what, sinceMs] of late) {
      if (sinceMs === undefined || nowMs - sinceMs < stalledAfterMs) continue;
      const seconds = Math.round((nowMs - sinceMs) / 1000);
      return `account ${this.#account.name}: ${what} for ${seconds} s`;
    }
    return undefined;
  }

  #createTable(options: AccountPollerOptions): AccountTable {
    const { clock, retries = () => 0, planned } = this.#dependencies;
    const planner = createAccountPlanner(tableOptionsOf(options), {
      clock,
      capacity: () => ({
        limitPerMinute: this.#limits().requestsPerMinute,
        carriedPerMinute: this.#scheduler.carriedPerMinute(),
      }),
      retries,
      planned,
    });
    const dependencies = { ...this.#dependencies, log: this.#log, planner };
    return new AccountTable(tableOptionsOf(options), dependencies);
  }

  #limits(): JobQueueLimits {
    const { requestsPerMinute, concurrency } = this.#account;
    const { limitPerMinute } = this.#dependencies;
    return { requestsPerMinute: limitPerMinute?.() ?? requestsPerMinute, concurrency };
  }

  #wake(): void {
    if (this.#isRunning) this.#polls.wake();
  }

  #stop(): void {
    this.#isRunning = false;
    this.#stopping.abort(new Error('the account is stopped'));
    this.#polls.stop();
    this.#table.stop();
    this.#log.stop();
  }
}

function tableOptionsOf({ account, entries }: AccountPollerOptions): AccountTableOptions {
  return {
    account,
    entries,
    discoveryIntervalMs: discoveryIntervalOf(entries.map(({ poll }) => poll)),
  };
}

function discoveryOptionsOf({ entries }: AccountPollerOptions): DiscoveryLoopOptions {
  return {
    selectors: entries.map(({ selector }) => selector),
    intervalMs: discoveryIntervalOf(entries.map(({ poll }) => poll)),
  };
}
