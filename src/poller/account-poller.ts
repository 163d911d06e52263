import type { Clock } from '../model/clock.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountStatus, Logger, PollObserver } from '../model/telemetry.ts';
import type { AccountPlan } from './account-plan.ts';
import { createAccountPlanner } from './account-planner.ts';
import { accountStatusOf, type Traffic } from './account-status.ts';
import { AccountTable, type AccountTableOptions } from './account-table.ts';
import { createCallScheduler } from './call-scheduler.ts';
import { discoveryIntervalOf } from './demand.ts';
import { createDiscoveryLoop, type DiscoveryLoopOptions } from './discovery-loop.ts';
import { createPollLog } from './poll-log.ts';
import { createPollLoop } from './poll-loop.ts';

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
   * for is not wanted any more. The name of the account stays the same.
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
  const { clock } = dependencies;
  let { account } = options;
  const limitPerMinute = dependencies.limitPerMinute ?? (() => account.requestsPerMinute);
  const limits = (): { requestsPerMinute: number; concurrency: number } => ({
    requestsPerMinute: limitPerMinute(),
    concurrency: account.concurrency,
  });
  const log = createPollLog(account.name, dependencies);
  const scheduler = createCallScheduler(limits(), { clock });
  const planner = createAccountPlanner(tableOptionsOf(options), {
    clock,
    capacity: () => ({
      limitPerMinute: limitPerMinute(),
      carriedPerMinute: scheduler.carriedPerMinute(),
    }),
    retries: dependencies.retries ?? (() => 0),
    planned: dependencies.planned,
  });
  const table = new AccountTable(tableOptionsOf(options), { ...dependencies, log, planner });
  const startMs = clock.monotonicMs();
  const discoveries = createDiscoveryLoop(discoveryOptionsOf(options), {
    ...dependencies,
    table,
    ended: (removedIds) => {
      polls.abort(removedIds);
      if (isRunning) polls.wake();
    },
  });
  const polls = createPollLoop(table, {
    ...dependencies,
    scheduler,
    unauthorized: discoveries.soon,
  });
  let isRunning = false;
  const stopping = new AbortController();

  const stop = (): void => {
    isRunning = false;
    stopping.abort(new Error('the account is stopped'));
    polls.stop();
    table.stop();
    log.stop();
  };

  /** Polls end with the signal too, and not after the discovery: it may wait for their calls to end. */
  const untilStopped = async <Value>(
    signal: AbortSignal,
    run: () => Promise<Value>,
  ): Promise<Value> => {
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await run();
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  };

  return {
    run: async (signal) => {
      isRunning = true;
      try {
        await untilStopped(signal, async () => discoveries.run(signal));
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    runOnce: async (signal) =>
      untilStopped(signal, async () => {
        const isComplete = await discoveries.discover(signal);
        const isWhole = await polls.pollAll(signal);
        return isComplete && isWhole && table.discovery.missing.length === 0;
      }),
    status: () => accountStatusOf(account, table, dependencies, clock.monotonicMs() - startMs),
    get plan() {
      return table.plan;
    },
    limitChanged: () => {
      scheduler.resize(limits());
      table.replan();
    },
    reconfigure: async (next) => {
      account = next.account;
      scheduler.resize(limits());
      // First, so that no discovery with the old settings comes between.
      discoveries.restart(discoveryOptionsOf(next));
      try {
        polls.abort(await table.reconfigure(tableOptionsOf(next), stopping.signal));
        if (isRunning) polls.wake();
      } catch (error) {
        if (!stopping.signal.aborted) throw error;
      }
    },
    stalled: () => {
      if (!isRunning) return undefined;
      const nowMs = clock.monotonicMs();
      const late = [
        ['a poll has been due', polls.dueSinceMs()],
        ['a discovery has been late', discoveries.lateSinceMs()],
      ] as const;
      for (const [what, sinceMs] of late) {
        if (sinceMs === undefined || nowMs - sinceMs < stalledAfterMs) continue;
        const seconds = Math.round((nowMs - sinceMs) / 1000);
        return `account ${account.name}: ${what} for ${seconds} s`;
      }
      return undefined;
    },
  };
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
